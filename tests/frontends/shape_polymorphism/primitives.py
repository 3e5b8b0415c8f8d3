"""A program with symbolic sizes for each primitive and each form of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from tests.frontends.shape_polymorphism.programs import Program, Sizes

PRIMITIVES: list[Program] = []

BN: tuple[Sizes, ...] = ({"b": 1, "n": 5}, {"b": 4, "n": 3})
WIDE: tuple[Sizes, ...] = ({"b": 2, "n": 6}, {"b": 3, "n": 9})


def add(
    name: str,
    function: Callable[..., Any],
    *shapes: str,
    sizes: tuple[Sizes, ...] = BN,
    integers: str = "",
    **more: Any,
) -> None:
    """`integers` has a letter for each argument: "i" for one of int32, "f" for one of float32; by default all float32."""
    dtypes = tuple(np.int32 if kind == "i" else np.float32 for kind in integers or "f" * len(shapes))
    constraints, roundings = more.get("constraints", ()), more.get("roundings", 0)
    PRIMITIVES.append(Program(name, function, shapes, sizes, dtypes, constraints, roundings))


# Shapes.
add("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, x.shape[0], x.shape[1], 4), (1, 2)), "b, n")
add("broadcast_in_dim of ones", lambda x, y: lax.broadcast_in_dim(x, y.shape, (0, 1)), "b, 1", "b, n")
add("collapse", lambda x: lax.collapse(x, 1, 3), "b, n, 4")
add("expand_dims", lambda x: lax.expand_dims(x, (0, 2)), "b, n")
add("squeeze", lambda x: (jnp.squeeze(x, (1, 3)), jnp.squeeze(x, 1), lax.squeeze(x, ())), "b, 1, n, 1", sizes=WIDE)
add("reshape to a product", lambda x: (x.reshape(-1), x.reshape(x.shape[0] * 2, -1)), "b, 2*n")
add("reshape of several symbols", lambda x: x.reshape(x.shape[1], x.shape[0], -1), "b, n, b, 4")
add("transpose", lambda x: (x.T, lax.transpose(x, (1, 2, 0))), "b, n, 3")
add("reverse", lambda x: (x[::-1], lax.rev(x, (0, 1))), "b, n")
add("concatenate of sizes", lambda x, y: lax.concatenate([x, y, x], 1), "b, n", "b, 2*n+1")
add("split", lambda x: jnp.split(x, 2, 1), "b, 2*n")
add("tile", lambda x: (jnp.tile(x, (2, 3)), jnp.tile(x, (1, x.shape[0]))), "b, n")
add("repeat", lambda x: (jnp.repeat(x, 2, 1), jnp.repeat(x, x.shape[0], 0)), "b, n")
add(
    "roll",
    lambda x: (jnp.roll(x, 1, 1), jnp.roll(x, -2, 0)),
    "b, n",
    constraints=("b >= 3", "n >= 2"),
    sizes=(({"b": 3, "n": 2}), {"b": 5, "n": 4}),
)

# Made of sizes.
add("iota", lambda x: x + lax.broadcasted_iota(np.float32, x.shape, 0) * x.shape[1], "b, n")
add("eye", lambda x: (jnp.eye(x.shape[0], x.shape[1], k=1), jnp.eye(3, x.shape[1])), "b, n")
add("arange with steps", lambda x: (jnp.arange(1, 3 * x.shape[0] + 1, 3), jnp.arange(x.shape[1], 0, -1)), "b, n")
add("linspace", lambda x: jnp.linspace(0.0, 1.0, 2 * x.shape[0] + 1), "b", roundings=4)
add("sizes as numbers", lambda x: x * (x.shape[0] // 2) + x.shape[1] % 3 - jnp.minimum(x.shape[0], 2), "b, n")
add("a mean by its size", lambda x: (x.mean(0), x.mean(), x.var(1), x.std()), "b, n", roundings=8)

# Elementwise.
add("arithmetic with broadcasting", lambda x, y: (x + y, x - 2 * y, jnp.maximum(x, y), x * y), "b, n", "n", roundings=1)
add("comparison and select", lambda x, y: jnp.where(x > y, x, y), "b, n", "b, 1")
add("clamp", lambda x: (lax.clamp(np.float32(-0.5), x, np.float32(0.5)), jnp.clip(x, 0.0)), "b, n")
add("select_n", lambda w, x, y, z: lax.select_n(w, x, y, z), "b, n", "b, n", "b, n", "b, n", integers="ifff")
add("conversion", lambda x: (x.astype(np.int32), x.astype(bool), x.astype(jnp.bfloat16)), "b, n")
add("bitcast", lambda x: lax.bitcast_convert_type(x, np.int32), "b, n")
add("functions", lambda x: (jnp.sin(x), jnp.exp(x), lax.rsqrt(x * x + 1), lax.erf(x), jnp.cbrt(x)), "b, n", roundings=8)
add(
    "functions of statistics", lambda x: (lax.lgamma(x), lax.digamma(x), lax.erf_inv(jnp.tanh(x))), "b, n", roundings=16
)
add("integer functions", lambda x: (x // 2, x % 2, x << 1, lax.population_count(x), lax.clz(x)), "b, n", integers="i")
add(
    "complex numbers",
    lambda x, y: (lax.real(lax.complex(x, y)), jnp.abs(lax.complex(x, y))),
    "b, n",
    "b, n",
    roundings=4,
)
add("reduce_precision", lambda x: lax.reduce_precision(x, 5, 3), "b, n")

# Reductions.
add("reduce", lambda x: (x.max(1), x.min(), (x > 0).all(0), (x > 1).any(1), x.argmax(0)), "b, n")
add("sums and products", lambda x: (x.sum(0), x.prod(1), x.sum()), "b, n", roundings=8)
add("argmax of dynamic sizes", lambda x: (jnp.argmax(x, 1), jnp.argmin(x.reshape(-1))), "b, n")
add("logsumexp", lambda x: jax.nn.logsumexp(x, 0), "b, n", roundings=4)
add(
    "quantiles",
    lambda x: (jnp.quantile(x, 0.3, axis=1), jnp.median(x, 0), jnp.nanpercentile(x, 50)),
    "b, n",
    roundings=4,
)
add("cumulative", lambda x: (jnp.cumsum(x, 1), lax.cummax(x, 0, reverse=True), lax.cumprod(x, 0)), "b, n", roundings=8)
add("reduce_window", lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 1), "VALID"), "b, n", sizes=WIDE)
add(
    "reduce_window with padding",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "SAME"),
    "b, n",
    roundings=4,
)
add(
    "max pooling's gradient",
    jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2), "VALID") ** 2).sum()),
    "b, 2*n",
    roundings=2,
)

# Products.
add("dot", lambda x, y: (x @ y, jnp.dot(x, y).T), "b, n", "n, 4", roundings=4)
add("batched products", lambda x, y: lax.batch_matmul(x, y), "b, 3, n", "b, n, 2", roundings=4)
add("einsum of three", lambda x, y, z: jnp.einsum("ij,jk,kl->il", x, y, z), "b, n", "n, 3", "3, b", roundings=8)
add("einsum with an ellipsis", lambda x, y: jnp.einsum("...ij,jk->...ik", x, y), "b, 2, n", "n, 3", roundings=4)
add(
    "convolution in one dimension",
    lambda x, k: lax.conv_general_dilated(x, k, (2,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")),
    "b, n, 3",
    "3, 3, 2",
    sizes=WIDE,
    roundings=4,
)
add(
    "convolution with dilation",
    lambda x, k: lax.conv_general_dilated(x, k, (1,), [(1, 2)], (2,), (2,), ("NHC", "HIO", "NHC")),
    "b, n, 3",
    "2, 3, 2",
    sizes=WIDE,
    roundings=4,
)
add(
    "convolution by groups",
    lambda x, k: lax.conv_general_dilated(
        x, k, (1,), "VALID", dimension_numbers=("NHC", "HIO", "NHC"), feature_group_count=2
    ),
    "b, n, 4",
    "2, 2, 6",
    sizes=WIDE,
    roundings=4,
)

# Slices, gathers and scatters.
add(
    "slices",
    lambda x: (x[1:], x[:-1], x[:, ::2], x[:, 1 : x.shape[1] - 1]),
    "b, n",
    sizes=WIDE,
    constraints=("n >= 3",),
)
add("indices from the end", lambda x: (x[-1], x[:, -2], lax.index_in_dim(x, -1, 1)), "b, n", constraints=("n >= 2",))
add("dynamic slice", lambda x, i: lax.dynamic_slice_in_dim(x, i, 1, 0), "b, n", "", integers="fi")
add("dynamic update", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 0)), "b, n", "1, n", "", integers="ffi")
add("take", lambda x, i: (jnp.take(x, i, 1, mode="clip"), jnp.take(x, i, 0, mode="fill")), "b, n", "3", integers="fi")
add("take along an axis", lambda x, i: jnp.take_along_axis(x, i, 0, mode="clip"), "b, n", "2, n", integers="fi")
add("gather by pairs", lambda x, i: x.at[i, 0].get(mode="fill", fill_value=7.0), "b, n", "4", integers="fi")
add("scatter", lambda x, i, u: x.at[i].set(u, mode="drop"), "b, n", "1", "1, n", integers="fif")
add("scatter_add", lambda x, i, u: x.at[i].add(u, mode="clip"), "b, n", "3", "3, n", integers="fif", roundings=2)
add("scatter_max", lambda x, i: x.at[i].max(0.5), "b, n", "n", integers="fi")
add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 3), "b, n", "b", integers="fi", roundings=4)
add("pad", lambda x: lax.pad(x, np.float32(1), ((1, 2, 1), (0, -1, 0))), "b, n", constraints=("n >= 2",))
add("pad by sizes", lambda x: jnp.pad(x, ((0, x.shape[0]), (1, 0)), mode="constant", constant_values=2.0), "b, n")
add("pad by reflection", lambda x: jnp.pad(x, ((0, 0), (1, 1)), mode="reflect"), "b, n", constraints=("n >= 2",))

# Order, and control flow.
add("sort", lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), lax.sort((x, -x), num_keys=1, dimension=1)), "b, n")
add("top_k", lambda x: lax.top_k(x, 2), "b, n", sizes=WIDE, constraints=("n >= 2",))
add("map", lambda x: lax.map(lambda row: row * 2 + row.shape[0], x), "b, n")
add("scan with a carried row", lambda x: lax.scan(lambda c, row: (c + row, c * row), x[0], x), "b, n", roundings=4)
add(
    "while over sizes",
    lambda x: lax.while_loop(lambda s: s[0] < x.shape[1], lambda s: (s[0] + 1, s[1] * 0.5), (0, x)),
    "b, n",
)
add("cond on sizes", lambda x: lax.cond(x.sum() > x.shape[0], lambda y: y + 1, lambda y: y - 1, x), "b, n")
add("random bits", lambda x: jax.random.bits(jax.random.key(3), x.shape), "b, n")
add("random uniform", lambda x: jax.random.uniform(jax.random.key(1), (x.shape[0], 3)), "b, n")
add(
    "triangular solve",
    lambda a, b: lax.linalg.triangular_solve(a + 3 * jnp.eye(3), b, left_side=True, lower=True),
    "b, 3, 3",
    "b, 3, n",
    roundings=32,
)
add("fft over batches", lambda x: (jnp.fft.fft(x).real, jnp.fft.irfft(jnp.fft.rfft(x))), "b, n, 6", roundings=8)
