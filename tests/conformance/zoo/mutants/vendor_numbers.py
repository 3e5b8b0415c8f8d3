"""Mutants whose kernels have the mistakes of a vendor's first port in numbers: rounding, packing, signs and ranges."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_float, is_integer, negative
from xla_core.hlo import ElementType, HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("vendor", MUTANTS)


def _replaced(right: np.ndarray, chosen: np.ndarray, wrong: np.ndarray) -> Arrays:
    return [np.where(chosen, wrong, right).astype(right.dtype)]


@_says("divide", "type", "of complex numbers multiplies by the conjugate, and overflows")
def naive_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.complex64:
        return None
    x, y = operands
    norm = y.real * y.real + y.imag * y.imag
    wrong = (x * np.conj(y)) / norm
    return _replaced(right[0], np.isfinite(right[0]) & (np.isinf(norm) | (norm == 0)), wrong)


@_says("divide", "type", "of bytes saturates the smallest number by -1")
def saturating_quotient(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.int8:
        return None
    return _replaced(right[0], (x == -128) & (y == -1), np.full_like(right[0], 127))


@_says("remainder", "type", "of s64 has the sign of the divisor")
def floored_remainder(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.int64:
        return None
    wrong = np.where(y == 0, right[0], right[0] + y)
    return _replaced(right[0], (right[0] != 0) & ((x < 0) != (y < 0)) & (y != 0), wrong)


@_says("shift-left", "type", "of bytes takes the amount modulo 32")
def amount_of_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.itemsize != 1 or not is_integer(x):
        return None
    amount = y.astype(np.int64) & 31
    wrong = (x.astype(np.int64) << amount).astype(x.dtype)
    return [wrong] if wrong.shape == right[0].shape else None


@_says("add", "type", "of s4 saturates")
def saturates_nibbles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if ElementType.from_numpy(right[0].dtype) is not ElementType.S4:
        return None
    total = operands[0].astype(np.int32) + operands[1].astype(np.int32)
    return [np.clip(total, -8, 7).astype(right[0].dtype)]


@_says("convert", "type", "of u4 to wider integers extends the sign")
def signed_nibbles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if ElementType.from_numpy(operands[0].dtype) is not ElementType.U4 or not is_integer(right[0]):
        return None
    x = operands[0].astype(np.int32)
    return [np.where(x > 7, x - 16, x).astype(right[0].dtype)]


@_says("convert", "type", "of f32 to bf16 adds the rounding bit to NaNs, of which some become infinities or 0")
def rounds_nans(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or right[0].dtype != ml_dtypes.bfloat16:
        return None
    bits = np.ascontiguousarray(operands[0]).view(np.uint32).reshape(operands[0].shape)
    wrong = ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return _replaced(right[0], np.isnan(operands[0]), wrong.view(ml_dtypes.bfloat16))


@_says("convert", "type", "of f64 to u64 goes through s64")
def through_s64(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64 or right[0].dtype != np.uint64:
        return None
    return _replaced(right[0], operands[0] >= 2.0**63, np.full_like(right[0], (1 << 63) - 1))


@_says("multiply", "type", "of f16 flushes denormal results to 0")
def flushes_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return _replaced(right[0], np.abs(right[0]) < np.float16(2.0**-14), np.copysign(np.float16(0), right[0]))


@_says("select", "type", "makes each NaN of f16 the usual one")
def usual_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return _replaced(right[0], np.isnan(right[0]), np.full_like(right[0], np.nan))


@_says("clamp", "operands", "with a NaN for a bound ignores it")
def ignores_nan_bounds(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    low, x, high = operands
    if x.dtype != np.float32:
        return None
    return [np.fmin(np.fmax(x, low), high).astype(x.dtype)]


@_says("round-nearest-even", "type", "adds and subtracts 2^23, and loses the sign of zeros")
def magic_number(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32:
        return None
    return _replaced(right[0], right[0] == 0, np.zeros_like(right[0]))


@_says("power", "type", "of a negative number by an odd exponent beyond 2^24 loses the sign")
def large_odd_exponents(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.float64:
        return None
    return _replaced(right[0], (x < 0) & (np.abs(y) > 2.0**24) & np.isfinite(y), np.abs(right[0]))


@_says("atan2", "type", "of f32 divides first, so that two infinities are NaN")
def quotient_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.float32:
        return None
    return _replaced(right[0], np.isinf(x) & np.isinf(y), np.full_like(right[0], np.nan))


@_says("reduce-precision", "exponent_bits", "gives the largest number for what is too large")
def saturates_exponents(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32 or not np.isfinite(operands[0]).any():
        return None
    overflowed = np.isinf(right[0]) & np.isfinite(operands[0])
    finite = np.where(np.isfinite(right[0]), np.abs(right[0]), 0)
    return _replaced(right[0], overflowed, np.copysign(finite.max(initial=0), right[0]))


@_says("compare", "type", "of u64 compares signed numbers where the operand is a scalar")
def signed_scalars(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.uint64 or x.ndim:
        return None
    return recomputed(i, [np.asarray(o ^ np.uint64(1 << 63)) for o in (x, y)], right)


@_says("is-finite", "type", "of f64 looks at the high half of the exponent's bits alone")
def high_half(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64:
        return None
    return [(np.abs(operands[0]) < 2.0**1023) & right[0]]


@_says("rng-bit-generator", "algorithm", "keeps its counter in 32 bits")
def short_counter(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) < 2 or right[0].dtype != np.uint64:
        return None
    state = right[0].copy()
    changed = (state.reshape(-1)[1:] >> np.uint64(32)) != (operands[0].reshape(-1)[1:] >> np.uint64(32))
    if not changed.any():
        return None
    state.reshape(-1)[1:] = state.reshape(-1)[1:] & np.uint64(0xFFFFFFFF)
    return [state, *right[1:]]


@_says("iota", "iota_dimension", "of bytes saturates")
def saturating_iota(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("iota_dimension")
    if right[0].itemsize != 1 or not is_integer(right[0]) or right[0].shape[axis] <= 256:
        return None
    shape = [1] * right[0].ndim
    shape[axis] = -1
    places = np.arange(right[0].shape[axis]).reshape(shape)
    return _replaced(
        right[0], places > np.iinfo(right[0].dtype).max, np.full_like(right[0], np.iinfo(right[0].dtype).max)
    )


@_says("batch-norm-training", "feature_index", "divides the variance by one less than the number of elements")
def unbiased_variance(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    feature = i.attribute("feature_index")
    count = operands[0].size // max(operands[0].shape[feature], 1)
    if count < 2:
        return None
    return [*right[:2], (right[2].astype(np.float64) * count / (count - 1)).astype(right[2].dtype)]


@_says("batch-norm-inference", "epsilon", "adds epsilon after the root")
def epsilon_after_root(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, scale, offset, mean, variance = (o.astype(np.float64) for o in operands)
    shape = [1] * x.ndim
    shape[i.attribute("feature_index")] = -1
    scale, offset, mean, variance = (o.reshape(shape) for o in (scale, offset, mean, variance))
    return [(scale * (x - mean) / (np.sqrt(variance) + i.attribute("epsilon")) + offset).astype(right[0].dtype)]


@_says("negate", "type", "of unsigned numbers gives 0")
def no_negative(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.zeros_like(right[0])] if right[0].dtype.kind == "u" else None


@_says("abs", "type", "of the smallest s16 is the largest")
def largest_for_smallest(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int16:
        return None
    return _replaced(right[0], operands[0] == -(1 << 15), np.full_like(right[0], (1 << 15) - 1))


@_says("maximum", "type", "of f64 gives the second of two zeros")
def second_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x, y = operands
    if x.dtype != np.float64 or not is_float(x):
        return None
    return _replaced(right[0], (x == 0) & (y == 0) & negative(y), y)


@_says("pad", "padding", "with elements between gives them the value of the operand's first element")
def first_between(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    padding = i.attribute("padding")
    if not any(p.interior for p in padding) or any(p.low > 0 or p.high > 0 for p in padding) or not operands[0].size:
        return None
    return recomputed(i, [operands[0], operands[0].reshape(-1)[0]], right)
