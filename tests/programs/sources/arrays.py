"""Shapes and data movement, contractions, reductions and windows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .registry import boolean, f32, i32, program, typed

Tree = Any


@program(f32(3, 4), f32(2, 4))
def shape_ops(x: Array, y: Array) -> Tree:
    return (
        jnp.concatenate([x, y, x[:0]], axis=0),
        jnp.stack([x, x * 2], axis=1),
        x.reshape(2, 3, 2).transpose(2, 0, 1),
        jnp.broadcast_to(x[:, None], (3, 5, 4)),
        jnp.flip(x, (0, 1)),
        jnp.roll(x, (1, -2), (0, 1)),
        jnp.tile(x, (2, 3)),
        jnp.repeat(x, jnp.array([1, 0, 2]), axis=0, total_repeat_length=3),
        x[::2, 1::2],
        x[::-1, -1],
        jnp.squeeze(x[:1], 0),
        jnp.kron(x[:2, :2], y),
    )


@program(f32(4, 5), f32())
def pads(x: Array, value: Array) -> Tree:
    gradient = jax.grad(lambda x: jnp.sum(lax.pad(x, 0.0, ((1, 2, 1), (-1, 0, 2))) ** 2))(x)
    return (
        lax.pad(x, value, ((1, 2, 0), (0, 3, 1))),
        lax.pad(x, value, ((-1, 1, 2), (2, -3, 0))),
        jnp.pad(x, 2, mode="reflect"),
        jnp.pad(x, ((0, 1), (2, 0)), mode="edge"),
        jnp.pad(x, 1, mode="wrap"),
        gradient,
    )


@program(i32(6, high=5), boolean(3, 4), f32(3, 4))
def iota_and_select(labels: Array, flags: Array, x: Array) -> Tree:
    return (
        jax.nn.one_hot(labels, 5, dtype=jnp.int32),
        jnp.where(flags, x, 0.5),
        jnp.select([x > 0.5, x > 0.0], [x, -x], 9.0),
        jnp.clip(x, -0.3, 0.4),
        lax.clamp(jnp.float32(-0.1), x, jnp.float32(0.1)),
        lax.select_n(labels[:4] % 3, x[0], x[1], x[2]),
        jnp.eye(3, 4, k=1),
        jnp.tri(4, dtype=bool),
        jnp.triu(x, 1),
        lax.broadcasted_iota(jnp.uint8, (2, 3), 1),
        jnp.linspace(0.0, 1.0, 5) + jnp.arange(5.0),
        jnp.meshgrid(jnp.arange(2), jnp.arange(3)),
        jnp.diag(x[0]),
        jnp.trace(x),
    )


@program(f32(2, 3, 4), f32(2, 4, 5), f32(3, 4), f32(4))
def einsums(a: Array, b: Array, c: Array, d: Array) -> Tree:
    return (
        jnp.einsum("bij,bjk->bik", a, b),
        jnp.einsum("bij,bjk->kbi", a, b),
        jnp.einsum("bij,ij->b", a, c),
        jnp.einsum("ij,j->i", c, d),
        jnp.einsum("i,j->ij", d, d),
        jnp.einsum("bij->jbi", a),
        jnp.einsum("bij,bik,j->ijk", a, a, d),
        jnp.einsum("ii->i", c[:, :3]),
        jnp.tensordot(a, c, axes=((1, 2), (0, 1))),
        jnp.vdot(d, d),
        jnp.matmul(a, d),
    )


@program(f32(2, 3, 4), f32(4, 2, 5), f32(3, 4), f32(5, 4))
def dot_general_grad(a: Array, b: Array, c: Array, d: Array) -> Tree:
    def loss(a: Array, b: Array, c: Array) -> Array:
        x = lax.dot_general(a, b, (((2,), (0,)), ((0,), (1,))), precision=lax.Precision.HIGHEST)
        return jnp.sum(jnp.sin(x)) + jnp.sum((c @ d.T) ** 2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(a, b, c)


@program(
    typed("int8", 3, 4, low=-128, high=128),
    typed("int8", 4, 5, low=-128, high=128),
    typed("bfloat16", 3, 4),
    typed("bfloat16", 4, 5),
    typed("int32", 4, 4, low=-99, high=99),
    boolean(3, 4),
    rtol=1e-2,
    atol=1e-2,
)
def dot_types(a: Array, b: Array, c: Array, d: Array, e: Array, f: Array) -> Tree:
    return (
        lax.dot(a, b, preferred_element_type=jnp.int32),
        lax.dot(c, d, preferred_element_type=jnp.float32),
        c @ d,
        e @ e,
        f.astype(jnp.float32) @ f.T.astype(jnp.float32),
    )


@program(f32(4, 5, 3), i32(4, 5, low=-9, high=9), boolean(4, 5))
def reductions(x: Array, n: Array, flags: Array) -> Tree:
    return (
        jnp.sum(x),
        jnp.sum(x, axis=(0, 2)),
        jnp.prod(x, axis=1),
        jnp.max(x, axis=(1, 2)),
        jnp.min(x, axis=0, keepdims=True),
        jnp.mean(x, axis=2),
        jnp.std(x, axis=1),
        jnp.any(flags & (n > 3), axis=0),
        jnp.all(flags | (n < 4), axis=1),
        jnp.sum(flags, axis=1),
        jnp.argmax(x, axis=1),
        jnp.argmin(n, axis=0),
        jnp.argmax(flags),
        jnp.bitwise_xor.reduce(n, axis=1),
        jnp.sum(n),
        jnp.max(n, axis=1),
        jnp.linalg.norm(x, axis=2),
        lax.reduce((x, jnp.abs(x)), (0.0, 1.0), lambda p, q: (p[0] + q[0], p[1] * q[1]), (0, 2)),
    )


@program(f32(3, 6), f32(3, 6, low=0.5, high=1.5), i32(3, 6, high=9))
def cumulatives(x: Array, positive: Array, n: Array) -> Tree:
    return (
        jnp.cumsum(x, axis=1),
        jnp.cumsum(x, axis=0),
        jnp.cumprod(positive, axis=1),
        lax.cummax(x, axis=1),
        lax.cummin(x, axis=0, reverse=True),
        lax.cumlogsumexp(x, axis=1),
        jnp.cumsum(n, axis=1),
        jax.grad(lambda x: jnp.sum(jnp.cumsum(x, axis=1) ** 2))(x),
        jnp.diff(x, axis=1),
    )


@program(f32(2, 8, 8, 3), f32(2, 9, 4), f32(2, 4, 4, 3), atol=1e-4)
def pooling_grad(x: Array, sequence: Array, cotangent: Array) -> Tree:
    def largest(x: Array) -> Array:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")

    def average(x: Array) -> Array:
        total = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return total / 4.0

    y, pull = jax.vjp(largest, x)
    z, pull_average = jax.vjp(average, x)
    dilated = lax.reduce_window(
        sequence, 0.0, lax.add, (1, 3, 1), (1, 1, 1), ((0, 0), (2, 1), (0, 0)), (1, 2, 1), (1, 2, 1)
    )
    smallest = lax.reduce_window(sequence, jnp.inf, lax.min, (1, 2, 2), (1, 1, 1), "SAME")
    return y, pull(cotangent), z, pull_average(cotangent), dilated, smallest


@program(f32(16), f32(5), f32(6, 7), f32(3, 3))
def signal(x: Array, kernel: Array, image: Array, filter2d: Array) -> Tree:
    return (
        jnp.convolve(x, kernel),
        jnp.convolve(x, kernel, mode="same"),
        jnp.correlate(x, kernel, mode="valid"),
        jax.scipy.signal.convolve2d(image, filter2d),
        jnp.interp(jnp.linspace(0.0, 15.0, 9), jnp.arange(16.0), x),
        jnp.polyval(kernel, x),
        jax.image.resize(image, (4, 9), "linear"),
    )


@program(f32(0, 4), f32(3, 0), i32(1, 1), f32())
def empty_and_scalar(rows: Array, columns: Array, one: Array, scalar: Array) -> Tree:
    return (
        jnp.sum(rows, axis=0),
        jnp.sum(columns),
        rows * 2,
        columns @ rows,
        jnp.concatenate([rows, jnp.ones((2, 4))]),
        one[0, 0] + 1,
        scalar * 2,
        jnp.max(columns, axis=1, initial=-3.0),
        jnp.sort(rows, axis=0),
    )


@program(f32(3, 4), f32(3, 4))
def barrier_and_duplicates(x: Array, y: Array) -> Tree:
    """One value returned twice, a parameter returned as it is, a constant result, and an optimization barrier."""
    a, b = lax.optimization_barrier((x + y, x * y))
    inner = jax.jit(lambda x: jnp.tanh(x) + 1)
    return a, a, x, jnp.full((2,), 3, jnp.int32), b, inner(x), inner(y), inner(inner(x))
