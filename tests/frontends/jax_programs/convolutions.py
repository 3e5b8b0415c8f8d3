"""Convolutions, pooling, images, interpolation."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import jax.scipy.ndimage as ndimage
import jax.scipy.signal as signal
from jax import lax

from tests.frontends.jax_programs.table import f32, i32, kind, program, typed

f64 = functools.partial(typed, "float64")


def conv(x, k, strides=(1, 1), padding="SAME", dims=("NHWC", "HWIO", "NHWC"), **kw):
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=dims, **kw)


kind(
    "convolutions",
    program(
        "same, valid, strided",
        lambda x, k: (conv(x, k), conv(x, k, padding="VALID"), conv(x, k, (2, 3), [(1, 2), (0, 1)])),
        f32(2, 9, 8, 3),
        f32(3, 2, 3, 4),
        roundings=32,
    ),
    program(
        "dilated",
        lambda x, k: (conv(x, k, rhs_dilation=(2, 3)), conv(x, k, lhs_dilation=(2, 2), padding=((2, 1), (1, 1)))),
        f32(2, 9, 8, 3),
        f32(3, 2, 3, 4),
        roundings=32,
    ),
    program(
        "grouped and depthwise",
        lambda x, k, d: (conv(x, k, feature_group_count=2), conv(x, d, feature_group_count=4)),
        f32(2, 6, 6, 4),
        f32(3, 3, 2, 6),
        f32(3, 3, 1, 8),
        roundings=32,
    ),
    program(
        "batch groups", lambda x, k: conv(x, k, batch_group_count=2), f32(4, 6, 6, 3), f32(3, 3, 3, 4), roundings=32
    ),
    program(
        "transposed",
        lambda x, k: (
            lax.conv_transpose(x, k, (2, 2), "SAME"),
            lax.conv_transpose(x, k, (2, 1), "VALID", transpose_kernel=False),
        ),
        f32(2, 5, 5, 3),
        f32(3, 3, 3, 4),
        roundings=32,
    ),
    program(
        "NCHW and 1-d and 3-d",
        lambda x, k, y, m, z, v: (
            lax.conv(x, k, (1, 1), "SAME"),
            lax.conv_general_dilated(y, m, (2,), "SAME"),
            lax.conv_general_dilated(z, v, (1, 1, 1), "VALID"),
        ),
        f32(2, 3, 6, 7),
        f32(4, 3, 3, 2),
        f32(2, 3, 9),
        f32(4, 3, 3),
        f32(1, 2, 4, 5, 6),
        f32(3, 2, 2, 3, 2),
        roundings=64,
    ),
    program(
        "reversed window gradient",
        jax.grad(lambda x, k: jnp.sum(conv(x, k, (2, 2), rhs_dilation=(2, 1)) ** 2), (0, 1)),
        f32(2, 7, 8, 3),
        f32(3, 2, 3, 4),
        roundings=64,
    ),
    program(
        "gradient of grouped",
        jax.grad(lambda x, k: jnp.sum(conv(x, k, feature_group_count=2) ** 2), (0, 1)),
        f32(2, 6, 6, 4),
        f32(3, 3, 2, 6),
        roundings=64,
    ),
    program(
        "numpy's",
        lambda x, k: (
            jnp.convolve(x, k),
            jnp.correlate(x, k, "full"),
            signal.convolve2d(jnp.outer(x, x), jnp.outer(k, k), "same"),
        ),
        f32(9),
        f32(4),
        roundings=64,
    ),
    program("vmap over kernels", jax.vmap(conv, (None, 0)), f32(2, 6, 6, 3), f32(3, 3, 3, 3, 4), roundings=32),
    program(
        "half and integers",
        lambda x, k, a, b: (conv(x, k), conv(a, b, preferred_element_type=jnp.int32)),
        typed("bfloat16", 1, 5, 5, 2),
        typed("bfloat16", 3, 3, 2, 2),
        typed("int8", 1, 5, 5, 2, low=-9, high=9),
        typed("int8", 3, 3, 2, 2, low=-9, high=9),
    ),
    program(
        "complex and double",
        lambda x, k: conv(x, k),
        typed("complex128", 1, 5, 5, 2),
        typed("complex128", 3, 3, 2, 2),
        roundings=64,
        x64=True,
    ),
    program(
        "patches and local",
        lambda x, k: (
            lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"),
            lax.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 2)),
        ),
        f32(2, 3, 5, 5),
        f32(4, 12, 4, 4),
        roundings=64,
    ),
)


def pool(x, init, op, window=(2, 2), strides=(2, 2), padding="VALID"):
    return lax.reduce_window(x, init, op, (1, *window, 1), (1, *strides, 1), padding)


kind(
    "pooling",
    program(
        "max, average, min",
        lambda x: (
            pool(x, -jnp.inf, lax.max),
            pool(x, 0.0, lax.add) / 4,
            pool(x, jnp.inf, lax.min, (3, 3), (1, 2), "SAME"),
        ),
        f32(2, 8, 8, 3),
        roundings=16,
    ),
    program(
        "gradient of max pool",
        jax.grad(lambda x: jnp.sum(pool(x, -jnp.inf, lax.max, (3, 3), (2, 2), "SAME") ** 2)),
        f32(2, 7, 7, 2),
        roundings=16,
    ),
    program(
        "gradient of average pool",
        jax.grad(lambda x: jnp.sum(pool(x, 0.0, lax.add, (3, 3), (2, 2), "SAME") ** 2)),
        f32(2, 7, 7, 2),
        roundings=16,
    ),
    program(
        "second derivative",
        lambda x: jax.jvp(jax.grad(lambda x: jnp.sum(pool(x, -jnp.inf, lax.max) ** 3)), (x,), (x,))[1],
        f32(1, 4, 4, 2),
        roundings=32,
    ),
    program(
        "global and adaptive",
        lambda x: (x.mean((1, 2)), x.reshape(2, 2, 4, 2, 4, 3).max((2, 4))),
        f32(2, 8, 8, 3),
        roundings=64,
    ),
    program("cumulative windows", lambda x: (lax.cumsum(x, 1), lax.cummax(x, 2)), f32(2, 8, 8), roundings=16),
)

kind(
    "images and interpolation",
    program(
        "resize",
        lambda x: [jax.image.resize(x, (7, 5, 3), m) for m in ("nearest", "linear", "cubic", "lanczos3", "lanczos5")],
        f32(4, 6, 3),
        roundings=128,
    ),
    program(
        "resize down",
        lambda x: (jax.image.resize(x, (3, 3), "linear"), jax.image.resize(x, (3, 3), "linear", antialias=False)),
        f32(8, 9),
        roundings=64,
    ),
    program(
        "scale_and_translate",
        lambda x: jax.image.scale_and_translate(
            x, (6, 6), (0, 1), jnp.array([1.5, 0.7]), jnp.array([0.3, -1.0]), "linear"
        ),
        f32(5, 5),
        roundings=64,
    ),
    program(
        "interp",
        lambda x: (
            jnp.interp(x, jnp.linspace(-1, 1, 7), jnp.arange(7.0) ** 2),
            jnp.interp(x, jnp.linspace(-0.5, 0.5, 7), jnp.arange(7.0), left=-3),
        ),
        f32(12),
        roundings=64,
    ),
    program(
        "map_coordinates",
        lambda x, c: [
            ndimage.map_coordinates(x, list(c * 4), order=o, mode=m)
            for o in (0, 1)
            for m in ("constant", "nearest", "wrap", "mirror", "reflect")
        ],
        f32(6, 7),
        f32(2, 9),
        roundings=64,
    ),
    program(
        "regular grid",
        lambda v, p: jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(4.0), jnp.arange(5.0)), v)(p),
        f32(4, 5),
        f32(6, 2, low=0, high=3),
        roundings=64,
    ),
    program(
        "gradient of resize",
        jax.grad(lambda x: jnp.sum(jax.image.resize(x, (7, 7), "cubic") ** 2)),
        f32(4, 4),
        roundings=128,
    ),
    program(
        "one_hot and grids",
        lambda i: (
            jax.nn.one_hot(i, 5),
            jnp.meshgrid(jnp.arange(3), jnp.arange(2)),
            jnp.linspace(0, 1, 5),
            jnp.logspace(0, 2, 4),
            jnp.geomspace(1, 8, 4),
        ),
        i32(4, high=6),
        roundings=32,
    ),
)
