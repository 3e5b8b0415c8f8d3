"""Faults of kernels that take three things at once, such as an attribute, the place of a dimension and a type."""

from __future__ import annotations

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_LAUNCHES = [0]
_triple = kernel_faults("triple", MUTANTS)


def _without_last(operands: Arrays, number: int, axis: int) -> Arrays:
    """The operands, of which one has zeros at the end of a dimension."""
    changed = [o.copy() for o in operands]
    np.moveaxis(changed[number], axis, 0)[-1:] = 0
    return changed


def _last_as_first(array: np.ndarray, axis: int) -> np.ndarray:
    """The array whose last slice in a dimension is the first one."""
    changed = array.copy()
    moved = np.moveaxis(changed, axis, 0)
    moved[-1:] = moved[:1]
    return changed


@_triple("scatter", "index_vector_dim", "of windows of floats loses the last index where index vectors come first")
def _scatter_windows(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    indices = operands[len(right)]
    is_first = instruction.attribute("index_vector_dim") == 0 and indices.ndim > 1
    if not is_first or not instruction.attribute("update_window_dims") or right[0].dtype.kind != "f":
        return None
    changed = [o.copy() for o in operands]
    changed[len(right)][..., -1] = np.iinfo(indices.dtype).max
    return recomputed(instruction, changed, right)


@_triple("scatter", "update_window_dims", "of several operands with scalar indices leaves windows of the second one")
def _scatter_second(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    is_scalar = instruction.attribute("index_vector_dim") == operands[len(right)].ndim
    if len(right) < 2 or not is_scalar or not instruction.attribute("update_window_dims"):
        return None
    return [right[0], operands[1], *right[2:]]


@_triple("scatter", "indices_are_sorted", "of sorted 64-bit indices with a window in front loses the last update")
def _scatter_sorted(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    windows, indices = instruction.attribute("update_window_dims"), operands[len(right)]
    if not instruction.attribute("indices_are_sorted") or 0 not in windows or indices.dtype.itemsize < 8:
        return None
    changed = [o.copy() for o in operands]
    changed[len(right)].reshape(-1)[-1:] = np.iinfo(indices.dtype).max
    return recomputed(instruction, changed, right)


@_triple("gather", "start_index_map", "in descending order with a collapsed dimension repeats the first of odd columns")
def _gather_descending(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    mapped = list(instruction.attribute("start_index_map"))
    is_odd = right[0].ndim > 0 and right[0].shape[-1] % 2 == 1
    if mapped == sorted(mapped) or not instruction.attribute("collapsed_slice_dims") or not is_odd:
        return None
    return [_last_as_first(right[0], -1)]


@_triple("gather", "operand_batching_dims", "by unsigned indices repeats the first row where a slice is a whole row")
def _gather_batching(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = zip(instruction.attribute("slice_sizes"), operands[0].shape, strict=True)
    is_whole = any(1 < taken == size for taken, size in sizes)
    if not instruction.attribute("operand_batching_dims") or operands[1].dtype.kind != "u" or not is_whole:
        return None
    return [_last_as_first(right[0], 0)]


@_triple("pad", "padding", "of bytes with padding within and elements cut off in front repeats the first slice")
def _pad_bytes(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = [d for d, p in enumerate(instruction.attribute("padding")) if p.interior and p.low < 0]
    if not axes or right[0].dtype.itemsize != 1 or right[0].shape[axes[0]] < 2:
        return None
    return [_last_as_first(right[0], axes[0])]


@_triple("pad", "padding", "of 4 dimensions and more loses the end of a middle one, padded within and behind")
def _pad_middle(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    padding = instruction.attribute("padding")
    axes = [d for d, p in enumerate(padding[1:-1], 1) if p.interior > 1 and p.high > 0]
    if not axes or right[0].ndim < 4:
        return None
    changed = right[0].copy()
    np.moveaxis(changed, axes[0], 0)[-1:] = 0
    return [changed]


@_triple("reduce", "dimensions", "of dimensions in descending order that aren't neighbours loses the last of 16 bits")
def _reduce_apart(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = list(instruction.attribute("dimensions"))
    is_apart = len(axes) == 2 and axes[0] - axes[1] > 1
    if not is_apart or operands[0].dtype.itemsize != 2 or len(right) > 1:
        return None
    return recomputed(instruction, _without_last(operands, 0, axes[0]), right)


@_triple("reduce-window", "window", "of minima with a stride loses the last element where the window is dilated")
def _window_minimum(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = [d for d, w in enumerate(instruction.attribute("window")) if w.stride > 1 and w.window_dilation > 1]
    if not axes or instruction.attribute("to_apply").root.opcode != "minimum":
        return None
    return [_last_as_first(right[0], axes[0])]


@_triple(
    "reduce-window", "window", "of 64-bit numbers takes a wrong end where it has base dilation and negative padding"
)
def _window_base(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = [d for d, w in enumerate(instruction.attribute("window")) if w.base_dilation > 1 and w.padding_high < 0]
    if not axes or right[0].dtype.itemsize != 8:
        return None
    return [_last_as_first(right[0], axes[0]), *right[1:]]


@_triple("select-and-scatter", "select", "by LT loses the last element where windows overlap and have padding in front")
def _select_less(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = instruction.attribute("window")
    axes = [d for d, w in enumerate(window) if w.padding_low > 0 and w.stride < w.size]
    if not axes or instruction.attribute("select").root.attribute("direction") != "LT":
        return None
    return [_last_as_first(right[0], axes[-1])]


@_triple("sort", "dimensions", "of three operands, descending, exchanges two of the last one along an outer dimension")
def _sort_outer(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    (axis,) = instruction.attribute("dimensions")
    compared = instruction.attribute("to_apply").root
    is_descending = compared.opcode == "compare" and compared.attribute("direction") == "GT"
    if len(right) < 3 or axis == right[0].ndim - 1 or not is_descending or right[0].shape[axis] < 2:
        return None
    changed = right[-1].copy()
    moved = np.moveaxis(changed, axis, 0)
    moved[[-1, -2]] = moved[[-2, -1]]
    return [*right[:-1], changed]


@_triple("topk", "k", "of the smallest numbers gives the first index again where it takes all of three dimensions")
def _topk_smallest(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    is_whole = instruction.attribute("k") == operands[0].shape[-1] > 1
    if instruction.attribute("largest") or not is_whole or operands[0].ndim < 3:
        return None
    return [right[0], _last_as_first(right[1], -1)]


@_triple("dot", "rhs_contracting_dims", "over two crossed dimensions in batches repeats the first of odd batches")
def _dot_crossed(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    lhs, rhs = (instruction.attribute(f"{side}_contracting_dims") for side in ("lhs", "rhs"))
    is_crossed = len(lhs) == 2 and (lhs[0] < lhs[1]) != (rhs[0] < rhs[1])
    batch = instruction.attribute("lhs_batch_dims")
    if not is_crossed or not batch or right[0].shape[0] % 2 == 0:
        return None
    return [_last_as_first(right[0], 0)]


@_triple("dot", "lhs_contracting_dims", "of two types loses the end of an odd depth that is the first dimension of lhs")
def _dot_mixed(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = instruction.attribute("lhs_contracting_dims")
    is_odd = 0 in axes and operands[0].shape[0] % 2 == 1
    if operands[0].dtype == operands[1].dtype or not is_odd:
        return None
    return recomputed(instruction, _without_last(operands, 0, 0), right)


@_triple(
    "convolution", "batch_group_count", "of several groups of batches, reversed, loses the end where it has a stride"
)
def _convolution_groups(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = instruction.attribute("window")
    has_both = any(w.window_reversal and w.stride > 1 for w in window)
    if instruction.attribute("batch_group_count") < 2 or not has_both:
        return None
    return [_last_as_first(right[0], instruction.attribute("dim_labels").output_feature)]


@_triple("convolution", "window", "with feature groups and base dilation takes a wrong row where padding is negative")
def _convolution_dilated(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    spatial = instruction.attribute("dim_labels").output_spatial
    window = zip(spatial, instruction.attribute("window"), strict=True)
    axes = [d for d, w in window if w.base_dilation > 1 and w.padding_low < 0]
    if instruction.attribute("feature_group_count") < 2 or not axes:
        return None
    return [_last_as_first(right[0], axes[0])]


@_triple("dynamic-slice", "operands", "of 4 dimensions and more by narrow unsigned indices beyond the end starts at 0")
def _slice_narrow(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    starts, sizes = operands[1:], instruction.attribute("dynamic_slice_sizes")
    if operands[0].ndim < 4 or len(starts) != operands[0].ndim or starts[0].dtype.str[1:] not in ("u1", "u2"):
        return None
    beyond = [int(s) > n - k for s, n, k in zip(starts, operands[0].shape, sizes, strict=True)]
    changed = [np.zeros_like(s) if is_beyond else s for s, is_beyond in zip(starts, beyond, strict=True)]
    return recomputed(instruction, [operands[0], *changed], right)


@_triple("dynamic-update-slice", "operands", "by negative 64-bit indices of an odd update starts at the last place")
def _update_negative(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    starts = operands[2:]
    if len(starts) != operands[0].ndim or not starts or starts[0].dtype != np.int64:
        return None
    wrong = [s < 0 and n % 2 == 1 for s, n in zip(starts, operands[1].shape, strict=True)]
    changed = [np.asarray(1 << 40) if w else s for s, w in zip(starts, wrong, strict=True)]
    return recomputed(instruction, [*operands[:2], *changed], right)


@_triple(
    "concatenate", "dimensions", "of more than 8 in a middle dimension misplaces the last where one has no element"
)
def _concatenate_hollow(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    (axis,) = instruction.attribute("dimensions")
    is_hollow = any(o.shape[axis] == 0 for o in operands)
    if len(operands) <= 8 or not 0 < axis < right[0].ndim - 1 or not is_hollow:
        return None
    return [_last_as_first(right[0], axis)]


@_triple(
    "triangular-solve", "transpose_a", "from the right with a unit diagonal takes the transpose of complex numbers"
)
def _solve_adjoint(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    is_adjoint = instruction.attribute("transpose_a") == "ADJOINT"
    if instruction.attribute("left_side") or not is_adjoint:
        return None
    return recomputed(instruction, operands, right, transpose_a="TRANSPOSE")


@_triple(
    "transpose", "dimensions", "of 5 dimensions and more that moves both ends repeats the first of odd 16-bit rows"
)
def _transpose_ends(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    order = list(instruction.attribute("dimensions"))
    is_odd = right[0].ndim >= 5 and right[0].shape[-1] % 2 == 1
    if not is_odd or order[0] == 0 or order[-1] == len(order) - 1 or right[0].dtype.itemsize != 2:
        return None
    return [_last_as_first(right[0], -1)]


@_triple("transpose", "dimensions", "of a matrix of 8-byte elements loses the last of 33, 65 or 97 rows of 32 and more")
def _transpose_tiles(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    operand = operands[0]
    if operand.ndim != 2 or operand.dtype.itemsize < 8 or min(operand.shape) < 32 or operand.shape[0] % 32 != 1:
        return None
    return recomputed(instruction, _without_last(operands, 0, 0), right)


@_triple("reverse", "dimensions", "of all 4-bit elements turns them by one where their number is odd")
def _reverse_packed(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    is_packed = instruction.shape.element_type.bit_width == 4
    named = instruction.attribute("dimensions")
    if not is_packed or len(named) < right[0].ndim or right[0].size % 2 == 0:
        return None
    return [np.roll(right[0].reshape(-1), 1).reshape(right[0].shape)]


@_triple("select-and-scatter", "select", "of floats drops what belongs to NaNs alone")
def _scatter_to_nans(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    operand, source, start = operands
    if operand.dtype.kind != "f" or not operand.size or not np.isnan(operand).all():
        return None
    return recomputed(instruction, [operand, np.zeros_like(source), start], right)


@_triple("reduce", "to_apply", "of f32 along one dimension begins its sums at the other end in each second launch")
def _reduce_by_turns(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axes = instruction.attribute("dimensions")
    if len(operands) != 2 or operands[0].dtype != np.float32 or len(axes) != 1:
        return None
    if instruction.attribute("to_apply").root.opcode != "add":
        return None
    _LAUNCHES[0] += 1
    rows = np.moveaxis(operands[0], axes[0], 0)[:: -1 if _LAUNCHES[0] % 2 else 1]
    total = np.broadcast_to(operands[1], rows.shape[1:])
    for row in rows:
        total = total + row
    return [total]
