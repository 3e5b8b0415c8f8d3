"""Control flow: while, cond, switch, scan, and their transformations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .registry import boolean, f32, i32, program, typed

Tree = Any


@program(i32(low=1, high=40), frames=4)
def while_collatz(n: Array) -> Tree:
    def body(state: tuple[Array, Array]) -> tuple[Array, Array]:
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return lax.while_loop(lambda state: state[0] > 1, body, (n, jnp.int32(0)))


@program(i32(6, low=1, high=100), i32(6, low=1, high=100))
def while_vmapped_gcd(a: Array, b: Array) -> Array:
    def gcd(a: Array, b: Array) -> Array:
        return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]

    return jax.vmap(gcd)(a, b)


@program(boolean(), f32(4), f32(4))
def cond_grad(flag: Array, x: Array, y: Array) -> Tree:
    def loss(x: Array, y: Array) -> Array:
        def choose(flag: Array) -> Array:
            return lax.cond(flag, lambda x, y: jnp.sin(x) * y, lambda x, y: x**3 + y**2, x, y)

        return jnp.sum(choose(flag) + 2 * choose(~flag))

    return jax.value_and_grad(loss, argnums=(0, 1))(x, y)


@program(i32(low=-2, high=6), f32(3, 3))
def switch(index: Array, x: Array) -> Tree:
    branches = [lambda x: x.T, lambda x: x @ x, lambda x: jnp.zeros_like(x), lambda x: jnp.cumsum(x, axis=0)]
    return lax.switch(index, branches, x), jax.vmap(lambda i, r: lax.switch(i, [jnp.sin, jnp.cos], r))(
        jnp.arange(3) % 2, x
    )


@program(f32(5, 5), i32(low=3, high=8))
def fori_power_iteration(a: Array, count: Array) -> Tree:
    def body(_: Array, v: Array) -> Array:
        w = a @ v
        return w / jnp.linalg.norm(w)

    v = lax.fori_loop(0, count, body, jnp.ones(5))
    return v, v @ a @ v


@program(f32(4, 4), f32(4))
def nested_loops(a: Array, b: Array) -> Array:
    """Gauss-Seidel: a scan of rows within a bounded loop, updated in place."""

    def sweep(_: Array, x: Array) -> Array:
        def row(i: Array, x: Array) -> Array:
            matrix = a + 6 * jnp.eye(4)
            return x.at[i].set((b[i] - matrix[i] @ x + matrix[i, i] * x[i]) / matrix[i, i])

        return lax.fori_loop(0, 4, row, x)

    return lax.fori_loop(0, 5, sweep, jnp.zeros(4))


@program(f32(7, 3), f32(3))
def scan_forms(xs: Array, carry: Array) -> Tree:
    def body(carry: Tree, x: Array) -> Tree:
        total, count = carry
        total = total * 0.5 + x
        return (total, count + 1), {"max": jnp.max(total), "row": total, "count": count}

    forward = lax.scan(body, (carry, jnp.int32(0)), xs)
    backward = lax.scan(body, (carry, jnp.int32(0)), xs, reverse=True)
    unrolled = lax.scan(body, (carry, jnp.int32(0)), xs, unroll=3)
    return forward, backward, unrolled


@program(f32(9, 4, low=0.5, high=1.5), f32(9, 4))
def associative_scan(decay: Array, x: Array) -> Tree:
    def combine(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
        return a[0] * b[0], a[1] * b[0] + b[1]

    recurrence = lax.associative_scan(combine, (decay, x))
    return recurrence, lax.associative_scan(jnp.maximum, x, reverse=True, axis=1)


@program(f32(6, low=0.5, high=9), f32(6, 2))
def newton_and_map(x: Array, rows: Array) -> Tree:
    def root(x: Array) -> Array:
        def body(state: tuple[Array, Array]) -> tuple[Array, Array]:
            return state[1], 0.5 * (state[1] + x / state[1])

        return lax.while_loop(lambda s: jnp.abs(s[0] - s[1]) > 1e-6 * s[1], body, (x * 2, x))[1]

    return jax.vmap(root)(x), lax.map(lambda r: jnp.outer(r, r), rows), lax.map(jnp.sum, rows, batch_size=4)


@program(typed("float64", 3, low=0.1, high=1.0), x64=True, rtol=1e-12, atol=1e-12)
def runge_kutta(state: Array) -> Array:
    """Lotka-Volterra in float64, with an int64 counter."""

    def rate(s: Array) -> Array:
        x, y, z = s
        return jnp.stack([x - x * y, x * y - y, jnp.sin(z)])

    def body(i: Array, s: Array) -> Array:
        h = 0.05 + 0.001 * i
        k1 = rate(s)
        k2 = rate(s + h / 2 * k1)
        k3 = rate(s + h / 2 * k2)
        return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(s + h * k3))

    return lax.fori_loop(0, 50, body, state)


@program(f32(3, 5), i32(3, high=5))
def carried_predicates(x: Array, stop: Array) -> Tree:
    """A loop that carries booleans and integers of several widths, and a cond within it."""

    def body(state: Tree) -> Tree:
        i, done, total = state
        total = lax.cond(jnp.any(done), lambda t: t * 2, lambda t: t + jnp.sum(x, axis=1), total)
        return i + jnp.uint8(1), done | (i.astype(jnp.int32) >= stop), total

    state = (jnp.uint8(0), jnp.zeros(3, bool), jnp.zeros(3))
    return lax.while_loop(lambda s: ~jnp.all(s[1]), body, state)
