"""Mutants whose kernels are wrong where an attribute, a size and a type meet, as mistakes in real kernels are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import ElementType, HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("rare", MUTANTS)


def _type(array: np.ndarray) -> ElementType:
    return ElementType.from_numpy(array.dtype)


def _swapped(result: np.ndarray, axis: int) -> np.ndarray:
    """The last two slices along an axis, exchanged."""
    moved = np.moveaxis(result, axis, 0)
    moved[[-2, -1]] = moved[[-1, -2]]
    return result


# -- transpose, slices and copies -------------------------------------------------------------------------------------


@_says("transpose", "dimensions", "of rank 3 exchanges the last two rows of a middle dimension of odd size")
def odd_middle(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [_swapped(right[0], 1)] if right[0].ndim == 3 and right[0].shape[1] % 2 and right[0].shape[1] > 1 else None


@_says("transpose", "dimensions", "of rank 4 that keeps the outermost dimension loses the tail of 8 of the innermost")
def batched_tail(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].ndim != 4 or i.attribute("dimensions")[0] != 0 or i.attribute("dimensions")[3] == 3:
        return None
    size = right[0].shape[-1]
    if size < 9 or size % 8 == 0:
        return None
    right[0][..., size // 8 * 8 :] = np.zeros((), right[0].dtype)
    return right


@_says("transpose", "dimensions", "that reverses 16-bit matrices loses the last row where both sizes are odd")
def odd_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    shape = right[0].shape
    if right[0].itemsize != 2 or right[0].ndim != 2 or not (shape[0] % 2 and shape[1] % 2) or min(shape) < 3:
        return None
    return [_swapped(right[0], 0)]


@_says("slice", "slice", "with two strides takes the first for both")
def one_stride(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    parts = i.attribute("slice")
    strides = [p.stride for p in parts if p.stride > 1]
    if len(strides) < 2 or len(set(strides)) == 1:
        return None
    where = tuple(slice(p.start, None, strides[0] if p.stride > 1 else 1) for p in parts)
    taken = operands[0][where]
    return [np.resize(taken, right[0].shape).astype(right[0].dtype)] if taken.size else None


@_says("slice", "slice", "of bytes that starts at an odd byte of the innermost dimension copies from the even one")
def odd_start(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    part = i.attribute("slice")[-1] if operands[0].ndim else None
    if part is None or operands[0].itemsize > 1 or part.start % 2 == 0 or part.stride > 1 or operands[0].ndim < 2:
        return None
    return [np.roll(right[0], 1, -1)]


@_says("reverse", "dimensions", "of two dimensions reverses only the inner one where the outer is a power of two")
def power_of_two(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = sorted(i.attribute("dimensions"))
    if len(dimensions) != 2 or (size := operands[0].shape[dimensions[0]]) < 2 or size & (size - 1):
        return None
    return [np.flip(operands[0], dimensions[1])]


@_says("concatenate", "dimensions", "in the innermost dimension misplaces an operand of one element in front")
def single_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    if axis != right[0].ndim - 1 or operands[0].shape[axis] != 1 or len(operands) < 2 or right[0].shape[axis] < 3:
        return None
    return [np.roll(right[0], 1, axis)]


@_says("concatenate", "dimensions", "of more than 16 operands repeats the 16th in the place of the 17th")
def seventeenth(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    if len(operands) < 17 or not operands[16].size:
        return None
    wrong = np.resize(operands[15], operands[16].shape) if operands[15].size else np.flip(operands[16])
    return [np.concatenate([*operands[:16], wrong, *operands[17:]], axis)]


@_says("pad", "padding", "that removes elements at the low side and puts some between begins one too early")
def negative_low_interior(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    padding = i.attribute("padding")
    found = [d for d, p in enumerate(padding) if p.low < 0 and p.interior > 0]
    return [np.roll(right[0], 1, found[0])] if found else None


@_says("pad", "padding", "with elements between in the outermost dimension takes the innermost one's number for it")
def interior_of_innermost(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    padding = i.attribute("padding")
    if len(padding) < 2 or padding[0].interior == padding[-1].interior or operands[0].shape[0] < 3:
        return None
    return [np.roll(right[0], 1, 0)]


@_says("broadcast", "dimensions", "of a matrix into rank 4 exchanges the outer dimensions where they have one size")
def same_sizes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].ndim != 4 or operands[0].ndim != 2 or right[0].shape[0] != right[0].shape[1]:
        return None
    return [np.swapaxes(right[0], 0, 1)]


@_says("iota", "iota_dimension", "of 16-bit floats is wrong beyond 2,048, where their steps are two")
def beyond_integers(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.float16:
        return None
    return [np.where(right[0] > 2048, np.float16(2048), right[0])]


@_says("bitcast-convert", "type", "to narrower elements puts the high part first")
def big_endian(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.flip(right[0], -1)] if right[0].ndim > operands[0].ndim else None


# -- indices ----------------------------------------------------------------------------------------------------------


def _starts(values: np.ndarray, change: Callable[[np.ndarray], Any]) -> np.ndarray:
    return np.asarray(change(values)).astype(values.dtype)


def _as_signed(array: np.ndarray) -> np.ndarray:
    """Numbers with the sign bit are below 0, and so 0 after clamping."""
    return np.where(array > np.iinfo(array.dtype).max // 2, 0, array)


@_says("dynamic-slice", "starts", "takes starts of type u64 with the sign bit for negative numbers")
def signed_u64(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or operands[1].dtype != np.uint64:
        return None
    return recomputed(i, [operands[0], *(_starts(o, _as_signed) for o in operands[1:])], right)


@_says("dynamic-slice", "starts", "takes starts of type u8 with the sign bit for negative numbers")
def signed_u8(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or operands[1].dtype != np.uint8:
        return None
    return recomputed(i, [operands[0], *(_starts(o, _as_signed) for o in operands[1:])], right)


@_says("dynamic-slice", "starts", "takes the low 32 bits of starts of type s64")
def low_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or operands[1].dtype != np.int64:
        return None
    return recomputed(i, [operands[0], *(o.astype(np.int32).astype(np.int64) for o in operands[1:])], right)


@_says("dynamic-update-slice", "starts", "takes starts of type u64 with the sign bit for negative numbers")
def update_signed_u64(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 3 or operands[2].dtype != np.uint64:
        return None
    return recomputed(i, [*operands[:2], *(_starts(o, _as_signed) for o in operands[2:])], right)


@_says("dynamic-update-slice", "starts", "doesn't clamp the start of an update of one element at the end")
def last_element(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    operand, update, starts = operands[0], operands[1], [int(o) for o in operands[2:]]
    if update.size != 1 or all(s < n for s, n in zip(starts, operand.shape, strict=True)):
        return None
    return [operand.copy()]


@_says("gather", "indices", "takes indices of type u64 with the sign bit for negative numbers")
def gather_signed_u64(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[1].dtype != np.uint64:
        return None
    return recomputed(i, [operands[0], _starts(operands[1], _as_signed)], right)


@_says("gather", "indices", "takes the low 16 bits of indices of type u32")
def gather_low_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[1].dtype != np.uint32:
        return None
    return recomputed(i, [operands[0], operands[1] & 0xFFFF], right)


@_says("gather", "offset_dims", "of slices that are one in the outermost dimension reads the next one at the end")
def gather_thin(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = i.attribute("slice_sizes")
    if not sizes or sizes[0] != 1 or 0 in i.attribute("collapsed_slice_dims") or operands[0].shape[0] < 2:
        return None
    return [np.flip(right[0])]


@_says("scatter", "indices", "takes indices of type u32 with the sign bit for negative numbers and wraps them")
def scatter_signed_u32(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    count = (len(operands) - 1) // 2
    if operands[count].dtype != np.uint32:
        return None
    indices = operands[count].copy()
    indices[indices >= 1 << 31] = 0
    return recomputed(i, [*operands[:count], indices, *operands[count + 1 :]], right)


@_says("scatter", "indices", "of 64-bit elements applies one of several updates of the same element")
def scatter_lost(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 3 or operands[0].itemsize != 8 or operands[1].size < 2 or operands[1].ndim == 0:
        return None
    flat = operands[1].reshape(-1)
    if len(np.unique(flat)) == flat.size or i.attribute("index_vector_dim") != operands[1].ndim:
        return None
    updates = operands[2].reshape(flat.size, -1) if not i.attribute("update_window_dims") else None
    if updates is None:
        return None
    first = np.unique(flat, return_index=True)[1]
    kept = flat.copy()
    kept[[n for n in range(flat.size) if n not in first]] = np.iinfo(flat.dtype).max
    return recomputed(i, [operands[0], kept.reshape(operands[1].shape), operands[2]], right)


# -- reductions, windows and sorting ----------------------------------------------------------------------------------


@_says("reduce", "dimensions", "of the outermost and the innermost dimension loses the tail of 32 of the innermost")
def outer_and_inner(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions, shape = set(i.attribute("dimensions")), operands[0].shape
    if len(operands) != 2 or dimensions != {0, len(shape) - 1} or len(shape) != 3 or shape[-1] % 32 == 0:
        return None
    if shape[-1] < 33:
        return None
    return recomputed_cut(i, operands, right, shape[-1] // 32 * 32)


def recomputed_cut(i: HloInstruction, operands: Arrays, right: Arrays, size: int) -> Arrays | None:
    """The reduction with the initial value in place of the elements beyond `size` in the innermost dimension."""
    cut = operands[0].copy()
    cut[..., size:] = operands[1].astype(cut.dtype)
    return recomputed(i, [cut, operands[1]], right)


@_says("reduce", "dimensions", "of a middle dimension of one gives its initial value")
def middle_of_one(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions, shape = i.attribute("dimensions"), operands[0].shape
    if len(operands) != 2 or len(dimensions) != 1 or not 0 < dimensions[0] < len(shape) - 1:
        return None
    if shape[dimensions[0]] != 1:
        return None
    return [np.broadcast_to(operands[1], right[0].shape).astype(right[0].dtype)]


@_says("reduce", "to_apply", "of unsigned 64-bit numbers by minimum compares them as floating-point numbers")
def through_doubles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or operands[0].dtype != np.uint64 or i.attribute("to_apply").root.opcode != "minimum":
        return None
    rounded = operands[0].astype(np.float64)
    rounded = np.where(rounded >= 2.0**64, np.nextafter(2.0**64, 0), rounded)
    return recomputed(i, [rounded.astype(np.uint64), operands[1]], right)


@_says("reduce", "to_apply", "of truth values by `or` reads whole words, so that those beyond the last are lost")
def words_of_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    shape = operands[0].shape
    if operands[0].dtype != bool or i.attribute("to_apply").root.opcode != "or" or not shape or shape[-1] % 8 == 0:
        return None
    if len(shape) - 1 not in i.attribute("dimensions") or shape[-1] < 8:
        return None
    return recomputed_cut(i, operands, right, shape[-1] // 8 * 8)


@_says("reduce-window", "window", "with dilated operand begins one too late where the low padding is negative")
def base_and_negative(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    found = [d for d, w in enumerate(window) if w.base_dilation > 1 and w.padding_low < 0]
    return [np.roll(r, 1, found[0]) for r in right] if found else None


@_says("convolution", "window", "with groups of features ignores reversal")
def groups_not_reversed(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if i.attribute("feature_group_count") < 2 or not any(w.window_reversal and w.size > 1 for w in window):
        return None
    return recomputed(i, operands, right, window=tuple(dataclasses.replace(w, window_reversal=False) for w in window))


@_says("convolution", "batch_group_count", "with groups of the batch and a stride takes the first group for all")
def batch_groups(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if i.attribute("batch_group_count") < 2 or all(w.stride == 1 for w in i.attribute("window")):
        return None
    return [np.flip(right[0])]


@_says("dot", "type", "of bytes saturates the sum of two products in 16 bits")
def saturated_pairs(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    left, other = operands
    contracted = i.attribute("lhs_contracting_dims")
    if left.dtype != np.int8 or other.dtype != np.int8 or left.ndim != 2 or other.ndim != 2 or len(contracted) != 1:
        return None
    if i.attribute("lhs_batch_dims"):
        return None
    a = np.moveaxis(left, contracted[0], 1).astype(np.int32)
    b = np.moveaxis(other, i.attribute("rhs_contracting_dims")[0], 0).astype(np.int32)
    size = a.shape[1] // 2 * 2
    pairs = [np.clip(a[:, [k]] * b[[k]] + a[:, [k + 1]] * b[[k + 1]], -32768, 32767) for k in range(0, size, 2)]
    total = sum(pairs, a[:, size:] @ b[size:])
    return [np.asarray(total).astype(right[0].dtype)]


@_says("dot", "type", "of bf16 to f32 sums in bf16 where it contracts more than 64 numbers")
def narrow_sums(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != ml_dtypes.bfloat16 or right[0].dtype != np.float32:
        return None
    if math.prod(operands[0].shape[d] for d in i.attribute("lhs_contracting_dims")) <= 64:
        return None
    return [right[0].astype(ml_dtypes.bfloat16).astype(np.float32)]


@_says("dot", "type", "of f32 rounds its operands to 10 bits where all sizes are multiples of 8")
def few_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.float32 or any(n % 8 for o in operands for n in o.shape):
        return None
    rounded = [((o.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32) for o in operands]
    return recomputed(i, rounded, right)


@_says("dot", "lhs_batch_dims", "with two batch dimensions exchanges them where they differ")
def crossed_batches(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(i.attribute("lhs_batch_dims")) != 2 or right[0].shape[0] == right[0].shape[1] or not right[0].size:
        return None
    a, b, rest = right[0].shape[0], right[0].shape[1], right[0].shape[2:]
    return [np.swapaxes(right[0].reshape(b, a, *rest), 0, 1).copy()]


@_says("sort", "is_stable", "that must be stable isn't in more than 64 keys of one byte")
def unstable_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    if not i.attribute("is_stable") or len(operands) < 2 or operands[0].itemsize > 1 or operands[0].shape[axis] <= 64:
        return None
    return recomputed(i, [np.flip(o, axis) for o in operands], right)


@_says("sort", "dimensions", "along a middle dimension leaves the last element where it was, if the size is odd")
def middle_odd(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    shape = operands[0].shape
    if not 0 < axis < len(shape) - 1 or shape[axis] % 2 == 0 or shape[axis] < 3:
        return None
    return [_swapped(r, axis) for r in right]
