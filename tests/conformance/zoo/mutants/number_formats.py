"""Faults of number formats and functions: what holds for most numbers, for the next wider type, or away from the edges."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("format", MUTANTS)


@_says(
    "convert", "values", "of floats to 4-bit integers keeps the low four bits of an integer, where it has to saturate"
)
def low_four_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or right[0].dtype not in (ml_dtypes.int4, ml_dtypes.uint4):
        return None
    whole = np.trunc(np.clip(np.nan_to_num(operands[0], nan=0.0), -(2.0**31), 2.0**31 - 1)).astype(np.int64)
    return [(whole & 15).astype(np.uint8).astype(ml_dtypes.uint4).view(right[0].dtype)]


@_says("convert", "values", "of floats to f8e4m3fn gives the largest number for what is too large, not NaN")
def saturates(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != ml_dtypes.float8_e4m3fn or operands[0].dtype not in (
        np.float32,
        np.float16,
        ml_dtypes.bfloat16,
    ):
        return None
    values = operands[0].astype(np.float32)
    too_large = np.isnan(right[0].astype(np.float32)) & ~np.isnan(values)
    return [
        np.where(too_large, np.copysign(np.float32(448), values), right[0].astype(np.float32)).astype(right[0].dtype)
    ]


@_says("convert", "values", "of f8e5m2fnuz and f8e4m3fnuz reads the NaN, whose bits are those of -0 elsewhere, as 0")
def one_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype not in (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz):
        return None
    return [np.where(operands[0].view(np.uint8) == 0x80, np.zeros_like(right[0]), right[0])]


@_says("round-nearest-afz", "values", "of f32 cuts the sum with a half, which is 1 for the number below a half")
def adds_a_half(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    return [np.trunc(x + np.copysign(np.float32(0.5), x))] if x.dtype == np.float32 else None


@_says("divide", "values", "of u32 divides floats, whose 24 bits don't hold large numbers")
def divides_floats(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.uint32:
        return None
    quotient = np.trunc(x.astype(np.float32) / np.where(y == 0, 1, y).astype(np.float32))
    return [np.where(y == 0, right[0], np.minimum(quotient.astype(np.float64), 2.0**32 - 1).astype(np.uint32))]


@_says("power", "values", "of integers with a negative exponent is 1, as its loop takes no step")
def takes_no_step(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.where(operands[1] < 0, 1, right[0]).astype(right[0].dtype)] if operands[0].dtype.kind == "i" else None


@_says(
    "sqrt", "values", "of complex numbers looks at the sign of the imaginary part by a comparison, which takes -0 for 0"
)
def branch_cut(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype.kind != "c":
        return None
    on_cut = (x.imag == 0) & np.signbit(x.imag)
    return [np.where(on_cut, np.conj(right[0]), right[0]).astype(right[0].dtype)]


@_says(
    "tanh", "values", "of complex numbers divides a sine by a cosine, both of which are infinite for large real parts"
)
def infinite_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    return [(np.sinh(x) / np.cosh(x)).astype(x.dtype)] if x.dtype.kind == "c" else None


@_says("exponential", "values", "of f32 is the power of two of a product that is rounded to f32")
def rounded_product(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype != np.float32:
        return None
    product = (x * np.float32(1.4426950408889634)).astype(np.float32)
    return [np.exp2(product.astype(np.float64)).astype(np.float32)]


@_says(
    "count-leading-zeros",
    "values",
    "of s32 and u32 takes the exponent of a float, to which a number just below a power of two is rounded up",
)
def exponent_of_a_float(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype.itemsize != 4:
        return None
    exponents = (x.view(np.uint32).astype(np.float32).view(np.uint32) >> 23).astype(np.int64) - 127
    return [np.where(x == 0, 32, np.clip(31 - exponents, 0, 32)).astype(x.dtype)]


@_says("clamp", "values", "takes the lower bound last, which wins where the bounds are in the wrong order")
def lower_bound_last(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    low, x, high = operands
    wrong_order = np.broadcast_to(low > high, x.shape) & (x == x)
    return [np.where(wrong_order, np.broadcast_to(low, x.shape), right[0])]


@_says(
    "reduce-precision",
    "exponent_bits",
    "looks for overflow before it rounds: what rounding carries beyond the largest number stays finite",
)
def overflow_before_rounding(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, bits = operands[0], i.attribute("exponent_bits")
    if x.dtype != np.float32 or bits >= 8:
        return None
    limit = 2.0 ** (1 << (bits - 1))
    carried = np.isinf(right[0]) & (np.abs(x.astype(np.float64)) < limit)
    return [np.where(carried, np.copysign(limit, x), right[0]).astype(np.float32)]


@_says("cholesky", "lower", "takes half the sum of the matrix and its transpose, and so reads the other triangle")
def both_triangles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype not in (np.float32, np.float64):
        return None
    return recomputed(i, [((x + np.swapaxes(x, -1, -2)) / 2).astype(x.dtype)], right)


@_says("bitcast-convert", "shape", "to a narrower type gives the high part first")
def high_part_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.ascontiguousarray(right[0][..., ::-1])] if right[0].ndim > operands[0].ndim else None
