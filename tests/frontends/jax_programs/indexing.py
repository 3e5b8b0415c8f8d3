"""Indexing, gather, scatter, sorting, sets."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

from tests.frontends.jax_programs.table import boolean, c64, f32, i32, kind, program, typed, u32

f64 = functools.partial(typed, "float64")


kind(
    "indexing and gather",
    program(
        "integer arrays",
        lambda x, i, j: (x[i], x[i, j], x[:, j], x[i[:, None], j]),
        f32(5, 6),
        i32(4, high=5),
        i32(4, high=6),
    ),
    program("slices, None, Ellipsis", lambda x: (x[1:-1, ::2], x[::-1], x[..., None, 2], x[-3:, 1:5:3]), f32(6, 7)),
    program(
        "modes",
        lambda x, i: [
            x.at[i].get(mode=m, **kw)
            for m, kw in (("clip", {}), ("fill", {"fill_value": 7}), ("promise_in_bounds", {}))
        ],
        f32(5, 3),
        i32(6, high=5),
    ),
    program(
        "out of bounds",
        lambda x, i: [x.at[i].get(mode=m) for m in ("clip", "fill")],
        f32(5, 3),
        i32(9, low=-9, high=12),
    ),
    program(
        "take and take_along_axis",
        lambda x, i: (jnp.take(x, i, axis=1), jnp.take_along_axis(x, i % 5, 0), jnp.take(x, i, mode="wrap")),
        f32(5, 6),
        i32(3, 6, high=5),
    ),
    program("vmap of gather", jax.vmap(lambda x, i: x[i]), f32(4, 6, 2), i32(4, 3, high=6)),
    program(
        "dynamic slices, clamped",
        lambda x, i: (
            lax.dynamic_slice(x, (i, i), (2, 3)),
            lax.dynamic_index_in_dim(x, i),
            lax.dynamic_update_slice(x, x[:2, :2] * 0, (i, i)),
        ),
        f32(5, 6),
        i32(low=4, high=9),
    ),
    program(
        "booleans with size",
        lambda x, m: (jnp.nonzero(m, size=5, fill_value=-1), jnp.where(m, x, 0), x.at[jnp.nonzero(m, size=3)].get()),
        f32(9),
        boolean(9),
    ),
    program("gradient", jax.grad(lambda x, i: jnp.sum(x[i] ** 2)), f32(6, 3), i32(9, high=6)),
    program(
        "vmap of dynamic_slice",
        jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,)), (0, 0)),
        f32(4, 9),
        i32(4, high=9),
    ),
    program("unsigned and small indices", lambda x, i: (x[i], x[i.astype(jnp.uint8)]), f32(300), u32(4, high=250)),
)

kind(
    "scatter",
    program(
        "set, add, multiply, min, max",
        lambda x, i, v: [getattr(x.at[i], m)(v) for m in ("add", "multiply", "min", "max")] + [x.at[i[:1]].set(v[:1])],
        f32(6, 3),
        i32(5, high=6),
        f32(5, 3),
        roundings=16,
    ),
    program(
        "divide, power, apply",
        lambda x, i, v: (x.at[i[:1]].divide(v[:1]), x.at[i[:1]].power(2.0), x.at[i[:1]].apply(jnp.sin)),
        f32(6, low=1, high=2),
        i32(3, high=6),
        f32(3, low=1, high=2),
    ),
    program("subtract and a window", lambda x, v: (x.at[1:3, ::2].subtract(v), x.at[-1].set(3)), f32(5, 6), f32(2, 3)),
    program(
        "drop and clip",
        lambda x, i: (x.at[i].add(1.0, mode="drop"), x.at[i].add(1.0, mode="clip")),
        f32(5),
        i32(6, low=-7, high=9),
    ),
    program(
        "two index arrays",
        lambda x, i, j, v: x.at[i, j].add(v),
        f32(5, 6),
        i32(7, high=5),
        i32(7, high=6),
        f32(7),
        roundings=16,
    ),
    program(
        "segment functions",
        lambda x, i: [
            f(x, i, num_segments=4)
            for f in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_min, jax.ops.segment_max)
        ],
        f32(9, 2),
        i32(9, high=4),
        roundings=16,
    ),
    program("vmap of scatter", jax.vmap(lambda x, i, v: x.at[i].add(v)), f32(4, 6), i32(4, 3, high=6), f32(4, 3)),
    program(
        "vmap over indices",
        jax.vmap(lambda x, i, v: x.at[i].max(v), (None, 0, None)),
        f32(6),
        i32(4, 3, high=6),
        f32(3),
    ),
    program(
        "gradient",
        jax.grad(lambda x, v, i: jnp.sum(x.at[i].add(v) ** 3), (0, 1)),
        f32(6),
        f32(4),
        i32(4, high=6),
        roundings=16,
    ),
    program(
        "bincount and histogram",
        lambda i, x: (
            jnp.bincount(i, length=7),
            jnp.histogram(x, bins=5, range=(-1, 1)),
            jnp.digitize(x, jnp.linspace(-1, 1, 5)),
        ),
        i32(20, high=7),
        f32(20),
    ),
    program(
        "integers and booleans",
        lambda x, m, i: (x.at[i].add(3), m.at[i].set(True), x.at[i].multiply(-1)),
        typed("int16", 6, low=-9, high=9),
        boolean(6),
        i32(2, high=6),
    ),
    program("complex", lambda x, i, v: x.at[i].add(v), c64(6), i32(4, high=6), c64(4)),
    program(
        "fill_diagonal and put",
        lambda x: (
            jnp.fill_diagonal(x, 7.0, inplace=False),
            jnp.put(x, jnp.array([0, 5]), jnp.array([1.0, 2.0]), inplace=False),
        ),
        f32(4, 4),
    ),
)

kind(
    "sorting and searching",
    program(
        "sort and argsort",
        lambda x: (
            jnp.sort(x),
            jnp.sort(x, axis=0, descending=True),
            jnp.argsort(x, axis=1),
            jnp.argsort(-x, stable=False),
        ),
        f32(5, 7),
    ),
    program(
        "equal keys are stable",
        lambda x: (jnp.argsort(x, stable=True), jnp.argsort(x, descending=True)),
        i32(20, high=4),
    ),
    program(
        "several operands", lambda a, b, c: lax.sort((a, b, c), num_keys=2), i32(12, high=3), i32(12, high=3), f32(12)
    ),
    program(
        "lexsort and sort_complex",
        lambda a, b, z: (jnp.lexsort((a, b)), jnp.sort_complex(z)),
        i32(9, high=3),
        i32(9, high=3),
        c64(6),
    ),
    program("top_k", lambda x: (lax.top_k(x, 3), lax.approx_max_k(x, 2), lax.approx_min_k(x, 2)), f32(4, 9)),
    program("argmax and argmin", lambda x: (jnp.argmax(x), jnp.argmin(x, 1), jnp.nanargmax(x, 0)), f32(4, 5)),
    program(
        "special values",
        lambda x: (jnp.sort(1 / jnp.trunc(x)), jnp.argmax(0 / jnp.trunc(x)), jnp.sort(jnp.trunc(x) / jnp.trunc(x))),
        f32(9, low=-2, high=2),
    ),
    program(
        "searchsorted",
        lambda x, v: [
            jnp.searchsorted(jnp.sort(x), v, side=s, method=m)
            for s in ("left", "right")
            for m in ("scan", "sort", "compare_all")
        ],
        f32(12),
        f32(7),
    ),
    program(
        "unique with size",
        lambda x: jnp.unique(x, size=6, fill_value=-1, return_index=True, return_inverse=True, return_counts=True),
        i32(12, high=5),
    ),
    program(
        "sets",
        lambda x, y: (
            jnp.union1d(x, y, size=9),
            jnp.isin(x, y),
            jnp.setdiff1d(x, y, size=4, fill_value=-1),
            jnp.intersect1d(x, y, size=3),
        ),
        i32(6, high=9),
        i32(6, high=9),
    ),
    program(
        "partition and quantiles",
        lambda x: (
            jnp.partition(x, 3)[3],
            jnp.median(x),
            jnp.quantile(x, jnp.array([0.1, 0.5]), axis=None),
            jnp.percentile(x, 30, method="nearest"),
        ),
        f32(11),
    ),
    program("gradient of sort", jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(7.0))), f32(7)),
    program(
        "small types",
        lambda a, b, c: (jnp.sort(a), jnp.sort(b), jnp.argsort(c)),
        typed("int8", 9, low=-9, high=9),
        typed("bfloat16", 9),
        typed("float16", 9),
    ),
)
