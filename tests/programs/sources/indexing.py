"""Gather, scatter, slices, sorting and their gradients."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .registry import boolean, f32, i32, program, typed

Tree = Any


@program(f32(6, 7, 4), i32(3, 2, high=6), i32(3, 2, high=7), i32(5, low=-9, high=9))
def gather_forms(x: Array, i: Array, j: Array, wild: Array) -> Tree:
    return (
        x[i, j],
        x[:, j],
        x[i, :, 1:3],
        x[-1, :, i[0]],
        jnp.take(x, wild, axis=1, mode="clip"),
        jnp.take(x, wild, axis=0, mode="fill", fill_value=-7.0),
        jnp.take(x, wild, axis=0, mode="wrap"),
        jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1),
    )


@program(f32(4, 9, 3), i32(4, 2, high=9), i32(4, high=7))
def gather_vmapped_grad(x: Array, i: Array, start: Array) -> Tree:
    def pick(x: Array, i: Array, start: Array) -> Array:
        return jnp.sum(x[i] ** 2) + jnp.sum(lax.dynamic_slice(x, (start, 0), (3, 2)) ** 3)

    values = jax.vmap(lambda x, i, start: (x[i], lax.dynamic_slice_in_dim(x, start, 3)))(x, i, start)
    return values, jax.vmap(jax.grad(pick))(x, i, start)


@program(f32(8, 5), i32(6, high=8), f32(6, 5), i32(6, low=-3, high=12))
def scatter_forms(x: Array, i: Array, updates: Array, wild: Array) -> Tree:
    return (
        x.at[i].add(updates),
        x.at[i].max(updates),
        x.at[i].min(updates),
        x.at[i].multiply(updates),
        x.at[2:5, 1].set(9.0),
        x.at[wild].add(updates, mode="drop"),
        x.at[jnp.arange(5), jnp.arange(5)].set(updates[0], unique_indices=True, indices_are_sorted=True),
        x.at[:, jnp.array([3, 0])].add(1.0),
    )


@program(f32(3, 6), i32(3, 4, high=6), f32(3, 4), i32(3, high=6))
def scatter_vmapped_grad(x: Array, i: Array, updates: Array, one: Array) -> Tree:
    def loss(x: Array, updates: Array) -> Array:
        return jnp.sum(jax.vmap(lambda x, i, u: x.at[i].add(u))(x, i, updates) ** 2)

    return jax.vmap(lambda x, i: x.at[i].set(-1.0))(x, one), jax.grad(loss, argnums=(0, 1))(x, updates)


@program(i32(7, low=-50, high=50), i32(5, high=7), typed("bool", 7))
def scatter_integers(x: Array, i: Array, flags: Array) -> Tree:
    return x.at[i].apply(lambda v: v * v - 1), flags.at[i].set(i > 2), x.at[i].add(i), x.at[i].mul(2)


@program(f32(12, 3), i32(12, high=5))
def segments(x: Array, ids: Array) -> Tree:
    total = jax.ops.segment_sum(x, ids, num_segments=5)
    largest = jax.ops.segment_max(x, ids, num_segments=5, indices_are_sorted=False)
    return total, largest, jnp.bincount(ids, length=5), jnp.histogram(x, bins=4, range=(-1.0, 1.0))


@program(f32(6, 8), i32(low=-3, high=9), i32(low=-3, high=9), f32(2, 3))
def dynamic_slices(x: Array, i: Array, j: Array, patch: Array) -> Tree:
    """Start indices out of range are clamped."""
    updated = lax.dynamic_update_slice(x, patch, (i, j))
    gradient = jax.grad(lambda x: jnp.sum(lax.dynamic_slice(x, (i, j), (3, 4)) ** 2))(x)
    return lax.dynamic_slice(x, (i, j), (3, 4)), updated, gradient, lax.dynamic_index_in_dim(x, 2, 1)


@program(f32(5, 9), i32(9, high=4), f32(9))
def sorts(x: Array, keys: Array, values: Array) -> Tree:
    return (
        jnp.sort(x, axis=0),
        jnp.argsort(x, axis=1, descending=True),
        lax.sort((keys, values, jnp.arange(9)), num_keys=2),
        lax.sort((keys, values), num_keys=1, is_stable=True),
        lax.top_k(x, 3),
        jnp.lexsort((values, keys)),
        jnp.median(x, axis=1),
        jnp.quantile(values, 0.3),
    )


@program(f32(4, 6))
def sort_grad(x: Array) -> Tree:
    def loss(x: Array) -> Array:
        return jnp.sum(jnp.sort(x, axis=1) * jnp.arange(6.0)) + jnp.sum(lax.top_k(x, 2)[0] ** 2)

    return jax.value_and_grad(loss)(x)


@program(i32(10, low=-9, high=9), typed("int32", 4, low=-9, high=9), typed("uint8", 10, low=0, high=255))
def sort_integers(x: Array, queries: Array, small: Array) -> Tree:
    ordered = jnp.sort(x)
    return (
        ordered,
        jnp.sort(small),
        jnp.argsort(x),
        jnp.searchsorted(ordered, queries),
        jnp.unique(x, size=6, fill_value=99),
        jnp.nonzero(x > 0, size=4, fill_value=-1),
        lax.top_k(x, 3),
    )


@program(f32(4, 6), f32(4, 6), boolean(4, 6))
def special_value_sort_and_reduce(x: Array, y: Array, flags: Array) -> Tree:
    """NaN, infinities and both zeros through sort, extrema and comparisons."""
    special = jnp.where(flags, x, jnp.array([jnp.nan, jnp.inf, -jnp.inf, -0.0, 0.0, 1.0], jnp.float32))
    return (
        jnp.sort(special, axis=1),
        jnp.max(special, axis=1),
        jnp.min(special, axis=0),
        jnp.argmax(special, axis=1),
        jnp.argmin(special, axis=0),
        jnp.nanmax(special, axis=1),
        jnp.maximum(special, y),
        special < y,
        special == special,
        jnp.isnan(special),
        jnp.nan_to_num(special),
        jnp.sign(special),
        jnp.signbit(special),
    )
