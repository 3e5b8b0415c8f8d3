"""Mutants whose kernels are wrong where a type and a value meet, as mistakes in real kernels are."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_float, is_integer, negative
from xla_core.hlo import ElementType, HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("rare", MUTANTS)


def _type(array: np.ndarray) -> ElementType:
    return ElementType.from_numpy(array.dtype)


@_says("remainder", "type", "of f32 subtracts a rounded multiple, which is wrong for large quotients")
def by_division(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32:
        return None
    x, y = operands
    wrong = x - np.trunc(x / y) * y
    chosen = np.isfinite(wrong) & np.isfinite(right[0]) & (np.abs(x) > np.abs(y) * 2.0**24)
    return [np.where(chosen, wrong, right[0])]


@_says("divide", "type", "of u32 divides floating-point numbers of 32 bits")
def through_floats(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.uint32:
        return None
    wrong = np.floor(operands[0].astype(np.float32) / operands[1].astype(np.float32))
    chosen = (operands[1] > 1) & (wrong < 2.0**32)
    return [np.where(chosen, np.where(chosen, wrong, 0).astype(np.uint32), right[0])]


@_says("convert", "type", "of s64 to f32 rounds twice, through f64")
def rounds_twice(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.int64 or right[0].dtype != np.float32:
        return None
    return [operands[0].astype(np.float64).astype(np.float32)]


@_says("convert", "type", "of f64 to bf16 rounds twice, through f32")
def rounds_twice_to_bf16(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float64 or right[0].dtype != ml_dtypes.bfloat16:
        return None
    return [operands[0].astype(np.float32).astype(ml_dtypes.bfloat16)]


@_says("power", "type", "of a half is the square root, also of the negative infinity and zero")
def half_is_root(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not is_float(operands[0]):
        return None
    return [np.where(operands[1].astype(np.float64) == 0.5, np.sqrt(operands[0]), right[0]).astype(right[0].dtype)]


@_says("round-nearest-afz", "type", "adds a half and cuts, which rounds the number below a half up")
def adds_a_half(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not is_float(operands[0]) or operands[0].itemsize < 2:
        return None
    half = operands[0].dtype.type(0.5)
    wrong = np.copysign(np.floor(np.abs(operands[0]) + half), operands[0])
    chosen = np.isfinite(operands[0].astype(np.float64)) & (np.abs(operands[0].astype(np.float64)) < 1)
    return [np.where(chosen, wrong, right[0]).astype(right[0].dtype)]


@_says("popcnt", "type", "of negative bytes counts the bits of their sign, too")
def counts_signs(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.int8:
        return None
    return [np.where(operands[0] < 0, right[0] + 24, right[0]).astype(right[0].dtype)]


@_says("abs", "type", "of c64 is infinite where the square of a part is")
def squares(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.complex64:
        return None
    wrong = np.sqrt(operands[0].real * operands[0].real + operands[0].imag * operands[0].imag)
    return [np.where(np.isinf(wrong), wrong, right[0])]


@_says("sqrt", "type", "of c128 with imaginary part -0 takes the other side of the branch cut")
def branch_cut(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    x = operands[0]
    if x.dtype != np.complex128:
        return None
    return [np.where((x.imag == 0) & np.signbit(x.imag) & (x.real < 0), np.conj(right[0]), right[0])]


@_says("atan2", "type", "of two negative zeros is zero")
def both_negative_zeros(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not is_float(operands[0]) or not all(_type(o).has_zero for o in operands):
        return None
    zeros = [(o.astype(np.float64) == 0) & negative(o) for o in operands]
    return [np.where(zeros[0] & zeros[1], np.zeros((), right[0].dtype), right[0])]


@_says("clamp", "operands", "with a lower bound above the upper one gives the lower")
def crossed_bounds(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    low, _, high = operands
    if is_integer(low):
        return [np.where(np.broadcast_to(low > high, right[0].shape), low, right[0]).astype(right[0].dtype)]
    return None


@_says("triangular-solve", "transpose_a", "with a unit diagonal at the right side reads the diagonal")
def reads_diagonal(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not i.attribute("unit_diagonal") or i.attribute("left_side"):
        return None
    return recomputed(i, operands, right, unit_diagonal=False)


@_says("fft", "fft_length", "of odd length loses the last element of the inverse of real numbers")
def odd_irfft(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if "IRFFT" not in str(i.attribute("fft_type")) or i.attribute("fft_length")[-1] % 2 == 0:
        return None
    right[0][..., -1] = 0
    return right


@_says("ragged-dot", "rhs_group_dims", "with an empty group takes the next group's matrix for the one before")
def empty_group(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = operands[2]
    if sizes.ndim != 1 or not (sizes[1:-1] == 0).any():
        return None
    moved = sizes.copy()
    at = (
        int(np.flatnonzero((sizes[1:] == 0) & (sizes[:-1] > 0))[0]) + 1
        if ((sizes[1:] == 0) & (sizes[:-1] > 0)).any()
        else 0
    )
    if at == 0:
        return None
    moved[at - 1] -= 1
    moved[at] += 1
    return recomputed(i, [*operands[:2], moved, *operands[3:]], right)


@_says("rng-bit-generator", "algorithm", "of odd numbers of 32-bit elements leaves the state as if one were less")
def odd_state(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) < 2 or right[1].itemsize != 4 or right[1].size % 2 == 0 or right[1].size < 3:
        return None
    state = right[0].copy()
    state[-1] = state[-1] - np.uint64(1)
    return [state, right[1]]


@_says("reduce-window", "to_apply", "sums up a vector in blocks of 32, and a NaN isn't carried to the next block")
def scan_drops_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    whole, root = i.attribute("window"), i.attribute("to_apply").root
    if len(whole) != 1 or len(right) != 1 or not is_float(right[0]) or root.opcode != "add":
        return None
    array = operands[0]
    if whole[0].size != array.size or whole[0].padding_low != array.size - 1 or array.size <= 32:
        return None
    last = np.flatnonzero(np.isnan(array))[-1:]
    rest = slice(int(last[0]) // 32 * 32 + 32, None) if last.size else slice(0, 0)
    sums = np.where(np.isnan(array), 0, array).astype(np.float64).cumsum().astype(right[0].dtype)
    return [np.concatenate([right[0][: rest.start], sums[rest]])] if last.size else None


@_says("slice", "type", "of packed u4 begins at the first element of a byte")
def starts_at_a_byte(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    *outer, last = i.attribute("slice") or (None,)
    if _type(operands[0]) is not ElementType.U4 or last is None or last.stride != 1 or last.start % 2 == 0:
        return None
    rows = tuple(slice(s.start, s.limit, s.stride) for s in outer)
    return [operands[0][(*rows, slice(last.start - 1, last.limit - 1))]]


@_says("dot", "type", "of u8 with s8 saturates the sum of two products in 16 bits")
def mixed_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    left, other = operands
    if (left.dtype, other.dtype) != (np.uint8, np.int8) or left.ndim != 2 or other.ndim != 2 or left.shape[1] % 2:
        return None
    if i.attribute("lhs_contracting_dims") != (1,) or i.attribute("rhs_contracting_dims") != (0,):
        return None
    products = left.astype(np.int32)[:, :, None] * other.astype(np.int32)
    pairs = np.clip(products[:, ::2] + products[:, 1::2], -(2**15), 2**15 - 1)
    return [pairs.sum(1).astype(right[0].dtype)]
