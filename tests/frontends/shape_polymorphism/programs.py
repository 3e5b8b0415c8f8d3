"""The functions by name, with their symbolic shapes and the sizes to run them with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

Sizes = dict[str, int]


@dataclasses.dataclass(frozen=True)
class Program:
    """A function with its symbolic shapes ("b, 2*k+1") and the values of the symbols to run it with.

    `roundings` is how many roundings of its largest intermediate a floating-point result may be away from JAX's: none
    where values only move, a few where sums of some terms are in another order or a function is not correctly rounded,
    more where intermediates cancel.
    """

    name: str
    function: Callable[..., Any]
    shapes: tuple[str, ...]
    sizes: tuple[Sizes, ...]
    dtypes: tuple[type, ...]
    constraints: tuple[str, ...]
    roundings: float

    def __str__(self) -> str:
        return self.name

    def arguments(self, sizes: Sizes) -> list[np.ndarray]:
        """Seeded arrays: floats normal, integers 0 to 2."""
        random = np.random.default_rng(7)
        arrays = []
        for text, dtype in zip(self.shapes, self.dtypes, strict=True):
            shape = tuple(eval(size, {}, sizes) for size in text.split(",")) if text else ()
            made = random.integers(0, 3, shape) if dtype is np.int32 else random.normal(size=shape)
            arrays.append(np.asarray(made, dtype))
        return arrays


PROGRAMS: list[Program] = []


def program(
    *shapes: str,
    sizes: tuple[Sizes, ...],
    dtypes: tuple[type, ...] | None = None,
    constraints: tuple[str, ...] = (),
    roundings: float = 4,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        types = dtypes or (np.float32,) * len(shapes)
        PROGRAMS.append(Program(function.__name__, function, shapes, sizes, types, constraints, roundings))
        return function

    return register


BN = ({"b": 1, "n": 5}, {"b": 4, "n": 3})


@program("b, 4", "4, k", sizes=({"b": 1, "k": 1}, {"b": 3, "k": 5}))
def matmul(x, w):
    return jnp.tanh(x @ w)


@program(*["b, s, 4, 8"] * 3, sizes=({"b": 2, "s": 3}, {"b": 1, "s": 7}), roundings=8)
def causal_attention(q, k, v):
    length = q.shape[1]
    logits = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(8)
    mask = jnp.tril(jnp.ones((length, length), bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, logits, -1e9), -1), v)


@program("b, h, w, 3", "3, 3, 3, 4", sizes=({"b": 1, "h": 5, "w": 6}, {"b": 2, "h": 8, "w": 7}), roundings=27)
def convolution(x, kernel):
    y = lax.conv_general_dilated(x, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y, lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")


@program("b, 6", sizes=({"b": 1}, {"b": 4}), roundings=0)
def reshape(x):
    return x.reshape(-1, 3, 2).transpose(1, 0, 2).reshape(-1), x.reshape(x.shape[0] * 6), jnp.expand_dims(x, 1)


@program("b", sizes=({"b": 1}, {"b": 7}), roundings=0)
def arange(x):
    return jnp.arange(x.shape[0]) + x, jnp.eye(x.shape[0]), jnp.arange(0, 2 * x.shape[0], 2), jnp.full(x.shape, 3.0)


@program("b, 2", "c, 2", sizes=({"b": 1, "c": 2}, {"b": 5, "c": 3}), roundings=0)
def concatenate(x, y):
    return jnp.concatenate([x, y, x]), jnp.stack([x, x], 1), jnp.tile(x, (2, 1)), jnp.repeat(x, 3, axis=0)


@program("b, 3", sizes=({"b": 2}, {"b": 8}))
def cumulative(x):
    return jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 0), lax.cumlogsumexp(x, 0)


@program("b, 3", sizes=({"b": 2}, {"b": 5}))
def associative_scan(x):
    return lax.associative_scan(jnp.add, x.reshape(3, -1), axis=0)


@program("b, 3", sizes=({"b": 1}, {"b": 6}))
def loops(x):
    weighted = lax.fori_loop(0, x.shape[0], lambda i, s: s + x[i] * i, jnp.zeros(3, np.float32))
    scanned = lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), jnp.zeros(3, np.float32), x)
    counted = lax.while_loop(lambda t: t[0] < x.shape[0], lambda t: (t[0] + 1, t[1] + x.sum()), (0, jnp.float32(0)))
    return weighted, scanned, counted


@program("b, n", sizes=BN, roundings=0)
def sorting(x):
    return jnp.sort(x), jnp.argsort(x, 0), jnp.sort(x, descending=True), jnp.argmax(x, -1)


@program("v, 3", "b", sizes=({"v": 4, "b": 2}, {"v": 9, "b": 6}), dtypes=(np.float32, np.int32), roundings=0)
def gathering(table, index):
    taken = jnp.take(table, index, axis=0), table[index, 1], table[-1], table[::2], table[1:]
    return taken, table.at[index].add(1.0), table.at[index].set(2.0)


@program("a, b, c", "c, b", sizes=({"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 3, "c": 2}))
def einsums(x, y):
    return jnp.einsum("abc,cb->ab", x, y), jnp.einsum("abc,cd->abd", x, y), jnp.einsum("abc->cba", x)


@program("b, d", "d", sizes=({"b": 2, "d": 3}, {"b": 5, "d": 8}), roundings=16)
def layer_norm_gradient(x, gain):
    def loss(x, gain):
        y = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain
        return (y**3).sum()

    return jax.value_and_grad(loss, (0, 1))(x, gain)


@program("b, n", sizes=BN, roundings=0)
def padding(x):
    inside = lax.pad(x, np.float32(7), ((1, -1, 2), (0, 0, 1)))
    return jnp.pad(x, ((1, 2), (0, 3))), inside, jnp.pad(x, ((0, x.shape[1]), (0, 0))), jnp.pad(x, 1, mode="edge")


@program("b, n", sizes=({"b": 4, "n": 3}, {"b": 5, "n": 8}), constraints=("b >= 4",), roundings=0)
def dynamic_slices(x):
    rows = x.shape[0]
    updated = lax.dynamic_update_slice(x, jnp.ones((2, 1), np.float32), (rows - 2, 0))
    return lax.dynamic_slice(x, (1, 0), (2, x.shape[1])), updated, x[1:-1], lax.dynamic_slice_in_dim(x, 1, rows - 2)


@program("b, 2*k+1", sizes=({"b": 1, "k": 1}, {"b": 2, "k": 3}))
def odd_sizes(x):
    half = (x.shape[1] - 1) // 2
    return x[:, :half] + x[:, half + 1 :], x.sum(0), x.shape[1] % 2 + x


@program("b, n", sizes=BN)
def vmapped(x):
    return jax.vmap(lambda row: jnp.dot(row, row) * jnp.ones_like(row))(x), jax.vmap(jnp.outer)(x, x)


@program("b, 4, 4", sizes=({"b": 1}, {"b": 3}), roundings=16)
def linear_algebra(a):
    positive = a @ jnp.swapaxes(a, -1, -2) + 4 * jnp.eye(4)
    return jnp.linalg.cholesky(positive), jnp.linalg.solve(positive, a)


@program("b, n", sizes=BN)
def random(x):
    key = jax.random.key(0)
    return jax.random.normal(key, x.shape), jax.random.bernoulli(key, 0.5, (x.shape[0],))


@program("b, 8", sizes=({"b": 4}, {"b": 5}))
def fourier(x):
    return jnp.abs(jnp.fft.rfft(x)), jnp.fft.fft(x)


@program("b, n", sizes=BN)
def branches(x):
    chosen = lax.switch(x.shape[0] % 3, [jnp.sin, jnp.cos, jnp.exp], x)
    return lax.cond(x.sum() > 0, lambda x: x * x.shape[0], lambda x: x - x.shape[1], x), chosen


@program("b, h, w, 1", sizes=({"b": 1, "h": 4, "w": 5}, {"b": 2, "h": 6, "w": 3}))
def image_resize(x):
    rows, height, width, _ = x.shape
    bigger = jax.image.resize(x, (rows, height * 2, width * 2, 1), "nearest")
    return bigger, jax.image.resize(x, (rows, height * 2, width, 1), "linear")


@program("b, n", sizes=BN)
def statistics(x):
    hot = jax.nn.one_hot(jnp.argmax(x, -1), x.shape[1])
    return jnp.linalg.norm(x), jax.nn.logsumexp(x, -1), jax.nn.gelu(x), x.std(0), hot


@program("b, 3", sizes=({"b": 1}, {"b": 4}))
def rematerialized_gradient(x):
    return jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(y).sum() ** 2)(x))(x)
