"""Programs whose arguments, results and arithmetic are of other types than f32: bytes, bits, halves, wide and empty."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from .networks import NHWC
from .registry import f32, i32, model, typed


def u32(*shape: int) -> Any:
    return typed("uint32", *shape, low=0, high=2**32)


@model(u32(16), typed("uint64", 4, low=0, high=2**63), typed("uint8", 23, low=0, high=256), x64=True)
def hashes(block: Array, seed: Array, text: Array) -> Any:
    k = jnp.asarray(np.random.default_rng(1).integers(0, 2**32, 64).astype(np.uint32))

    def rotate(x: Array, n: int) -> Array:
        return (x >> n) | (x << (32 - n))

    def extend(w: Array, _: Any) -> Any:
        a = rotate(w[1], 7) ^ rotate(w[1], 18) ^ (w[1] >> 3)
        b = rotate(w[14], 17) ^ rotate(w[14], 19) ^ (w[14] >> 10)
        return jnp.concatenate([w[1:], (w[0] + a + w[9] + b)[None]]), w[0]

    words = lax.scan(extend, block, None, length=64)[1]

    def compress(i: Array, s: Array) -> Array:
        a, b, c, d, e, f, g, h = s
        one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + words[i]
        two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        return jnp.stack([one + two, a, b, c, d + one, e, f, g])

    def xorshift(s: Array, _: Any) -> Any:
        s = s ^ (s << 13)
        s = s ^ (s >> 7)
        s = s ^ (s << 17)
        return s, s * jnp.uint64(0x2545F4914F6CDD1D)

    murmur = lax.fori_loop(
        0, 23, lambda i, h: rotate(h ^ (text[i].astype(jnp.uint32) * jnp.uint32(0xCC9E2D51)), 19) * 5, jnp.uint32(7)
    )
    return (
        lax.fori_loop(0, 64, compress, jnp.arange(8, dtype=jnp.uint32) * 0x9E3779B9),
        lax.scan(xorshift, seed, None, length=5),
        murmur,
    )


@model(f32(), i32(), typed("bool", low=0, high=2), typed("int8", low=-100, high=100))
def scalars(x: Array, n: Array, flag: Array, small: Array) -> Any:
    return {
        "temperature": lax.cond(flag, lambda x: x * 9 / 5 + 32, lambda x: (x - 32) * 5 / 9, x),
        "count": n * n - small,
        "even": n % 2 == 0,
        "byte": small * small,
        "power": x**n,
        "half": x.astype(jnp.float16),
        "nested": [jnp.sinh(x), (jnp.float32(3.0), jnp.cbrt(x)), {"pi": jnp.pi * x}],
    }


@model(f32(0, 3), f32(4, 3), i32(0), typed("float32", 2, 0, 5))
def empty_arrays(none: Array, some: Array, places: Array, empty: Array) -> Any:
    return (
        jnp.concatenate([none, some, none]),
        none.sum(0),
        none.max(0, initial=-1.0),
        some[places],
        none @ some.T,
        jnp.einsum("abc,cd->bd", empty.transpose(1, 0, 2), jnp.ones((5, 2))),
        jnp.sort(none, 0),
        some.at[places].add(1.0),
        lax.fori_loop(0, 0, lambda _, v: v + 1, some),
        jnp.cumsum(none, 0),
        jnp.pad(none, ((1, 2), (0, 0))),
        lax.scan(lambda c, x: (c + x, c), jnp.zeros(3), none),
        empty.sum((1, 2)),
    )


@model(typed("float16", 4, 8), typed("bfloat16", 8, 6), typed("float16", 6), rtol=2e-2, atol=2e-2)
def half_arguments_and_results(x: Array, w: Array, b: Array) -> Any:
    y = jnp.tanh(x @ w.astype(jnp.float16) + b)
    return (
        y,
        w.sum(0),
        jax.nn.softmax(y.astype(jnp.bfloat16)),
        jnp.sort(b)[::-1],
        b.argmax(),
        (x > 0).sum(0),
        -w,
        x.max(1),
    )


@model(
    typed("uint8", 2, 9, 9, 3, low=0, high=256),
    typed("int8", 3, 3, 3, 4, low=-128, high=128),
    i32(4, low=-500, high=500),
    x64=True,
)
def fixed_point_convolution(image: Array, kernel: Array, bias: Array) -> Any:
    def scaled(x: Array, multiplier: int, shift: int) -> Array:
        product = x.astype(jnp.int64) * multiplier
        high = ((product + jnp.where(product >= 0, 1 << 30, 1 - (1 << 30))) // (1 << 31)).astype(jnp.int32)
        mask = (1 << shift) - 1
        rest = high & mask
        return (high >> shift) + (rest > (mask >> 1) + (high < 0)).astype(jnp.int32)

    centered = image.astype(jnp.int16) - 128
    acc = lax.conv_general_dilated(
        centered.astype(jnp.int32), kernel.astype(jnp.int32), (1, 1), "SAME", dimension_numbers=NHWC
    )
    q = jnp.clip(scaled(acc + bias, 1518500250, 8) - 4, -128, 127).astype(jnp.int8)
    pooled = lax.reduce_window(q, jnp.int8(-128), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    mean = lax.reduce_window(q.astype(jnp.int32), 0, lax.add, (1, 3, 3, 1), (1, 3, 3, 1), "VALID") // 9
    table = jnp.asarray(np.clip(np.round(127 * np.tanh(np.arange(-128, 128) / 40)), -128, 127).astype(np.int8))
    return q, pooled, mean.astype(jnp.int8), table[pooled.astype(jnp.int32) + 128], jnp.argmax(q.reshape(2, -1), 1)


@model(typed("int16", 50, low=-32768, high=32768), typed("uint16", 6, low=0, high=65536))
def audio_in_int16(sound: Array, gains: Array) -> Any:
    def codec(state: Array, x: Array) -> Any:
        delta = x.astype(jnp.int32) - state
        code = jnp.clip(delta >> 8, -8, 7).astype(jnp.int8)
        state = jnp.clip(state + (code.astype(jnp.int32) << 8), -32768, 32767)
        return state, (code, state.astype(jnp.int16))

    louder = jnp.clip(sound.astype(jnp.int32)[None] * gains.astype(jnp.int32)[:, None] >> 14, -32768, 32767).astype(
        jnp.int16
    )
    magnitude = jnp.abs(sound.astype(jnp.float32))
    mulaw = (jnp.sign(sound) * jnp.log1p(255 * magnitude / 32768) / jnp.log(256.0) * 127).round().astype(jnp.int8)
    return (
        louder,
        lax.scan(codec, jnp.int32(0), sound),
        jnp.sort(sound),
        gains[::-1] << 3,
        mulaw // 2,
        sound // 7,
        gains % 11,
        lax.clz(gains),
        lax.population_count(sound),
    )


@model(f32(4, 9), i32(4, 9, high=5), typed("uint8", 12, low=0, high=256), typed("bool", 4, 9, low=0, high=2))
def orders_and_bits(x: Array, keys: Array, data: Array, flags: Array) -> Any:
    packed = jnp.packbits(flags, axis=1)
    return (
        lax.sort((keys, x, jnp.broadcast_to(jnp.arange(9), (4, 9))), num_keys=2, dimension=1),
        lax.top_k(keys, 3),
        jnp.argsort(x, 0, descending=True),
        lax.bitcast_convert_type(data.reshape(3, 4), jnp.uint32),
        lax.bitcast_convert_type(x, jnp.uint8),
        lax.bitcast_convert_type(x, jnp.uint16),
        jnp.nextafter(x, 0.0),
        lax.reduce_precision(x, 5, 7),
        packed,
        jnp.unpackbits(packed, axis=1),
        jnp.partition(x, 4, axis=1).sum(),
        jnp.cumprod(x, 1),
        lax.cumlogsumexp(x, 1),
        lax.cummin(x, 1, reverse=True),
        jnp.frexp(x),
        jnp.ldexp(x, keys),
        jnp.signbit(x),
        jnp.nonzero(flags, size=10, fill_value=-1),
        jnp.where(flags.all(1), 1, flags.any(1)),
        lax.approx_max_k(x, 2)[0],
        jnp.lexsort(keys),
        jnp.diff(x, 2),
        jnp.roll(keys, (1, -2), (0, 1)),
        jnp.take_along_axis(x, keys, 1),
        jnp.rot90(x),
        jnp.tri(4, 9, dtype=jnp.int8),
        jnp.bitwise_count(data),
    )


@model(
    typed("int4", 8, 6, low=-8, high=8),
    typed("uint4", 6, low=0, high=16),
    typed("float8_e4m3fn", 4, 8),
    typed("float8_e5m2", 4),
    rtol=1e-2,
    atol=1e-2,
)
def tiny_types(w: Array, zero: Array, x: Array, scale: Array) -> Any:
    y = x.astype(jnp.float32) @ (w.astype(jnp.float32) - zero.astype(jnp.float32)) * scale.astype(jnp.float32)[:, None]
    return (
        y,
        y.astype(jnp.float8_e4m3fn),
        jnp.clip(y, -8, 7).astype(jnp.int4),
        jnp.clip(jnp.abs(y), 0, 15).astype(jnp.uint4),
        w.T,
        x[::-1],
        w > 0,
    )


@model(
    typed("int64", 8, low=-(2**62), high=2**62),
    typed("uint64", 8, low=1, high=2**40),
    typed("float64", 8),
    x64=True,
    rtol=1e-12,
    atol=1e-12,
)
def wide_numbers(a: Array, b: Array, x: Array) -> Any:
    def power(base: Array, exponent: Array, m: int) -> Array:
        def step(s: Any) -> Any:
            r, b, e = s
            return jnp.where(e % 2 == 1, r * b % m, r), b * b % m, e // 2

        return lax.while_loop(lambda s: (s[2] > 0).any(), step, (jnp.ones_like(base), base % m, exponent))[0]

    return (
        a // 1000003,
        a % 1000003,
        b % 97,
        b // 12345,
        power(b, b, 2**31 - 1),
        a * a,
        b * b,
        a.astype(jnp.float64),
        b.astype(jnp.float32),
        (x * 1e15).astype(jnp.int64),
        jnp.sort(a),
        lax.clz(b),
        a >> 33,
        b << 20,
        a.astype(jnp.int8),
        b.astype(jnp.uint16),
        jnp.cumsum(a),
        a.min(),
        jnp.argmax(b),
        lax.bitcast_convert_type(x, jnp.int64),
        jnp.gcd(a, 360360),
        jnp.exp(x),
        jnp.log1p(x),
        jnp.tan(x),
        jax.scipy.special.erf(x),
        jnp.arctan2(x, x[::-1]),
        jnp.cbrt(x),
        x**3.5,
        jnp.fmod(a, 77),
        jnp.floor_divide(x, 0.3),
        jnp.linspace(0, x, 3),
    )


@model(i32(4, high=100), f32(3, 3), f32(2, 2))
def passed_through(n: Array, x: Array, unused: Array) -> Any:
    big = jnp.asarray(np.random.default_rng(0).integers(0, 1000, (300, 70)).astype(np.int32))
    return n, x, n, x, big[n], jnp.eye(2), 7, True, (), {"a": x.T, "b": []}, big.sum(), jnp.arange(0), n
