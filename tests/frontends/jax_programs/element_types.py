"""Element types narrow and wide, bits, conversions."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

from tests.frontends.jax_programs.table import boolean, c64, f32, i32, kind, program, typed

f64 = functools.partial(typed, "float64")


INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


def whole(dtype, *shape):
    info = jnp.iinfo(dtype)
    return typed(dtype, *shape, low=int(info.min), high=int(info.max) + 1)


kind(
    "integers and bits",
    *(
        program(
            f"arithmetic of {t}",
            lambda a, b: (
                a + b,
                a - b,
                a * b,
                a // b,
                a % b,
                lax.div(a, b),
                lax.rem(a, b),
                -a,
                abs(a),
                jnp.sign(a),
                a**2,
                jnp.minimum(a, b),
                jnp.clip(a, 3, 50),
            ),
            whole(t, 40),
            whole(t, 40),
        )
        for t in INTEGERS
    ),
    *(
        program(
            f"bits of {t}",
            lambda a, b: (
                a & b,
                a | b,
                a ^ b,
                ~a,
                a << (b & 7),
                a >> (b & 7),
                lax.shift_right_logical(a, b & 7),
                lax.population_count(a),
                lax.clz(a),
                jnp.bitwise_count(a),
            ),
            whole(t, 40),
            whole(t, 40),
        )
        for t in INTEGERS
    ),
    program(
        "division by zero and overflow",
        lambda a: (
            lax.div(a, a * 0),
            lax.rem(a, a * 0),
            lax.div(jnp.full_like(a, -(2**31)), jnp.full_like(a, -1)),
            lax.rem(jnp.full_like(a, -(2**31)), jnp.full_like(a, -1)),
        ),
        i32(4, low=-5, high=5),
    ),
    program(
        "shifts out of range",
        lambda a, n: (lax.shift_left(a, n), lax.shift_right_logical(a, n), lax.shift_right_arithmetic(a, n)),
        i32(40, low=-(2**31), high=2**31),
        i32(40, low=-3, high=40),
    ),
    program(
        "64 bits",
        lambda a, b: (
            a * b,
            a // b,
            a % b,
            lax.clz(a),
            lax.population_count(b),
            a >> 40,
            a.astype(jnp.int32),
            a.astype(jnp.float32),
        ),
        typed("int64", 20, low=-(2**62), high=2**62),
        typed("int64", 20, low=1, high=2**40),
        x64=True,
    ),
    program(
        "gcd and lcm",
        lambda a, b: (jnp.gcd(a, b), jnp.lcm(a, b), jnp.isin(a, b), jnp.bitwise_left_shift(a, 2)),
        i32(9, low=1, high=99),
        i32(9, low=1, high=99),
    ),
    program(
        "booleans",
        lambda a, b: (
            a & b,
            a | b,
            a ^ b,
            ~a,
            jnp.logical_xor(a, b),
            a + b,
            a * b,
            a.astype(jnp.float32),
            jnp.where(a, 1, 2),
            a < b,
            a.sum(),
        ),
        boolean(12),
        boolean(12),
    ),
)

FLOATS8 = (
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3b11fnuz",
    "float8_e4m3",
    "float8_e3m4",
    "float8_e8m0fnu",
)

kind(
    "float8, float4 and float6",
    *(
        program(
            f"casts of {t}",
            lambda x, t=t: (
                x.astype(t),
                x.astype(t).astype(jnp.float32),
                x.astype(jnp.bfloat16).astype(t).astype(jnp.float16),
                lax.bitcast_convert_type(x.astype(t), jnp.uint8),
            ),
            f32(300, low=-500, high=500),
            exact=True,
        )
        for t in FLOATS8
    ),
    *(
        program(
            f"arithmetic of {t}",
            lambda a, b: (a + b, a * b, a - b, a / b, -a, jnp.maximum(a, b), a < b, jnp.abs(a)),
            typed(t, 200, low=-8, high=8),
            typed(t, 200, low=-8, high=8),
            exact=True,
        )
        for t in FLOATS8[:-1]
    ),
    *(
        program(
            f"dot of {t}",
            lambda a, b: (lax.dot(a, b, preferred_element_type=jnp.float32), lax.dot(a, b)),
            typed(t, 8, 16, low=-2, high=2),
            typed(t, 16, 8, low=-2, high=2),
            roundings=16,
        )
        for t in FLOATS8[:3]
    ),
    program(
        "float4 casts",
        lambda x: (x.astype("float4_e2m1fn").astype(jnp.float32), x.astype("float4_e2m1fn")),
        f32(64, low=-8, high=8),
        exact=True,
    ),
    program(
        "scaled dot",
        lambda a, b: (
            lax.dot_general(
                (a * 4).astype(jnp.float8_e4m3fn),
                (b * 4).astype(jnp.float8_e4m3fn),
                (((1,), (0,)), ((), ())),
                preferred_element_type=jnp.float32,
            )
            / 16
        ),
        f32(8, 16),
        f32(16, 8),
        roundings=16,
    ),
    program(
        "mixed dot",
        lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32),
        typed("float8_e4m3fn", 4, 8),
        typed("float8_e5m2", 8, 4),
        roundings=16,
    ),
)

kind(
    "int4 and int2",
    program(
        "casts",
        lambda x: (
            x.astype(jnp.int4),
            x.astype(jnp.uint4),
            x.astype(jnp.int4).astype(jnp.int8),
            x.astype(jnp.uint4).astype(jnp.float32),
        ),
        i32(40, low=-20, high=20),
    ),
    program(
        "arithmetic",
        lambda a, b: (a + b, a * b, a - b, -a, jnp.maximum(a, b), a < b),
        typed("int4", 40, low=-8, high=8),
        typed("int4", 40, low=-8, high=8),
    ),
    program(
        "weights", lambda x, w: x @ w.astype(jnp.float32), f32(4, 9), typed("int4", 9, 5, low=-8, high=8), roundings=16
    ),
    program(
        "unsigned",
        lambda a, b: (a + b, a * b, a & b, a.reshape(3, 5).T, a[::2]),
        typed("uint4", 15, low=0, high=16),
        typed("uint4", 15, low=0, high=16),
    ),
    program("int2", lambda a: (a.astype(jnp.int8), a.astype(jnp.float32)), typed("int2", 9, low=-2, high=2)),
    program(
        "dot",
        lambda a, b: lax.dot(a.astype(jnp.int8), b.astype(jnp.int8), preferred_element_type=jnp.int32),
        typed("int4", 5, 7, low=-8, high=8),
        typed("int4", 7, 3, low=-8, high=8),
    ),
)

kind(
    "half precision",
    program(
        "bfloat16",
        lambda x, y: (x + y, x * y, x / y, jnp.exp(x), jnp.tanh(x), x.astype(jnp.float32), jnp.sqrt(jnp.abs(x))),
        typed("bfloat16", 40),
        typed("bfloat16", 40),
        roundings=2,
    ),
    program(
        "float16",
        lambda x, y: (x + y, x * y, x / y, jnp.exp(x), jnp.tanh(x), x.astype(jnp.float32), jnp.sin(x)),
        typed("float16", 40),
        typed("float16", 40),
        roundings=2,
    ),
    program(
        "mixed precision step",
        lambda w, x: jax.grad(lambda w: (x @ w.astype(jnp.bfloat16)).astype(jnp.float32).var())(w),
        f32(6, 4),
        typed("bfloat16", 8, 6),
        roundings=2**17,
    ),
    program(
        "reduce_precision",
        lambda x: [lax.reduce_precision(x, e, m) for e, m in ((5, 10), (8, 7), (4, 3), (5, 2), (8, 0), (2, 1))],
        f32(200, low=-99, high=99),
        exact=True,
    ),
    program(
        "finfo and casts",
        lambda x: (
            x.astype(jnp.bfloat16),
            x.astype(jnp.float16),
            (x * 1e6).astype(jnp.float16),
            x.astype(jnp.int8),
            x.astype(jnp.uint8),
        ),
        f32(40, low=0, high=100),
        exact=True,
    ),
)

kind(
    "complex numbers",
    program(
        "arithmetic",
        lambda a, b: (a + b, a * b, a / b, a.conj(), a.real, a.imag, jnp.abs(a), jnp.angle(a), a**2, a == b, -a),
        c64(20),
        c64(20),
        roundings=16,
    ),
    program(
        "functions",
        lambda a: [
            f(a)
            for f in (
                jnp.exp,
                jnp.log,
                jnp.sqrt,
                jnp.sin,
                jnp.cos,
                jnp.tan,
                jnp.tanh,
                jnp.sinh,
                jnp.cosh,
                jnp.expm1,
                jnp.log1p,
                lax.rsqrt,
            )
        ],
        c64(20),
        roundings=32,
    ),
    program(
        "inverse functions",
        lambda a: [f(a) for f in (jnp.arcsin, jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.arccosh, jnp.arctanh)],
        c64(20),
        roundings=32,
    ),
    program(
        "powers and sign",
        lambda a, b: (jnp.power(a, b), a**0.5, jnp.sign(a), jnp.square(a), jnp.reciprocal(a), jnp.prod(a), jnp.sum(a)),
        c64(9),
        c64(9),
        roundings=64,
    ),
    program(
        "double",
        lambda a: [f(a) for f in (jnp.exp, jnp.log, jnp.sqrt, jnp.sin, jnp.tanh, jnp.arcsin)],
        typed("complex128", 20),
        roundings=32,
        x64=True,
    ),
    program("gradient", jax.grad(lambda a: jnp.sum(jnp.abs(jnp.exp(a) * a) ** 2)), c64(9), roundings=32),
)

kind(
    "64-bit mode",
    program(
        "everything double",
        lambda x: (jnp.sin(x), x @ x.T, x.sum(), jnp.arange(4), jnp.linspace(0, 1, 5), x.argmax(), jnp.cumsum(x, 1)),
        f64(4, 5),
        roundings=32,
        x64=True,
    ),
    program(
        "transcendental",
        lambda x: [
            f(x)
            for f in (jnp.exp, jnp.log1p, jnp.tan, jnp.arctan, jnp.cbrt, jnp.expm1, jnp.sinh, jnp.arcsinh, jnp.log2)
        ],
        f64(40, low=0.01, high=5),
        roundings=16,
        x64=True,
    ),
    program(
        "weak types",
        lambda x, i: (x * 2, i + 1.5, jnp.float32(3) * x, i / 3, i // 3),
        f64(4),
        typed("int64", 4, high=99),
        x64=True,
    ),
    program(
        "gradient", jax.grad(lambda x: jnp.sum(jax.nn.softmax(x @ x.T)[0] ** 2)), f64(4, 5), roundings=64, x64=True
    ),
)

kind(
    "conversions",
    program("float to integers", lambda x: [x.astype(t) for t in INTEGERS[:3]], f32(40, low=-100, high=100)),
    program(
        "saturation and NaN",
        lambda x: [
            lax.convert_element_type(x / jnp.trunc(x / 4) * 1e9, t) for t in ("int32", "uint32", "int8", "bool")
        ],
        f32(40, low=-9, high=9),
    ),
    program(
        "integers to floats",
        lambda i: [i.astype(t) for t in ("float32", "bfloat16", "float16", "complex64", "bool", "int8", "uint16")],
        i32(40, low=-(2**31), high=2**31),
    ),
    program(
        "bitcasts",
        lambda x: (
            lax.bitcast_convert_type(x, jnp.uint32),
            lax.bitcast_convert_type(x, jnp.int16),
            lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.uint8), jnp.float32),
        ),
        f32(9),
        exact=True,
    ),
)
