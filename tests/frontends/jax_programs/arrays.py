"""Reductions, Fourier transforms, shapes, polynomials."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import jax.scipy.signal as signal
from jax import lax

from tests.frontends.jax_programs.table import boolean, c64, f32, i32, kind, program, typed, u32

f64 = functools.partial(typed, "float64")


kind(
    "reductions and scans",
    program(
        "sums",
        lambda x: (x.sum(), x.sum(1), x.prod((0, 2)), x.mean(keepdims=True), x.max(0), x.min((1, 2)), jnp.ptp(x)),
        f32(3, 4, 5),
        roundings=32,
    ),
    program(
        "statistics",
        lambda x: (x.var(), x.std(0, ddof=1), jnp.cov(x), jnp.corrcoef(x), jnp.average(x, weights=jnp.abs(x))),
        f32(3, 9),
        roundings=64,
    ),
    program("booleans", lambda x: (x.any(), x.all(1), jnp.count_nonzero(x, 0), x.sum()), boolean(4, 5)),
    program(
        "NaN functions",
        lambda x: [
            f(jnp.where(x > 0.5, jnp.nan, x), axis=1)
            for f in (jnp.nansum, jnp.nanmean, jnp.nanmax, jnp.nanprod, jnp.nanstd)
        ],
        f32(4, 6),
        roundings=32,
    ),
    program(
        "logsumexp and softmax",
        lambda x: (jax.nn.logsumexp(x, 1), jax.nn.softmax(x), jax.nn.log_softmax(x, 0), jax.nn.standardize(x)),
        f32(4, 6, low=-20, high=20),
        roundings=16,
    ),
    program(
        "cumulative",
        lambda x: (
            jnp.cumsum(x, 1),
            jnp.cumprod(x, 0),
            jnp.cumulative_sum(x[0], include_initial=True),
            jnp.diff(x, 2),
            jnp.trapezoid(x),
        ),
        f32(4, 9),
        roundings=16,
    ),
    program(
        "any associative body",
        lambda x, i: (
            lax.reduce(x, 0.0, lambda a, b: a + b + a * b, ()),
            lax.reduce(
                (x, i), (-jnp.inf, 0), lambda a, b: (jnp.maximum(a[0], b[0]), jnp.where(a[0] > b[0], a[1], b[1])), (1,)
            ),
        ),
        f32(4, 5),
        i32(4, 5),
    ),
    program(
        "bitwise", lambda x: (lax.reduce_and(x, (0,)), lax.reduce_or(x, (1,)), lax.reduce_xor(x, (0, 1))), u32(4, 5)
    ),
    program(
        "half precision",
        lambda x, y: (x.sum(), y.sum(0), x.mean(), y.max()),
        typed("bfloat16", 4, 9),
        typed("float16", 4, 9),
        roundings=4,
    ),
    program(
        "reduce_window",
        lambda x: (
            lax.reduce_window(x, 0.0, lax.add, (2, 3), (1, 2), "SAME"),
            lax.reduce_window(
                x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID", base_dilation=(2, 1), window_dilation=(1, 2)
            ),
        ),
        f32(6, 9),
    ),
)

kind(
    "Fourier transforms",
    program(
        "fft and ifft", lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x, 5), jnp.fft.fft(x, axis=0)), c64(3, 8), roundings=64
    ),
    program(
        "rfft and irfft",
        lambda x: (
            jnp.fft.rfft(x),
            jnp.fft.irfft(jnp.fft.rfft(x)),
            jnp.fft.irfft(jnp.fft.rfft(x), 7),
            jnp.fft.hfft(jnp.fft.rfft(x)),
        ),
        f32(3, 8),
        roundings=64,
    ),
    program(
        "odd and prime lengths", lambda x: [jnp.fft.fft(x[:n]) for n in (1, 3, 7, 11, 13, 17)], c64(17), roundings=64
    ),
    program(
        "fft2 and fftn",
        lambda x: (jnp.fft.fft2(x), jnp.fft.fftn(x), jnp.fft.ifft2(x), jnp.fft.rfftn(x.real), jnp.fft.irfft2(x)),
        c64(2, 4, 6),
        roundings=64,
    ),
    program(
        "shift and frequencies",
        lambda x: (jnp.fft.fftshift(x), jnp.fft.ifftshift(x), jnp.fft.fftfreq(7), jnp.fft.rfftfreq(8)),
        f32(4, 5),
    ),
    program("gradient", jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2)), f32(8), roundings=128),
    program("double", lambda x: (jnp.fft.fft(x), jnp.fft.rfft(x)), f64(10), roundings=64, x64=True),
    program(
        "fftconvolve",
        lambda x, k: (signal.fftconvolve(x, k, mode="same"), signal.fftconvolve(x, k)),
        f32(12),
        f32(5),
        roundings=128,
    ),
    program(
        "spectra",
        lambda x: (signal.stft(x, nperseg=8)[2], signal.welch(x, nperseg=8)[1], signal.csd(x, x * 2, nperseg=8)[1]),
        f32(32),
        roundings=256,
    ),
    program(
        "dct", lambda x: (jax.scipy.fft.dct(x), jax.scipy.fft.idct(x), jax.scipy.fft.dctn(x)), f32(3, 8), roundings=128
    ),
)

kind(
    "shapes",
    program(
        "reshape, transpose, flips",
        lambda x: (
            x.reshape(6, 4),
            x.reshape(-1),
            x.T,
            jnp.moveaxis(x, 0, 2),
            jnp.flip(x, (0, 2)),
            jnp.rot90(x),
            x.ravel("F"),
        ),
        f32(2, 3, 4),
    ),
    program(
        "join and split",
        lambda x, y: (
            jnp.concatenate([x, y], 1),
            jnp.stack([x, x], -1),
            jnp.split(x, 2),
            jnp.array_split(y, 3, 1),
            jnp.vstack([x, x]),
            jnp.dstack([x, x]),
        ),
        f32(4, 3),
        f32(4, 5),
    ),
    program(
        "repeat and tile",
        lambda x: (
            jnp.repeat(x, 3, 1),
            jnp.tile(x, (2, 3)),
            jnp.repeat(x, jnp.array([1, 0, 2]), axis=0, total_repeat_length=4),
            jnp.broadcast_to(x, (2, 3, 4)),
        ),
        f32(3, 4),
    ),
    program(
        "pads",
        lambda x: [
            jnp.pad(x, ((1, 2), (0, 3)), mode=m)
            for m in ("constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "linear_ramp")
        ],
        f32(4, 5),
        roundings=16,
    ),
    program(
        "lax.pad",
        lambda x: (lax.pad(x, 7.0, ((1, 2, 1), (-1, -1, 0))), lax.pad(x, 0.0, ((-2, 3, 2), (0, 0, 3)))),
        f32(5, 6),
    ),
    program(
        "triangles and diagonals",
        lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.diag(x), jnp.diagflat(x[0], 1), jnp.tri(3, 4), jnp.vander(x[0], 3)),
        f32(4, 4),
    ),
    program("roll", lambda x, n: (jnp.roll(x, n, 0), jnp.roll(x, (1, -2), (0, 1)), jnp.roll(x, 5)), f32(4, 5), i32()),
    program(
        "empty arrays",
        lambda x: (x.sum(), x @ jnp.ones((3, 2)), jnp.concatenate([x, x]), x.max(initial=3.0), jnp.sort(x)),
        f32(0, 3),
    ),
    program(
        "bits of types",
        lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8), x.view(jnp.uint16)),
        f32(3, 4),
    ),
    program("rearrange by einsum", lambda x: jnp.einsum("bhwc->bchw", x), f32(2, 3, 4, 5)),
    program("packbits", lambda x: (jnp.packbits(x), jnp.unpackbits(jnp.packbits(x))), boolean(19)),
    program(
        "ix and apply_along_axis",
        lambda x: (
            x[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 3]))],
            jnp.apply_along_axis(jnp.cumsum, 0, x),
            jnp.apply_over_axes(jnp.sum, x, [0]),
        ),
        f32(3, 4),
    ),
)

kind(
    "polynomials",
    program(
        "polyval, polymul, polyder",
        lambda p, x: (jnp.polyval(p, x), jnp.polymul(p, p), jnp.polyder(p), jnp.polyint(p), jnp.polyadd(p, p[1:])),
        f32(4),
        f32(5),
        roundings=32,
    ),
    program(
        "roots", lambda p: jnp.sort(jnp.abs(jnp.roots(p, strip_zeros=False))), f32(4, low=1, high=2), roundings=512
    ),
    program("polyfit", lambda x, y: jnp.polyfit(x, y, 2), f32(9), f32(9), roundings=2048),
    program(
        "horner by scan", lambda p, x: lax.scan(lambda c, a: (c * x + a, None), jnp.zeros_like(x), p)[0], f32(6), f32(4)
    ),
)
