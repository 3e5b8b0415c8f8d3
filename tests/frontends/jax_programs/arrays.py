"""Indexing, sorting, shapes, sets, reductions, Fourier transforms, convolutions, images, polynomials."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import jax.scipy.ndimage as ndimage
import jax.scipy.signal as signal
import numpy as np
from jax import lax

from tests.frontends.jax_programs.table import boolean, c64, f32, i32, kind, program, typed, u32

f64 = functools.partial(typed, "float64")

kind(
    "indexing and gather",
    program("integer arrays", lambda x, i, j: (x[i], x[i, j], x[:, j], x[i[:, None], j]), f32(5, 6), i32(4, high=5), i32(4, high=6)),
    program("slices, None, Ellipsis", lambda x: (x[1:-1, ::2], x[::-1], x[..., None, 2], x[-3:, 1:5:3]), f32(6, 7)),
    program("modes", lambda x, i: [x.at[i].get(mode=m, **kw) for m, kw in (("clip", {}), ("fill", {"fill_value": 7}), ("promise_in_bounds", {}))], f32(5, 3), i32(6, high=5)),
    program("out of bounds", lambda x, i: [x.at[i].get(mode=m) for m in ("clip", "fill", "wrap")], f32(5, 3), i32(9, low=-9, high=12)),
    program("take and take_along_axis", lambda x, i: (jnp.take(x, i, axis=1), jnp.take_along_axis(x, i % 5, 0), jnp.take(x, i, mode="wrap")), f32(5, 6), i32(3, 6, high=5)),
    program("vmap of gather", jax.vmap(lambda x, i: x[i]), f32(4, 6, 2), i32(4, 3, high=6)),
    program("dynamic slices, clamped", lambda x, i: (lax.dynamic_slice(x, (i, i), (2, 3)), lax.dynamic_index_in_dim(x, i), lax.dynamic_update_slice(x, x[:2, :2] * 0, (i, i))), f32(5, 6), i32(low=4, high=9)),
    program("booleans with size", lambda x, m: (jnp.nonzero(m, size=5, fill_value=-1), jnp.where(m, x, 0), x.at[jnp.nonzero(m, size=3)].get()), f32(9), boolean(9)),
    program("gradient", jax.grad(lambda x, i: jnp.sum(x[i] ** 2)), f32(6, 3), i32(9, high=6)),
    program("vmap of dynamic_slice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,)), (0, 0)), f32(4, 9), i32(4, high=9)),
    program("unsigned and small indices", lambda x, i: (x[i], x[i.astype(jnp.uint8)]), f32(300), u32(4, high=250)),
)

kind(
    "scatter",
    program("set, add, multiply, min, max", lambda x, i, v: [getattr(x.at[i], m)(v) for m in ("add", "multiply", "min", "max")] + [x.at[i[:1]].set(v[:1])], f32(6, 3), i32(5, high=6), f32(5, 3), roundings=16),
    program("divide, power, apply", lambda x, i, v: (x.at[i[:1]].divide(v[:1]), x.at[i[:1]].power(2.0), x.at[i[:1]].apply(jnp.sin)), f32(6, low=1, high=2), i32(3, high=6), f32(3, low=1, high=2)),
    program("subtract and a window", lambda x, v: (x.at[1:3, ::2].subtract(v), x.at[-1].set(3)), f32(5, 6), f32(2, 3)),
    program("drop and clip", lambda x, i: (x.at[i].add(1.0, mode="drop"), x.at[i].add(1.0, mode="clip")), f32(5), i32(6, low=-7, high=9)),
    program("two index arrays", lambda x, i, j, v: x.at[i, j].add(v), f32(5, 6), i32(7, high=5), i32(7, high=6), f32(7), roundings=16),
    program("segment functions", lambda x, i: [f(x, i, num_segments=4) for f in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_min, jax.ops.segment_max)], f32(9, 2), i32(9, high=4), roundings=16),
    program("vmap of scatter", jax.vmap(lambda x, i, v: x.at[i].add(v)), f32(4, 6), i32(4, 3, high=6), f32(4, 3)),
    program("vmap over indices", jax.vmap(lambda x, i, v: x.at[i].max(v), (None, 0, None)), f32(6), i32(4, 3, high=6), f32(3)),
    program("gradient", jax.grad(lambda x, v, i: jnp.sum(x.at[i].add(v) ** 3), (0, 1)), f32(6), f32(4), i32(4, high=6), roundings=16),
    program("bincount and histogram", lambda i, x: (jnp.bincount(i, length=7), jnp.histogram(x, bins=5, range=(-1, 1)), jnp.digitize(x, jnp.linspace(-1, 1, 5))), i32(20, high=7), f32(20)),
    program("integers and booleans", lambda x, m, i: (x.at[i].add(3), m.at[i].set(True), x.at[i].multiply(-1)), typed("int16", 6, low=-9, high=9), boolean(6), i32(2, high=6)),
    program("complex", lambda x, i, v: x.at[i].add(v), c64(6), i32(4, high=6), c64(4)),
    program("fill_diagonal and put", lambda x: (jnp.fill_diagonal(x, 7.0, inplace=False), jnp.put(x, jnp.array([0, 5]), jnp.array([1.0, 2.0]), inplace=False)), f32(4, 4)),
)

kind(
    "sorting and searching",
    program("sort and argsort", lambda x: (jnp.sort(x), jnp.sort(x, axis=0, descending=True), jnp.argsort(x, axis=1), jnp.argsort(-x, stable=False)), f32(5, 7)),
    program("equal keys are stable", lambda x: (jnp.argsort(x, stable=True), jnp.argsort(x, descending=True)), i32(20, high=4)),
    program("several operands", lambda a, b, c: lax.sort((a, b, c), num_keys=2), i32(12, high=3), i32(12, high=3), f32(12)),
    program("lexsort and sort_complex", lambda a, b, z: (jnp.lexsort((a, b)), jnp.sort_complex(z)), i32(9, high=3), i32(9, high=3), c64(6)),
    program("top_k", lambda x: (lax.top_k(x, 3), lax.approx_max_k(x, 2), lax.approx_min_k(x, 2)), f32(4, 9)),
    program("argmax and argmin", lambda x: (jnp.argmax(x), jnp.argmin(x, 1), jnp.nanargmax(x, 0)), f32(4, 5)),
    program("special values", lambda x: (jnp.sort(1 / jnp.trunc(x)), jnp.argmax(0 / jnp.trunc(x)), jnp.sort(jnp.trunc(x) / jnp.trunc(x))), f32(9, low=-2, high=2)),
    program("searchsorted", lambda x, v: [jnp.searchsorted(jnp.sort(x), v, side=s, method=m) for s in ("left", "right") for m in ("scan", "sort", "compare_all")], f32(12), f32(7)),
    program("unique with size", lambda x: jnp.unique(x, size=6, fill_value=-1, return_index=True, return_inverse=True, return_counts=True), i32(12, high=5)),
    program("sets", lambda x, y: (jnp.union1d(x, y, size=9), jnp.isin(x, y), jnp.setdiff1d(x, y, size=4, fill_value=-1), jnp.intersect1d(x, y, size=3)), i32(6, high=9), i32(6, high=9)),
    program("partition and quantiles", lambda x: (jnp.partition(x, 3)[3], jnp.median(x), jnp.quantile(x, jnp.array([0.1, 0.5]), axis=None), jnp.percentile(x, 30, method="nearest")), f32(11)),
    program("gradient of sort", jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(7.0))), f32(7)),
    program("small types", lambda a, b, c: (jnp.sort(a), jnp.sort(b), jnp.argsort(c)), typed("int8", 9, low=-9, high=9), typed("bfloat16", 9), typed("float16", 9)),
)

kind(
    "reductions and scans",
    program("sums", lambda x: (x.sum(), x.sum(1), x.prod((0, 2)), x.mean(keepdims=True), x.max(0), x.min((1, 2)), jnp.ptp(x)), f32(3, 4, 5), roundings=32),
    program("statistics", lambda x: (x.var(), x.std(0, ddof=1), jnp.cov(x), jnp.corrcoef(x), jnp.average(x, weights=jnp.abs(x))), f32(3, 9), roundings=64),
    program("booleans", lambda x: (x.any(), x.all(1), jnp.count_nonzero(x, 0), x.sum()), boolean(4, 5)),
    program("NaN functions", lambda x: [f(jnp.where(x > 0.5, jnp.nan, x), axis=1) for f in (jnp.nansum, jnp.nanmean, jnp.nanmax, jnp.nanprod, jnp.nanstd)], f32(4, 6), roundings=32),
    program("logsumexp and softmax", lambda x: (jax.nn.logsumexp(x, 1), jax.nn.softmax(x), jax.nn.log_softmax(x, 0), jax.nn.standardize(x)), f32(4, 6, low=-20, high=20), roundings=16),
    program("cumulative", lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), jnp.cumulative_sum(x[0], include_initial=True), jnp.diff(x, 2), jnp.trapezoid(x)), f32(4, 9), roundings=16),
    program("lax.reduce", lambda x, i: (lax.reduce(x, 0.0, lambda a, b: a * 0.5 + b * 0.5 * 0 + jnp.maximum(a, b) * 0.5, ()), lax.reduce((x, i), (-jnp.inf, 0), lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] > b[0], a[1], b[1])), (1,))), f32(4, 5), i32(4, 5)),
    program("bitwise", lambda x: (lax.reduce_and(x, (0,)), lax.reduce_or(x, (1,)), lax.reduce_xor(x, (0, 1))), u32(4, 5)),
    program("half precision", lambda x, y: (x.sum(), y.sum(0), x.mean(), y.max()), typed("bfloat16", 4, 9), typed("float16", 4, 9), roundings=4),
    program("reduce_window", lambda x: (lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "SAME"), lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID", base_dilation=(2, 1), window_dilation=(1, 2))), f32(6, 9)),
)

kind(
    "Fourier transforms",
    program("fft and ifft", lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x, 5), jnp.fft.fft(x, axis=0)), c64(3, 8), roundings=64),
    program("rfft and irfft", lambda x: (jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x), 7), jnp.fft.hfft(jnp.fft.rfft(x))), f32(3, 8), roundings=64),
    program("odd and prime lengths", lambda x: [jnp.fft.fft(x[:n]) for n in (1, 3, 7, 11, 13, 17)], c64(17), roundings=64),
    program("fft2 and fftn", lambda x: (jnp.fft.fft2(x), jnp.fft.fftn(x), jnp.fft.ifft2(x), jnp.fft.rfftn(x.real), jnp.fft.irfft2(x)), c64(2, 4, 6), roundings=64),
    program("shift and frequencies", lambda x: (jnp.fft.fftshift(x), jnp.fft.ifftshift(x), jnp.fft.fftfreq(7), jnp.fft.rfftfreq(8)), f32(4, 5)),
    program("gradient", jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2)), f32(8), roundings=128),
    program("double", lambda x: (jnp.fft.fft(x), jnp.fft.rfft(x)), f64(10), roundings=64, x64=True),
    program("fftconvolve", lambda x, k: (signal.fftconvolve(x, k, mode="same"), signal.fftconvolve(x, k)), f32(12), f32(5), roundings=128),
    program("spectra", lambda x: (signal.stft(x, nperseg=8)[2], signal.welch(x, nperseg=8)[1], signal.csd(x, x * 2, nperseg=8)[1]), f32(32), roundings=256),
    program("dct", lambda x: (jax.scipy.fft.dct(x), jax.scipy.fft.idct(x), jax.scipy.fft.dctn(x)), f32(3, 8), roundings=128),
)


def conv(x, k, strides=(1, 1), padding="SAME", dims=("NHWC", "HWIO", "NHWC"), **kw):
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=dims, **kw)


kind(
    "convolutions",
    program("same, valid, strided", lambda x, k: (conv(x, k), conv(x, k, padding="VALID"), conv(x, k, (2, 3), [(1, 2), (0, 1)])), f32(2, 9, 8, 3), f32(3, 2, 3, 4), roundings=32),
    program("dilated", lambda x, k: (conv(x, k, rhs_dilation=(2, 3)), conv(x, k, lhs_dilation=(2, 2), padding=((2, 1), (1, 1)))), f32(2, 9, 8, 3), f32(3, 2, 3, 4), roundings=32),
    program("grouped and depthwise", lambda x, k, d: (conv(x, k, feature_group_count=2), conv(x, d, feature_group_count=4)), f32(2, 6, 6, 4), f32(3, 3, 2, 6), f32(3, 3, 1, 8), roundings=32),
    program("batch groups", lambda x, k: conv(x, k, batch_group_count=2), f32(4, 6, 6, 3), f32(3, 3, 3, 4), roundings=32),
    program("transposed", lambda x, k: (lax.conv_transpose(x, k, (2, 2), "SAME"), lax.conv_transpose(x, k, (2, 1), "VALID", transpose_kernel=False)), f32(2, 5, 5, 3), f32(3, 3, 3, 4), roundings=32),
    program("NCHW and 1-d and 3-d", lambda x, k, y, m, z, v: (lax.conv(x, k, (1, 1), "SAME"), lax.conv_general_dilated(y, m, (2,), "SAME"), lax.conv_general_dilated(z, v, (1, 1, 1), "VALID")), f32(2, 3, 6, 7), f32(4, 3, 3, 2), f32(2, 3, 9), f32(4, 3, 3), f32(1, 2, 4, 5, 6), f32(3, 2, 2, 3, 2), roundings=64),
    program("reversed window gradient", jax.grad(lambda x, k: jnp.sum(conv(x, k, (2, 2), rhs_dilation=(2, 1)) ** 2), (0, 1)), f32(2, 7, 8, 3), f32(3, 2, 3, 4), roundings=64),
    program("gradient of grouped", jax.grad(lambda x, k: jnp.sum(conv(x, k, feature_group_count=2) ** 2), (0, 1)), f32(2, 6, 6, 4), f32(3, 3, 2, 6), roundings=64),
    program("numpy's", lambda x, k: (jnp.convolve(x, k), jnp.correlate(x, k, "full"), signal.convolve2d(jnp.outer(x, x), jnp.outer(k, k), "same")), f32(9), f32(4), roundings=64),
    program("vmap over kernels", jax.vmap(conv, (None, 0)), f32(2, 6, 6, 3), f32(3, 3, 3, 3, 4), roundings=32),
    program("half and integers", lambda x, k, a, b: (conv(x, k), conv(a, b, preferred_element_type=jnp.int32)), typed("bfloat16", 1, 5, 5, 2), typed("bfloat16", 3, 3, 2, 2), typed("int8", 1, 5, 5, 2, low=-9, high=9), typed("int8", 3, 3, 2, 2, low=-9, high=9)),
    program("complex and double", lambda x, k: conv(x, k), typed("complex128", 1, 5, 5, 2), typed("complex128", 3, 3, 2, 2), roundings=64, x64=True),
    program("patches and local", lambda x, k: (lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"), lax.conv_general_dilated_local(x, k, (1, 1), "VALID", (2, 2))), f32(2, 3, 5, 5), f32(4, 12, 4, 4), roundings=64),
)


def pool(x, init, op, window=(2, 2), strides=(2, 2), padding="VALID"):
    return lax.reduce_window(x, init, op, (1, *window, 1), (1, *strides, 1), padding)


kind(
    "pooling",
    program("max, average, min", lambda x: (pool(x, -jnp.inf, lax.max), pool(x, 0.0, lax.add) / 4, pool(x, jnp.inf, lax.min, (3, 3), (1, 2), "SAME")), f32(2, 8, 8, 3), roundings=16),
    program("gradient of max pool", jax.grad(lambda x: jnp.sum(pool(x, -jnp.inf, lax.max, (3, 3), (2, 2), "SAME") ** 2)), f32(2, 7, 7, 2), roundings=16),
    program("gradient of average pool", jax.grad(lambda x: jnp.sum(pool(x, 0.0, lax.add, (3, 3), (2, 2), "SAME") ** 2)), f32(2, 7, 7, 2), roundings=16),
    program("second derivative", lambda x: jax.jvp(jax.grad(lambda x: jnp.sum(pool(x, -jnp.inf, lax.max) ** 3)), (x,), (x,))[1], f32(1, 4, 4, 2), roundings=32),
    program("global and adaptive", lambda x: (x.mean((1, 2)), x.reshape(2, 2, 4, 2, 4, 3).max((2, 4))), f32(2, 8, 8, 3), roundings=64),
    program("cumulative windows", lambda x: (lax.cumsum(x, 1), lax.cummax(x, 2)), f32(2, 8, 8), roundings=16),
)

kind(
    "images and interpolation",
    program("resize", lambda x: [jax.image.resize(x, (7, 5, 3), m) for m in ("nearest", "linear", "cubic", "lanczos3", "lanczos5")], f32(4, 6, 3), roundings=128),
    program("resize down", lambda x: (jax.image.resize(x, (3, 3), "linear"), jax.image.resize(x, (3, 3), "linear", antialias=False)), f32(8, 9), roundings=64),
    program("scale_and_translate", lambda x: jax.image.scale_and_translate(x, (6, 6), (0, 1), jnp.array([1.5, 0.7]), jnp.array([0.3, -1.0]), "linear"), f32(5, 5), roundings=64),
    program("interp", lambda x: (jnp.interp(x, jnp.linspace(-1, 1, 7), jnp.arange(7.0) ** 2), jnp.interp(x, jnp.linspace(-0.5, 0.5, 7), jnp.arange(7.0), left=-3)), f32(12), roundings=64),
    program("map_coordinates", lambda x, c: [ndimage.map_coordinates(x, list(c * 4), order=o, mode=m) for o in (0, 1) for m in ("constant", "nearest", "wrap", "mirror", "reflect")], f32(6, 7), f32(2, 9), roundings=64),
    program("regular grid", lambda v, p: jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(4.0), jnp.arange(5.0)), v)(p), f32(4, 5), f32(6, 2, low=0, high=3), roundings=64),
    program("gradient of resize", jax.grad(lambda x: jnp.sum(jax.image.resize(x, (7, 7), "cubic") ** 2)), f32(4, 4), roundings=128),
    program("one_hot and grids", lambda i: (jax.nn.one_hot(i, 5), jnp.meshgrid(jnp.arange(3), jnp.arange(2)), jnp.linspace(0, 1, 5), jnp.logspace(0, 2, 4), jnp.geomspace(1, 8, 4)), i32(4, high=6), roundings=32),
)

kind(
    "shapes",
    program("reshape, transpose, flips", lambda x: (x.reshape(6, 4), x.reshape(-1), x.T, jnp.moveaxis(x, 0, 2), jnp.flip(x, (0, 2)), jnp.rot90(x), x.ravel("F")), f32(2, 3, 4)),
    program("join and split", lambda x, y: (jnp.concatenate([x, y], 1), jnp.stack([x, x], -1), jnp.split(x, 2), jnp.array_split(y, 3, 1), jnp.vstack([x, x]), jnp.dstack([x, x])), f32(4, 3), f32(4, 5)),
    program("repeat and tile", lambda x: (jnp.repeat(x, 3, 1), jnp.tile(x, (2, 3)), jnp.repeat(x, jnp.array([1, 0, 2]), axis=0, total_repeat_length=4), jnp.broadcast_to(x, (2, 3, 4))), f32(3, 4)),
    program("pads", lambda x: [jnp.pad(x, ((1, 2), (0, 3)), mode=m) for m in ("constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "linear_ramp")], f32(4, 5), roundings=16),
    program("lax.pad", lambda x: (lax.pad(x, 7.0, ((1, 2, 1), (-1, -1, 0))), lax.pad(x, 0.0, ((-2, 3, 2), (0, 0, 3)))), f32(5, 6)),
    program("triangles and diagonals", lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.diag(x), jnp.diagflat(x[0], 1), jnp.tri(3, 4), jnp.vander(x[0], 3)), f32(4, 4)),
    program("roll", lambda x, n: (jnp.roll(x, n, 0), jnp.roll(x, (1, -2), (0, 1)), jnp.roll(x, 5)), f32(4, 5), i32()),
    program("empty arrays", lambda x: (x.sum(), x @ jnp.ones((3, 2)), jnp.concatenate([x, x]), x.max(initial=3.0), jnp.sort(x)), f32(0, 3)),
    program("bits of types", lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8), x.view(jnp.uint16)), f32(3, 4)),
    program("rearrange by einsum", lambda x: jnp.einsum("bhwc->bchw", x), f32(2, 3, 4, 5)),
    program("packbits", lambda x: (jnp.packbits(x), jnp.unpackbits(jnp.packbits(x))), boolean(19)),
    program("ix and apply_along_axis", lambda x: (x[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 3]))], jnp.apply_along_axis(jnp.cumsum, 0, x), jnp.apply_over_axes(jnp.sum, x, [0])), f32(3, 4)),
)

kind(
    "polynomials",
    program("polyval, polymul, polyder", lambda p, x: (jnp.polyval(p, x), jnp.polymul(p, p), jnp.polyder(p), jnp.polyint(p), jnp.polyadd(p, p[1:])), f32(4), f32(5), roundings=32),
    program("roots", lambda p: jnp.sort(jnp.abs(jnp.roots(p, strip_zeros=False))), f32(4, low=1, high=2), roundings=512),
    program("polyfit", lambda x, y: jnp.polyfit(x, y, 2), f32(9), f32(9), roundings=2048),
    program("horner by scan", lambda p, x: lax.scan(lambda c, a: (c * x + a, None), jnp.zeros_like(x), p)[0], f32(6), f32(4)),
)
