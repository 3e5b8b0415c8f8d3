"""Elementwise functions over every element type that JAX has by default."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from .registry import boolean, c64, f32, i32, program, typed, u32

Tree = Any


@program(f32(4, 33, low=-6, high=6), f32(4, 33, low=0.01, high=20), f32(4, 33))
def elementwise(x: Array, positive: Array, unit: Array) -> Tree:
    anywhere = (jnp.exp, jnp.expm1, jnp.sin, jnp.cos, jnp.tanh, jnp.arctan, jnp.sinh, jnp.cosh, jnp.abs, jnp.negative)
    above_zero = (jnp.log, jnp.log1p, jnp.sqrt, lax.rsqrt, jnp.cbrt, jnp.exp2, jnp.log2)
    within_one = (jnp.arcsin, jnp.arccos, jnp.arctanh, jnp.arcsinh, jnp.tan, jnp.square, jnp.reciprocal)
    return (
        [f(x) for f in anywhere],
        [f(positive) for f in above_zero],
        [f(unit) for f in within_one],
        jax.nn.sigmoid(x),
        jnp.power(positive, unit),
        jnp.arctan2(x, unit),
        jnp.hypot(x, positive),
        lax.integer_pow(x, 3),
        jnp.fmod(x, positive),
        jnp.remainder(x, positive),
        jnp.floor_divide(x, positive),
    )


@program(f32(40, low=-3, high=3), f32(40, low=0.1, high=9), f32(40, low=-0.95, high=0.95), rtol=2e-5)
def special_functions(x: Array, positive: Array, unit: Array) -> Tree:
    return (
        lax.erf(x),
        lax.erfc(x),
        lax.erf_inv(unit),
        lax.lgamma(positive),
        lax.digamma(positive),
        jax.nn.gelu(x, approximate=False),
        jax.scipy.stats.norm.cdf(x),
    )


@program(f32(24, low=-7, high=7), frames=0)
def activations(x: Array) -> Tree:
    functions = (
        *(jax.nn.relu, jax.nn.relu6, jax.nn.leaky_relu, jax.nn.elu, jax.nn.selu, jax.nn.silu, jax.nn.gelu),
        *(jax.nn.softplus, jax.nn.hard_tanh, jax.nn.hard_sigmoid, jax.nn.log_sigmoid, jax.nn.mish),
    )
    return [(f(x), jax.grad(lambda x, f=f: jnp.sum(f(x)))(x)) for f in functions]


@program(f32(30, low=-4, high=4))
def rounding(x: Array) -> Tree:
    halves = jnp.round(x * 2) / 2
    return (
        jnp.floor(x),
        jnp.ceil(x),
        jnp.trunc(x),
        jnp.round(halves),
        lax.round(halves, lax.RoundingMethod.AWAY_FROM_ZERO),
        jnp.sign(x),
        lax.reduce_precision(x, 8, 7),
        lax.reduce_precision(x, 5, 2),
        jnp.nextafter(x, jnp.float32(9)),
        jnp.modf(x),
        jnp.frexp(x),
        jnp.ldexp(x, 3),
        jnp.isfinite(1.0 / jnp.trunc(x)),
        jnp.copysign(x, -1.0),
    )


@program(
    i32(12, low=-(2**31), high=2**31),
    i32(12, low=-40, high=40),
    typed("int8", 12, low=-128, high=128),
    typed("int8", 12, low=-128, high=128),
    u32(12),
    u32(12, low=0, high=99),
    typed("uint16", 12, low=0, high=2**16),
)
def integers(a: Array, b: Array, c: Array, d: Array, e: Array, f: Array, g: Array) -> Tree:
    """Wrap-around, division toward zero, division and remainder by zero as XLA defines them, and shifts."""
    return (
        *(a + b, a * b, a - b, -a, lax.abs(a), lax.div(a, b), lax.rem(a, b), a // b, a % b),
        *(c + d, c * d, lax.div(c, d), lax.rem(c, d), jnp.minimum(c, d), jnp.maximum(c, d), jnp.sign(c)),
        *(e + f, e * f, lax.div(e, f), lax.rem(e, f), g * g, g - jnp.uint16(1)),
        *(lax.integer_pow(b, 3), jnp.power(b, jnp.abs(c).astype(jnp.int32) % 4), jnp.gcd(b, b[::-1])),
        *(a < b, e % 50 >= f, c % 2 == d % 2, jnp.abs(d)),
    )


@program(i32(12, low=-(2**31), high=2**31), u32(12), u32(12, low=0, high=40), typed("uint8", 12, low=0, high=256))
def bits(a: Array, b: Array, amount: Array, small: Array) -> Tree:
    signed_amount = amount.astype(jnp.int32)
    return (
        *(a & 0xFF, b | 1, b ^ (b >> 3), ~a, ~small),
        *(lax.shift_left(b, amount), lax.shift_right_logical(b, amount), lax.shift_right_arithmetic(a, signed_amount)),
        *(lax.shift_right_logical(a, signed_amount), small << jnp.uint8(3), small >> jnp.uint8(9)),
        *(lax.population_count(b), lax.clz(b), lax.population_count(small), lax.clz(small)),
        lax.bitcast_convert_type(b & 0x3FFFFFFF, jnp.float32),
        lax.bitcast_convert_type(a, jnp.uint8),
        lax.bitcast_convert_type(small.reshape(3, 4), jnp.uint32),
        jnp.unpackbits(small),
    )


@program(boolean(3, 5), boolean(3, 5), f32(3, 5))
def booleans(a: Array, b: Array, x: Array) -> Tree:
    return (
        a & b,
        a | b,
        a ^ b,
        ~a,
        a == b,
        a < b,
        x * a,
        jnp.where(a, b, ~b),
        jnp.logical_not(jnp.trunc(2 * x)),
        a.astype(jnp.int8),
    )


@program(
    f32(12, low=-300, high=300),
    i32(12, low=-70000, high=70000),
    typed("uint8", 12, low=0, high=256),
    typed("bfloat16", 12, low=-9, high=9),
    typed("float16", 12, low=-9, high=9),
)
def conversions(x: Array, n: Array, small: Array, brain: Array, half: Array) -> Tree:
    """Between all types; values out of range saturate from float to integer and wrap between integers."""
    return (
        [x.astype(t) for t in ("int32", "int8", "uint8", "int16", "bfloat16", "float16", "complex64")],
        [n.astype(t) for t in ("float32", "int8", "uint16", "bfloat16", "float16", "uint32")],
        [small.astype(t) for t in ("float32", "int8", "int32", "float16")],
        [brain.astype(t) for t in ("float32", "float16", "int32")],
        [half.astype(t) for t in ("float32", "bfloat16", "uint8", "int32")],
        [v.astype(bool) for v in (jnp.trunc(x / 200), n % 3, small % 2, jnp.trunc(brain / 5), jnp.trunc(half / 5))],
    )


@program(typed("bfloat16", 6, 8), typed("bfloat16", 8, 4), rtol=2e-2, atol=2e-2)
def bfloat16(x: Array, w: Array) -> Tree:
    y = jax.nn.gelu(x @ w)
    return y, jax.nn.softmax(y), jnp.sum(x, axis=1), x * 3 - 1, jnp.max(x, axis=0), jnp.exp(x), jnp.cumsum(x[:, 0])


@program(typed("float16", 6, 8), typed("float16", 8, 4), rtol=2e-3, atol=2e-3)
def float16(x: Array, w: Array) -> Tree:
    y = jnp.tanh(x @ w)
    return y, jax.nn.softmax(y), jnp.mean(x, axis=1), x * 3 - 1, jnp.argmax(x, axis=0), jnp.sqrt(jnp.abs(x))


@program(typed("float64", 4, 6), typed("int64", 4, 6, low=-(2**40), high=2**40), x64=True, rtol=1e-12, atol=1e-12)
def float64_and_int64(x: Array, n: Array) -> Tree:
    return (
        jnp.tanh(x) @ jnp.exp(x).T,
        jnp.log1p(x * x),
        jnp.sum(n, axis=1),
        n * n,
        n // 7,
        jnp.argmax(x, axis=1),
        jnp.cumsum(x, axis=1),
        x.astype(jnp.float32),
        n.astype(jnp.float64),
        jnp.sort(x, axis=1),
        jax.grad(lambda x: jnp.sum(jax.nn.logsumexp(x, axis=1)))(x),
        lax.bitcast_convert_type(x, jnp.int64),
        n.astype(jnp.uint64) >> jnp.uint64(5),
    )


@program(c64(5, 6), c64(5, 6), f32(5, 6))
def complex_numbers(x: Array, y: Array, r: Array) -> Tree:
    return (
        *(x * y, x / y, x + r, jnp.conj(x), jnp.real(x), jnp.imag(x), jnp.abs(x), jnp.angle(x)),
        *(jnp.exp(x), jnp.log(x), jnp.sqrt(x), jnp.sin(x), jnp.tanh(x), x**2, lax.complex(r, r[::-1])),
        *(x @ y.T, jnp.sum(x, axis=0), jnp.prod(y, axis=1), x == jnp.where(r > 0, x, y), jnp.where(r > 0, x, y)),
        jax.grad(lambda r: jnp.sum(jnp.abs(jnp.exp(1j * r) + x) ** 2))(r),
    )


@program(f32(3, 16), c64(2, 12), f32(4, 6), f32(3, 16), atol=1e-4)
def fourier(x: Array, z: Array, image: Array, kernel: Array) -> Tree:
    spectrum = jnp.fft.rfft(x) * jnp.fft.rfft(kernel)
    return (
        jnp.fft.fft(z),
        jnp.fft.ifft(z),
        jnp.fft.irfft(spectrum, 16),
        jnp.fft.fft2(image),
        jnp.fft.irfftn(jnp.fft.rfftn(image), (4, 6)),
        jnp.fft.fftshift(jnp.fft.fftfreq(8)),
        jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2))(x),
    )


@program(typed("float8_e4m3fn", 4, 8, low=-4, high=4), typed("float8_e5m2", 8, 3, low=-4, high=4), rtol=1e-2, atol=1e-2)
def float8(a: Array, b: Array) -> Tree:
    wide_a, wide_b = a.astype(jnp.float32), b.astype(jnp.float32)
    return wide_a @ wide_b, (wide_a * 0.3).astype(jnp.float8_e4m3fn), (wide_b * 3).astype(jnp.float8_e5m2)


@program(f32(4, 5, low=-9, high=9), typed("int4", 4, 5, low=-8, high=8))
def quantized_weights(x: Array, w: Array) -> Tree:
    """Weight-only int4, and symmetric int8 quantization of activations with round and clamp."""
    scale = jnp.max(jnp.abs(x), axis=1, keepdims=True) / 127.0
    q = jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8)
    y = lax.dot_general(q, w.astype(jnp.int8), (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)
    return y, y.astype(jnp.float32) * scale, (w + w).astype(jnp.int32)
