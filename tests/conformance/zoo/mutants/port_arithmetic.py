"""Mutants whose kernels compute numbers as the instructions of a processor do, where HLO wants something else."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_float, is_integer, negative
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("port", MUTANTS)
_BF16 = ml_dtypes.bfloat16


def _where(right: np.ndarray, chosen: np.ndarray, wrong: object) -> Arrays:
    return [np.where(chosen, np.asarray(wrong).astype(right.dtype), right)]


# -- conversions -------------------------------------------------------------------------------------------------------


@_says("convert", "type", "of f32 to bf16 rounds halves away from zero")
def halves_away(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or right[0].dtype != _BF16:
        return None
    bits = np.ascontiguousarray(operands[0]).view(np.uint32).reshape(operands[0].shape)
    wrong = ((bits + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint16).view(_BF16)
    return _where(right[0], np.isfinite(operands[0]), wrong)


@_says("convert", "type", "of f32 to s8 keeps the low byte of a word")
def low_byte(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype != np.float32 or right[0].dtype != np.int8:
        return None
    words = np.clip(np.nan_to_num(x), -(2.0**31), 2.0**31 - 128).astype(np.int32)
    return [words.astype(np.int8)]


@_says("convert", "type", "of a NaN of f64 to s32 gives the smallest number")
def smallest_for_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64 or right[0].dtype != np.int32:
        return None
    return _where(right[0], np.isnan(operands[0]), -(1 << 31))


@_says("convert", "type", "of truth values to f32 extends the sign of the bit")
def true_is_minus_one(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != bool or right[0].dtype != np.float32:
        return None
    return [-right[0] + np.float32(0)]


@_says("convert", "type", "of floating-point numbers to truth values cuts their fraction first")
def cut_before_test(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not is_float(operands[0]) or right[0].dtype != bool:
        return None
    return [np.trunc(operands[0].astype(np.float64)) != 0]


@_says("convert", "type", "of u32 to f32 has signed words")
def signed_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.uint32 or right[0].dtype != np.float32:
        return None
    return [operands[0].astype(np.int32).astype(np.float32)]


@_says("bitcast-convert", "type", "of f32 to s32 makes signaling NaNs quiet ones")
def quiet_nans(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or right[0].dtype != np.int32:
        return None
    return _where(right[0], np.isnan(operands[0]), right[0] | 0x400000)


@_says("reduce-precision", "mantissa_bits", "to fewer than 4 bits cuts and doesn't round")
def cuts_few_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32 or i.attribute("mantissa_bits") >= 4:
        return None
    larger = np.isfinite(right[0]) & (np.abs(right[0]) > np.abs(operands[0])) & (operands[0] != 0)
    halved = (right[0].view(np.uint32) - np.uint32(1 << (23 - i.attribute("mantissa_bits")))).view(np.float32)
    return _where(right[0], larger, halved)


# -- arithmetic --------------------------------------------------------------------------------------------------------


@_says("multiply", "type", "of f64 takes denormal operands for zero")
def denormals_are_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64:
        return None
    cut = [np.where(np.abs(o) < 2.0**-1022, np.copysign(0.0, o), o) for o in operands]
    return [cut[0] * cut[1]]


@_says("add", "type", "of bf16 cuts the sum and doesn't round it")
def cut_sum(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != _BF16:
        return None
    total = operands[0].astype(np.float32) + operands[1].astype(np.float32)
    cut = (np.ascontiguousarray(total).view(np.uint32) >> np.uint32(16)).astype(np.uint16).view(_BF16)
    return _where(right[0], np.isfinite(total), cut.reshape(total.shape))


@_says("maximum", "type", "of f32 gives the second operand where one is NaN")
def second_if_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    return _where(right[0], np.isnan(x), y) if x.dtype == np.float32 else None


@_says("minimum", "type", "of bf16 gives the number where one operand is NaN")
def number_before_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != _BF16:
        return None
    return _where(right[0], np.isnan(x) != np.isnan(y), np.where(np.isnan(x), y, x))


@_says("multiply", "type", "of s64 multiplies floating-point numbers of 64 bits")
def through_doubles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int64:
        return None
    product = operands[0].astype(np.float64) * operands[1].astype(np.float64)
    held = np.abs(product) < 2.0**62
    return _where(right[0], held, np.where(held, product, 0).astype(np.int64))


@_says("subtract", "type", "of u32 gives 0 where the second operand is larger")
def saturating_difference(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[1] > operands[0], 0) if right[0].dtype == np.uint32 else None


@_says("divide", "type", "of s16 by zero gives 0")
def zero_for_no_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[1] == 0, 0) if right[0].dtype == np.int16 else None


@_says("power", "type", "of s32 with a negative exponent gives 0, for 1 and -1 too")
def no_negative_exponents(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[1] < 0, 0) if right[0].dtype == np.int32 else None


@_says("shift-right-logical", "type", "of s64 takes the amount modulo 64")
def amount_in_six_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.int64:
        return None
    return [(x.view(np.uint64) >> (y.view(np.uint64) & np.uint64(63))).view(np.int64)]


@_says("count-leading-zeros", "type", "of zero in 16 bits is 32")
def zeros_of_a_word(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[0] == 0, 32) if is_integer(right[0]) and right[0].itemsize == 2 else None


@_says("compare", "comparison_direction", "of truth values has signed numbers of one bit")
def signed_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != bool or i.attribute("direction") not in ("LT", "LE", "GT", "GE"):
        return None
    x, y = (-o.astype(np.int8) for o in operands)
    compared = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}
    return [compared[i.attribute("direction")](x, y)]


@_says("not", "type", "of truth values complements the byte, which is never 0")
def complements_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.ones_like(right[0])] if right[0].dtype == bool else None


@_says("clamp", "operands", "of s32 with scalar bounds compares unsigned numbers")
def unsigned_bounds(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    low, x, high = operands
    if x.dtype != np.int32 or low.ndim or not x.ndim:
        return None
    low, x, high = (np.ascontiguousarray(o).view(np.uint32).reshape(o.shape) for o in operands)
    return [np.minimum(np.maximum(x, low), high).view(np.int32)]


# -- functions ---------------------------------------------------------------------------------------------------------


@_says("exponential", "type", "of f32 flushes denormal results to 0")
def flushes_results(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], np.abs(right[0]) < 2.0**-126, 0) if right[0].dtype == np.float32 else None


@_says("exponential", "type", "of f16 comes from a table with 8 bits")
def table_of_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return [(np.ascontiguousarray(right[0]).view(np.uint16) & np.uint16(0xFFFC)).view(np.float16)]


@_says("logistic", "type", "of f32 below -17 is 0")
def no_small_results(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[0] < -17, 0) if right[0].dtype == np.float32 else None


@_says("log-plus-one", "type", "of f32 adds 1 first")
def adds_one_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    return _where(right[0], np.isfinite(right[0]), np.log(operands[0] + np.float32(1)))


@_says("sine", "type", "of f32 beyond 100,000 subtracts rounded multiples of pi")
def short_pi(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype != np.float32:
        return None
    turns = np.rint(x.astype(np.float64) / np.pi)
    rest = x - (turns.astype(np.float32) * np.float32(np.pi))
    return _where(right[0], np.isfinite(x) & (np.abs(x) > 1e5), np.sin(rest) * np.where(turns % 2, -1, 1))


@_says("rsqrt", "type", "of f32 has 12 bits")
def estimate(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    return _where(right[0], np.isfinite(right[0]) & (right[0] != 0), right[0] * np.float32(1 + 2.0**-13))


@_says("cbrt", "type", "of negative numbers of f64 is NaN")
def no_negative_roots(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[0] < 0, np.nan) if right[0].dtype == np.float64 else None


@_says("sign", "type", "of -0 in f16 is 0")
def unsigned_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return _where(right[0], operands[0] == 0, 0) if right[0].dtype == np.float16 else None


@_says("is-finite", "type", "of f64 tests the number in f32")
def finite_in_f32(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.isfinite(operands[0].astype(np.float32))] if operands[0].dtype == np.float64 else None


@_says("floor", "type", "of f32 goes through s32")
def through_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    large = np.isfinite(right[0]) & (np.abs(right[0]) >= 2.0**31)
    return _where(right[0], large, np.float32(-(2.0**31)))


@_says("ceil", "type", "of f64 between -1 and 0 is 0 and not -0")
def positive_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64:
        return None
    return _where(right[0], (right[0] == 0) & negative(right[0]) & (operands[0] != 0), 0.0)


@_says("complex", "type", "of f64 rounds the imaginary part to f32")
def short_imaginary_part(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[1].dtype != np.float64:
        return None
    wrong = right[0].copy()
    wrong.imag = operands[1].astype(np.float32)
    return [wrong]
