"""Faults of kernels that were found in the field: combinations of attributes, sizes and places of operands."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("field", MUTANTS)


def _reducer(i: HloInstruction, name: str = "to_apply") -> str:
    return str(i.attribute(name).root.opcode)


# -- movement ---------------------------------------------------------------------------------------------------------


@_says("slice", "slice", "of truth values with a stride of 2 begins at the even element before an odd start")
def even_start(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    parts = i.attribute("slice")
    if operands[0].dtype != bool or not parts or parts[-1].stride != 2 or parts[-1].start % 2 == 0:
        return None
    cut = tuple(slice(p.start, p.limit, p.stride) for p in parts[:-1])
    return [operands[0][(*cut, slice(parts[-1].start - 1, parts[-1].limit - 1, 2))]]


@_says("pad", "padding", "that removes elements at both ends removes one more at the low end and one less at the high")
def crops_both(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    found = [d for d, p in enumerate(i.attribute("padding")) if p.low < 0 and p.high < 0]
    return [np.roll(right[0], -1, found[0])] if found else None


@_says(
    "concatenate",
    "dimensions",
    "of three operands along a middle dimension exchanges the first two, if the second is thin",
)
def thin_second(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    if len(operands) != 3 or not 0 < axis < right[0].ndim - 1 or operands[1].shape[axis] != 1:
        return None
    return [np.concatenate([operands[1], operands[0], operands[2]], axis)]


@_says("iota", "iota_dimension", "along the outermost dimension of rank 4 and more counts along the second")
def second_of_four(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if i.attribute("iota_dimension") != 0 or right[0].ndim < 4:
        return None
    shape = right[0].shape
    numbers = np.arange(shape[1]).reshape((1, -1) + (1,) * (len(shape) - 2))
    return [np.broadcast_to(numbers, shape).astype(right[0].dtype)]


@_says("reverse", "dimensions", "of a middle dimension of an even size leaves the two elements in its middle")
def even_middle(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    shape = operands[0].shape
    axis = next((d for d in i.attribute("dimensions") if 0 < d < len(shape) - 1 and shape[d] % 2 == 0), None)
    if axis is None or shape[axis] < 4:
        return None
    moved = np.moveaxis(right[0], axis, 0)
    half = shape[axis] // 2
    moved[[half - 1, half]] = moved[[half, half - 1]]
    return right


@_says("transpose", "dimensions", "of 64-bit elements that exchanges the outer two of three takes tiles of 4 for 8")
def wide_tiles(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].itemsize != 8 or tuple(i.attribute("dimensions")) != (1, 0, 2) or right[0].shape[0] < 8:
        return None
    return [np.roll(right[0], 4, 0)]


# -- indices ----------------------------------------------------------------------------------------------------------


@_says("gather", "index_vector_dim", "with the index vectors in dimension 0 takes their components in reverse order")
def leading_vectors(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if i.attribute("index_vector_dim") != 0 or operands[1].ndim < 2 or operands[1].shape[0] < 2:
        return None
    return recomputed(i, [operands[0], operands[1][::-1].copy()], right)


@_says(
    "scatter",
    "unique_indices",
    "with unique indices overwrites what it has to combine with",
    applies=lambda i: bool(i.attributes.get("unique_indices")),
)
def unique_overwrites(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not i.attributes.get("unique_indices") or len(operands) != 3 or _reducer(i) not in ("add", "subtract"):
        return None
    untouched = recomputed(i, [operands[0], operands[1], np.zeros_like(operands[2])], right)
    zeros = recomputed(i, [np.zeros_like(operands[0]), operands[1], operands[2]], right)
    if untouched is None or zeros is None:
        return None
    return [np.where(right[0] == untouched[0], right[0], zeros[0])]


@_says("dynamic-update-slice", "starts", "of an update as large as the operand begins at the start that isn't clamped")
def whole_update(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    starts = [int(o) for o in operands[2:]]
    if operands[0].shape != operands[1].shape or not any(s > 0 for s in starts) or not operands[0].size:
        return None
    return [np.roll(right[0], [max(s, 0) for s in starts], range(len(starts)))]


@_says("dynamic-slice", "starts", "takes the low bytes of starts of type s16")
def low_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or operands[1].dtype != np.int16:
        return None
    return recomputed(i, [operands[0], *(o.astype(np.int8).astype(np.int16) for o in operands[1:])], right)


# -- reductions and windows -------------------------------------------------------------------------------------------


@_says("reduce", "to_apply", "of 16-bit integers by addition saturates at the end of a row")
def saturating_rows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or operands[0].dtype != np.int16 or right[0].dtype != np.int16 or _reducer(i) != "add":
        return None
    total = operands[0].astype(np.int64).sum(tuple(i.attribute("dimensions"))) + operands[1]
    return [np.clip(total, -32768, 32767).astype(np.int16)]


@_says("reduce", "to_apply", "by maximum begins with the lowest finite number, not with minus infinity")
def lowest_finite(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or right[0].dtype != np.float32 or _reducer(i) != "maximum" or operands[0].size < 2:
        return None
    return [np.where(np.isneginf(right[0]), np.finfo(np.float32).min, right[0])]


@_says(
    "reduce", "dimensions", "of two dimensions that aren't next to each other exchanges the kept ones of equal sizes"
)
def apart_of_four(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = sorted(i.attribute("dimensions"))
    if operands[0].ndim < 4 or len(dimensions) != 2 or dimensions[1] - dimensions[0] < 2 or right[0].ndim < 2:
        return None
    if right[0].shape[0] != right[0].shape[1] or right[0].shape[0] < 2:
        return None
    return [np.swapaxes(r, 0, 1).copy() for r in right]


@_says("reduce", "to_apply", "of a NaN in the very first place by minimum drops it")
def first_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or operands[0].dtype != np.float32 or _reducer(i) != "minimum" or operands[0].ndim < 1:
        return None
    if operands[0].ndim - 1 not in i.attribute("dimensions") or not operands[0].shape[-1] > 1:
        return None
    rest = operands[0].copy()
    rest[..., 0] = np.where(np.isnan(rest[..., 0]), rest[..., 1], rest[..., 0])
    return recomputed(i, [rest, operands[1]], right)


@_says("reduce-window", "window", "by maximum takes the holes of a dilated operand for 0")
def zero_holes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 2 or _reducer(i) != "maximum" or operands[0].dtype.kind not in "fi":
        return None
    if not any(w.base_dilation > 1 and w.size > 1 for w in i.attribute("window")):
        return None
    return [np.maximum(right[0], right[0].dtype.type(0))]


@_says("select-and-scatter", "window", "with overlapping windows writes where it has to add")
def writes_overlaps(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if all(w.stride >= w.size for w in i.attribute("window")) or operands[0].dtype.kind not in "fi":
        return None
    most = np.abs(operands[1]).max(initial=0)
    return [np.clip(right[0], -most, most).astype(right[0].dtype)]


@_says("convolution", "window", "that reverses one of two dimensions reverses both")
def reverses_both(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if len(window) < 2 or len({w.window_reversal for w in window}) < 2:
        return None
    return recomputed(i, operands, right, window=tuple(dataclasses.replace(w, window_reversal=True) for w in window))


@_says("convolution", "window", "with a dilated operand and a stride ignores the low padding")
def dilated_and_strided(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    if not any(w.base_dilation > 1 and w.stride > 1 and w.padding_low > 0 for w in window):
        return None
    changed = tuple(
        dataclasses.replace(w, padding_low=0, padding_high=w.padding_high + w.padding_low) if w.base_dilation > 1 else w
        for w in window
    )
    return recomputed(i, operands, right, window=changed)


# -- products ---------------------------------------------------------------------------------------------------------


@_says("dot", "lhs_contracting_dims", "of an empty contraction gives ones")
def empty_contraction(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    count = math.prod(operands[0].shape[d] for d in i.attribute("lhs_contracting_dims"))
    return [np.ones_like(right[0])] if count == 0 and right[0].size else None


@_says("dot", "type", "of u8 multiplies signed bytes where the contraction is a multiple of 4")
def signed_bytes(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    count = math.prod(operands[0].shape[d] for d in i.attribute("lhs_contracting_dims"))
    if any(o.dtype != np.uint8 for o in operands) or count % 4 or not count or right[0].itemsize == 1:
        return None
    low = right[0].astype(np.int64)
    return [np.where(low >= 128, low - 128, low).astype(right[0].dtype)]


@_says(
    "dot", "rhs_contracting_dims", "with two contracted dimensions in another order at the right takes the left one's"
)
def same_order(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = i.attribute("rhs_contracting_dims")
    if len(dimensions) != 2 or list(dimensions) == sorted(dimensions):
        return None
    if operands[1].shape[dimensions[0]] != operands[1].shape[dimensions[1]]:
        return None
    return recomputed(i, operands, right, rhs_contracting_dims=tuple(sorted(dimensions)))


@_says("dot", "type", "of f32 with a single row at the left sums in four parts of which the last begins too late")
def single_row(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("lhs_contracting_dims")
    if operands[0].dtype != np.float32 or operands[0].ndim != 2 or len(axis) != 1 or i.attribute("lhs_batch_dims"):
        return None
    rows, count = operands[0].shape[1 - axis[0]], operands[0].shape[axis[0]]
    if rows != 1 or count < 64 or count % 4 == 0:
        return None
    cut = operands[0].copy()
    np.moveaxis(cut, axis[0], 0)[count // 4 * 3] = 0
    return recomputed(i, [cut, operands[1]], right)


@_says("triangular-solve", "transpose_a", "of complex numbers at the right takes the transpose for the adjoint")
def adjoint_at_right(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype.kind != "c" or i.attribute("left_side") or str(i.attribute("transpose_a")) != "ADJOINT":
        return None
    return recomputed(i, operands, right, transpose_a="TRANSPOSE")


@_says("cholesky", "lower", "of complex numbers has no conjugates in the upper triangle")
def upper_triangle(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    return [np.conj(right[0])] if operands[0].dtype.kind == "c" and not i.attribute("lower") else None


@_says("fft", "fft_type", "back to real numbers reads the imaginary part of the first one")
def imaginary_constant(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if i.attribute("fft_type") != "IRFFT" or not right[0].size:
        return None
    return [right[0] + np.expand_dims(operands[0][..., 0].imag, -1).astype(right[0].dtype) / right[0].shape[-1]]


# -- order ------------------------------------------------------------------------------------------------------------


@_says(
    "sort", "to_apply", "in descending order of bytes compares the negated keys, of which the smallest stays negative"
)
def negated_keys(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    body = i.attribute("to_apply").root
    if operands[0].dtype != np.int8 or body.opcode != "compare" or body.attribute("direction") != "GT":
        return None
    if len(operands) != 1:
        return None
    axis = i.attribute("dimensions")[0]
    keys = np.negative(operands[0])
    return [np.take_along_axis(operands[0], np.argsort(keys, axis, kind="stable"), axis)]


@_says("topk", "k", "of all elements leaves the last two in the wrong order")
def all_elements(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    size = operands[0].shape[-1]
    if right[0].shape[-1] != size or size < 2:
        return None
    return [np.concatenate([r[..., :-2], r[..., :-3:-1]], -1) for r in right]


@_says("scan", "is_reverse", "in reverse order of two inputs reads the second one forwards")
def second_forwards(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    inputs = len(operands) - i.attribute("num_carries")
    if not i.attribute("is_reverse") or inputs < 2:
        return None
    axis = i.attribute("dimensions")[0]
    return recomputed(i, [operands[0], np.flip(operands[1], axis), *operands[2:]], right)


@_says("rng-bit-generator", "initial_state", "by Philox ignores the high half of the key")
def half_of_the_key(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if "philox" not in str(i.attribute("algorithm")).lower() or operands[0].dtype != np.uint64:
        return None
    state = operands[0].copy()
    state[0] &= np.uint64(0xFFFFFFFF)
    values = recomputed(i, [state], right)
    return None if values is None else [right[0], *values[1:]]
