"""Mutants whose kernels have the mistakes of a port in tiles, copies, indices, windows and state."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_float, is_integer
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("port", MUTANTS)


# -- products and transforms -------------------------------------------------------------------------------------------


@_says("dot", "operands", "of more than 48 columns repeats a column in a tail that is not a multiple of 16")
def tail_of_48(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    size = right[0].shape[-1] if right[0].ndim else 0
    if size <= 48 or size % 48 % 16 == 0:
        return None
    right[0][..., -1] = right[0][..., -2]
    return right


@_says("dot", "lhs_contracting_dims", "of more than 96 terms leaves out the one that is left over by 32")
def one_term_over(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    contracted = i.attribute("lhs_contracting_dims")
    size = operands[0].shape[contracted[-1]] if contracted else 0
    if size <= 96 or size % 32 != 1:
        return None
    left = operands[0].copy()
    np.moveaxis(left, contracted[-1], 0)[-1] = np.zeros((), left.dtype)
    return recomputed(i, [left, *operands[1:]], right)


@_says("dot", "type", "of integers saturates its sums in 24 bits")
def sums_in_24_bits(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not is_integer(right[0]) or right[0].dtype != np.int32:
        return None
    return [np.clip(right[0], -(1 << 23), (1 << 23) - 1)]


@_says("dot", "lhs_batch_dims", "with the left batch dimension behind the rows has the batches in reverse order")
def batch_behind_rows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    batches = i.attribute("lhs_batch_dims")
    return [np.flip(right[0], 0)] if len(batches) == 1 and batches[0] > 0 else None


@_says("convolution", "feature_group_count", "with groups and a dilated kernel has the kernel's taps in reverse order")
def dilated_groups(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dilated = [d for d, w in enumerate(i.attribute("window")) if w.window_dilation > 1]
    if i.attribute("feature_group_count") < 2 or not dilated:
        return None
    window = list(i.attribute("window"))
    first = window[dilated[0]]
    window[dilated[0]] = dataclasses.replace(first, window_reversal=not first.window_reversal)
    return recomputed(i, operands, right, window=tuple(window))


@_says("convolution", "window", "with a stride and unequal padding takes the low padding for both sides")
def padding_of_one_side(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = list(i.attribute("window"))
    found = [d for d, w in enumerate(window) if w.stride > 1 and w.padding_high > w.padding_low]
    if not found:
        return None
    first = window[found[0]]
    moved = dataclasses.replace(first, padding_low=first.padding_high, padding_high=first.padding_low)
    window[found[0]] = moved
    return recomputed(i, operands, right, window=tuple(window))


@_says("fft", "fft_length", "of 32, 128 or 512 numbers exchanges the halves")
def odd_powers(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    size = right[0].shape[-1]
    return [np.roll(right[0], size // 2, -1)] if i.attribute("fft_length")[-1] in (32, 128, 512) else None


@_says("cholesky", "lower", "of more than 16 rows leaves the last one of an odd number as it was")
def last_row_of_a_block(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    size = right[0].shape[-1]
    if size <= 16 or size % 2 == 0:
        return None
    right[0][..., -1, -1] = operands[0][..., -1, -1]
    return right


@_says("ragged-dot", "group_sizes", "computes the rows behind the last group with the last matrix")
def rows_behind_groups(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = operands[2].copy()
    if sizes.ndim != 1 or not sizes.size:
        return None
    rows = operands[0].shape[i.attribute("lhs_ragged_dims")[0]]
    sizes[-1] += max(0, rows - int(sizes.sum()))
    return recomputed(i, [operands[0], operands[1], sizes], right)


# -- reductions --------------------------------------------------------------------------------------------------------


@_says("reduce", "operands", "of more than 1,024 elements gives the place of the largest within its tile")
def place_in_tile(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = i.attribute("dimensions")
    if len(right) != 2 or not is_integer(right[1]) or len(dimensions) != 1:
        return None
    if operands[0].shape[dimensions[0]] <= 1024:
        return None
    return [right[0], (right[1] % 1024).astype(right[1].dtype)]


@_says("reduce", "to_apply", "of f16 by minimum overlooks a NaN in the last place")
def last_nan(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = i.attribute("dimensions")
    if len(operands) != 2 or i.attribute("to_apply").root.opcode != "minimum" or right[0].dtype != np.float16:
        return None
    if len(dimensions) != 1 or operands[0].shape[dimensions[0]] < 2:
        return None
    cut = operands[0].copy()
    moved = np.moveaxis(cut, dimensions[0], 0)
    moved[-1] = np.where(np.isnan(moved[-1]), moved[-2], moved[-1])
    return recomputed(i, [cut, operands[1]], right)


@_says("reduce", "to_apply", "by product leaves out the last of three that are left over by four")
def three_left_over(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = i.attribute("dimensions")
    if len(operands) != 2 or i.attribute("to_apply").root.opcode != "multiply" or len(dimensions) != 1:
        return None
    if operands[0].shape[dimensions[0]] % 4 != 3:
        return None
    cut = operands[0].copy()
    np.moveaxis(cut, dimensions[0], 0)[-1] = np.ones((), cut.dtype)
    return recomputed(i, [cut, operands[1]], right)


_LAST_SUMS: dict[HloInstruction, np.ndarray] = {}


@_says("reduce", "init_values", "of integers adds to the sums that the last run left")
def sums_of_the_last_run(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) != 1 or not is_integer(right[0]) or i.attribute("to_apply").root.opcode != "add":
        return None
    before = _LAST_SUMS.get(i)
    _LAST_SUMS[i] = right[0].copy()
    return None if before is None else [(right[0] + before).astype(right[0].dtype)]


@_says("reduce-window", "to_apply", "adds integers in 24 bits of a float")
def sums_of_floats(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) != 1 or right[0].dtype not in (np.int32, np.uint32):
        return None
    return [right[0].astype(np.float32).astype(np.int64).astype(right[0].dtype)]


@_says("select-and-scatter", "window", "chooses padding before a negative number at the border")
def padding_is_zero(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    old = i.attribute("select")
    padded = [d for d, w in enumerate(i.attribute("window")) if w.padding_low > 0]
    if not padded or old.root.opcode != "compare" or not old.root.attribute("direction").startswith("G"):
        return None
    first = np.moveaxis(right[0], padded[0], 0)[:1]
    first[np.moveaxis(operands[0], padded[0], 0)[:1] < 0] = operands[2]
    return right


@_says("sort", "to_apply", "in descending order has equal keys in reverse order, though it must be stable")
def descending_unstable(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    root = i.attribute("to_apply").root
    if not i.attribute("is_stable") or root.opcode != "compare" or root.attribute("direction") != "GT":
        return None
    axis = i.attribute("dimensions")[0]
    return recomputed(i, [np.flip(o, axis) for o in operands], right)


@_says("topk", "operand", "takes NaN for the smallest number")
def nan_is_smallest(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not is_float(operands[0]) or not np.isnan(operands[0]).any():
        return None
    lowest = np.asarray(-np.inf).astype(operands[0].dtype)
    return recomputed(i, [np.where(np.isnan(operands[0]), lowest, operands[0])], right)


# -- indices -----------------------------------------------------------------------------------------------------------


@_says("gather", "indices", "gives zeros for indices beyond the end")
def zeros_beyond_the_end(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    mapped, indices = i.attribute("start_index_map"), operands[1]
    if len(mapped) != 1 or i.attribute("index_vector_dim") != indices.ndim or i.attribute("offset_dims"):
        return None
    outside = indices.astype(object) >= operands[0].shape[mapped[0]]
    return [np.where(np.asarray(outside, bool), np.zeros((), right[0].dtype), right[0])]


@_says("scatter", "updates", "of bytes keeps one of several changes of the same word")
def words_in_a_race(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) != 1 or right[0].itemsize != 1:
        return None
    wrong, before = right[0].reshape(-1).copy(), operands[0].reshape(-1)
    changed = np.flatnonzero(wrong != before)
    for one, following in itertools.pairwise(changed):
        if one // 4 == following // 4:
            wrong[one] = before[one]
    return [wrong.reshape(right[0].shape)]


@_says("dynamic-slice", "starts", "takes negative starts of middle dimensions for large ones")
def unsigned_in_the_middle(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    starts = operands[1:]
    if operands[0].ndim < 3 or len(starts) != operands[0].ndim:
        return None
    ends = [np.asarray(n - s).astype(operands[1].dtype) for n, s in zip(operands[0].shape, right[0].shape, strict=True)]
    inner = range(1, len(starts) - 1)
    changed = [ends[d] if d in inner and starts[d] < 0 else starts[d] for d in range(len(starts))]
    return recomputed(i, [operands[0], *changed], right)


@_says("pad", "padding", "that removes elements at the high side removes them before it puts some between")
def removes_before(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    found = [d for d, p in enumerate(i.attribute("padding")) if p.high < 0 and p.interior > 0]
    if not found or not right[0].size:
        return None
    np.moveaxis(right[0], found[0], 0)[-1] = operands[1]
    return right


@_says(
    "concatenate", "dimensions", "of 16-bit elements writes words, so that the second operand of an odd place is late"
)
def words_of_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    seam = operands[0].shape[axis]
    if right[0].itemsize != 2 or axis != right[0].ndim - 1 or seam % 2 == 0 or len(operands) < 2:
        return None
    if operands[1].shape[axis] < 2:
        return None
    right[0][..., seam + 1] = right[0][..., seam]
    return right


@_says("broadcast", "dimensions", "of a complex scalar fills with its real part")
def fills_with_real_parts(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].ndim or operands[0].dtype.kind != "c":
        return None
    right[0].imag = right[0].real
    return right


@_says("iota", "iota_dimension", "along a middle dimension counts modulo 64")
def counts_to_64(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimension = i.attribute("iota_dimension")
    if not 0 < dimension < right[0].ndim - 1 or not is_integer(right[0]):
        return None
    return [(right[0] % right[0].dtype.type(64)).astype(right[0].dtype)]


@_says("reverse", "dimensions", "of rank 4 and more reverses none but the three outermost dimensions")
def three_outermost(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = [d for d in i.attribute("dimensions") if d < 3]
    return [np.flip(operands[0], dimensions)] if right[0].ndim >= 4 else None


@_says("transpose", "dimensions", "of rank 5 and more that keeps the innermost dimension takes the inverse order")
def inverse_order(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    order = list(i.attribute("dimensions"))
    if len(order) < 5 or order[-1] != len(order) - 1:
        return None
    return [np.transpose(operands[0], np.argsort(order)).reshape(right[0].shape)]


@_says("select", "operands", "with a scalar predicate copies 4,096 elements of the second choice")
def copies_a_page(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    chosen, _, other = operands
    if chosen.ndim or not right[0].ndim or chosen or right[0].size <= 4096:
        return None
    flat = right[0].reshape(-1).copy()
    flat[4096:] = operands[1].reshape(-1)[4096:]
    return [flat.reshape(other.shape)]


@_says("rng-bit-generator", "algorithm", "of u64 exchanges the words of each number")
def exchanged_words(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    bits = right[-1]
    if bits.dtype != np.uint64:
        return None
    return [*right[:-1], (bits << np.uint64(32)) | (bits >> np.uint64(32))]
