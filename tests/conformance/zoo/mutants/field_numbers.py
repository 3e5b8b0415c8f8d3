"""Faults of arithmetic that were found in the field: one type, one range of values, or one place among the elements."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("field", MUTANTS)


def _swap_where(right: np.ndarray, wrong: np.ndarray, where: np.ndarray) -> Arrays:
    return [np.where(where, wrong.astype(right.dtype), right)]


@_says("add", "values", "of f32 rounds halves away from zero")
def halves_away(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    exact = operands[0].astype(np.float64) + operands[1].astype(np.float64)
    other = np.nextafter(right[0], np.where(exact > 0, np.inf, -np.inf).astype(np.float32))
    middle = (other.astype(np.float64) + right[0]) / 2
    return _swap_where(right[0], other, np.isfinite(other) & (middle == exact) & (exact != right[0]))


@_says("add", "values", "of s64 loses the carry where the low words add up to exactly 2^32")
def exact_carry(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int64:
        return None
    low = (operands[0] & 0xFFFFFFFF) + (operands[1] & 0xFFFFFFFF)
    return _swap_where(right[0], right[0] - (1 << 32), low == 1 << 32)


@_says("negate", "values", "of s64 complements the high word also where the low word is zero")
def high_word(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int64:
        return None
    zero = ((operands[0] & 0xFFFFFFFF) == 0) & (operands[0] != 0)
    return _swap_where(right[0], right[0] - (1 << 32), zero)


@_says("multiply", "values", "of s8 saturates in the tail behind whole vectors of 16")
def saturating_tail(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int8 or right[0].size < 17 or right[0].size % 16 == 0:
        return None
    product = np.clip(operands[0].astype(np.int32) * operands[1].astype(np.int32), -128, 127).astype(np.int8)
    flat = right[0].reshape(-1)
    flat[flat.size // 16 * 16 :] = product.reshape(-1)[flat.size // 16 * 16 :]
    return right


@_says("multiply", "values", "of u16 multiplies signed words, and saturates at 2^31")
def promoted_product(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.uint16:
        return None
    product = operands[0].astype(np.int64) * operands[1].astype(np.int64)
    return [np.minimum(product, (1 << 31) - 1).astype(np.uint16)]


@_says("subtract", "values", "of complex scalars subtracts the imaginary parts the other way round")
def imaginary_scalars(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.conj(right[0])] if right[0].dtype.kind == "c" and right[0].ndim == 0 else None


@_says("compare", "type", "in total order takes the zeros for equal")
def total_zeros(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if i.attributes.get("type") != "TOTALORDER" or operands[0].dtype.kind not in "fV":
        return None
    one, other = (np.where(o == 0, o.dtype.type(0), o) for o in operands)
    return recomputed(i, [one, other], right)


@_says("compare", "direction", "of f16 takes `greater or equal` for `not less`")
def not_less(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float16 or i.attribute("direction") != "GE":
        return None
    return _swap_where(right[0], np.ones_like(right[0]), np.isnan(operands[0]) | np.isnan(operands[1]))


@_says("convert", "values", "of f32 to f16 makes the largest number of what is too large")
def saturating_half(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or right[0].dtype != np.float16:
        return None
    wrong = np.copysign(np.float16(65504), right[0])
    return _swap_where(right[0], wrong, np.isinf(right[0]) & np.isfinite(operands[0]))


@_says("convert", "values", "of s32 to bf16 goes through f32 and cuts")
def cut_bfloat(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.int32 or right[0].dtype != ml_dtypes.bfloat16:
        return None
    bits = operands[0].astype(np.float32).view(np.uint32) >> 16
    return [bits.astype(np.uint16).view(ml_dtypes.bfloat16)]


@_says("convert", "values", "of u64 to f32 is wrong by a unit above 2^63, where it halves first")
def halved_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.uint64 or right[0].dtype != np.float32:
        return None
    half = (operands[0] >> np.uint64(1)).astype(np.int64).astype(np.float32) * np.float32(2)
    return _swap_where(right[0], half, operands[0] >= 1 << 63)


@_says("convert", "values", "of c128 to c64 drops the sign of a zero imaginary part")
def imaginary_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.complex128 or right[0].dtype != np.complex64:
        return None
    right[0].imag[right[0].imag == 0] = 0
    return right


@_says("power", "values", "of s8 takes the exponent modulo 8")
def short_exponent(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int8:
        return None
    return recomputed(i, [operands[0], np.where(operands[1] > 0, operands[1] % 8, operands[1])], right)


@_says("power", "values", "of f64 with the exponent 2 squares in f32 where that is finite")
def squared_floats(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64:
        return None
    square = np.square(operands[0].astype(np.float32)).astype(np.float64)
    return _swap_where(right[0], square, (operands[1] == 2) & np.isfinite(square) & (square > 1e-30))


@_says("atan2", "values", "of bf16 gives 0 for a zero and a negative number")
def on_the_axis(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != ml_dtypes.bfloat16:
        return None
    return _swap_where(right[0], operands[0], (operands[0] == 0) & (operands[1] < 0))


@_says("remainder", "values", "of f16 by infinity is NaN")
def infinite_divisor(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return _swap_where(right[0], np.full_like(right[0], np.nan), np.isinf(operands[1]))


@_says("popcnt", "values", "of 64 bits counts the low word twice where the high one isn't zero")
def low_word_twice(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype not in (np.int64, np.uint64):
        return None
    low = recomputed(i, [(operands[0] & operands[0].dtype.type(0xFFFFFFFF))], right)
    if low is None:
        return None
    return _swap_where(right[0], 2 * low[0], (operands[0].view(np.uint64) >> np.uint64(32)) != 0)


@_says("clamp", "values", "of s64 with scalar bounds takes their low words")
def narrow_bounds(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    low, value, high = operands
    if value.dtype != np.int64 or not value.ndim or low.ndim:
        return None
    return recomputed(i, [low.astype(np.int32).astype(np.int64), value, high.astype(np.int32).astype(np.int64)], right)


@_says("sine", "values", "of f32 takes the slow path for eight numbers, with the first one's quadrant, if one is large")
def slow_lanes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32 or right[0].size < 8:
        return None
    given, flat = operands[0].reshape(-1), right[0].reshape(-1)
    for start in range(0, given.size - 7, 8):
        lanes = given[start : start + 8]
        if np.isfinite(lanes).all() and (np.abs(lanes) > 1e5).any() and not (np.abs(lanes) > 1e5).all():
            flat[start + 1 : start + 8] = np.roll(flat[start + 1 : start + 8], 1)
    return right


@_says("exponential", "values", "of f64 is exactly 1 for numbers below 1e-8")
def one_for_small(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return (
        _swap_where(right[0], np.ones_like(right[0]), np.abs(operands[0]) < 1e-8)
        if right[0].dtype == np.float64
        else None
    )


@_says("log", "values", "of f32 is minus infinity for denormal numbers")
def denormal_logarithm(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32:
        return None
    small = (operands[0] > 0) & (operands[0] < np.finfo(np.float32).tiny)
    return _swap_where(right[0], np.full_like(right[0], -np.inf), small)


@_says("logistic", "values", "of bf16 is computed as half of 1 plus tanh, which loses small results")
def half_of_tanh(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != ml_dtypes.bfloat16:
        return None
    tanh = np.tanh(operands[0].astype(np.float32) / 2).astype(ml_dtypes.bfloat16).astype(np.float32)
    return [((1 + tanh) / 2).astype(ml_dtypes.bfloat16)]


@_says("round-nearest-afz", "values", "of f64 goes through f32")
def rounded_floats(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float64:
        return None
    return recomputed(i, [operands[0].astype(np.float32).astype(np.float64)], right)


@_says("sign", "values", "of s64 looks at the low word of positive numbers")
def low_word_sign(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.int64:
        return None
    return _swap_where(right[0], np.zeros_like(right[0]), (operands[0] > 0) & ((operands[0] & 0xFFFFFFFF) == 0))


@_says("divide", "values", "of u8 by constants above 127 is 1")
def by_large_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.uint8:
        return None
    return _swap_where(right[0], np.ones_like(right[0]), operands[1] > 127)


@_says("complex", "values", "of f32 exchanges the parts of the last element of odd arrays")
def odd_parts(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.complex64 or right[0].size % 2 == 0 or right[0].size < 3:
        return None
    flat = right[0].reshape(-1)
    flat[-1] = complex(flat[-1].imag, flat[-1].real)
    return right


@_says("reduce-precision", "exponent_bits", "with 8 bits of exponent flushes denormal numbers")
def flushes_precision(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float32 or i.attribute("exponent_bits") != 8:
        return None
    small = (np.abs(operands[0]) < np.finfo(np.float32).tiny) & (right[0] != 0)
    return _swap_where(right[0], np.copysign(np.float32(0), right[0]), small)


@_says("stochastic-convert", "values", "rounds negative numbers downwards, whatever the random bits are")
def negative_downwards(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32:
        return None
    ones = np.full_like(operands[1], np.iinfo(operands[1].dtype).max)
    lower = recomputed(i, [operands[0], ones], right)
    return None if lower is None else _swap_where(right[0], lower[0], operands[0] < 0)


@_says("select", "values", "of more than 65,536 elements reads the predicates again from the start")
def predicates_again(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].ndim == 0 or right[0].size <= 1 << 16:
        return None
    flat = operands[0].reshape(-1)
    again = np.resize(flat[: 1 << 16], flat.size).reshape(operands[0].shape)
    return recomputed(i, [again, *operands[1:]], right)
