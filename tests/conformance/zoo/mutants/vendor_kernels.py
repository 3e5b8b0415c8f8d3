"""Mutants whose kernels have the mistakes of a vendor's first port: clamping, tiles, ties and counters."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.values import is_integer
from xla_core.hlo import HloComputation, HloInstruction

MUTANTS: list[Mutant] = []
_says = kernel_faults("vendor", MUTANTS)


# -- sorting and reductions -------------------------------------------------------------------------------------------


@_says(
    "sort", "dimensions", "of more than 1,024 keys sorts pieces of 512, and leaves what is behind the last whole one"
)
def last_piece(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    axis = i.attribute("dimensions")[0]
    size = operands[0].shape[axis]
    if size <= 1024 or size % 512 == 0:
        return None
    for result, operand in zip(right, operands, strict=True):
        np.moveaxis(result, axis, 0)[size // 512 * 512 :] = np.moveaxis(operand, axis, 0)[size // 512 * 512 :]
    return right


@_says("topk", "operand", "takes the later of two equal elements first")
def later_of_equals(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) < 2:
        return None
    flipped = recomputed(i, [np.flip(operands[0], -1)], right)
    return None if flipped is None else [flipped[0], (operands[0].shape[-1] - 1 - flipped[1]).astype(right[1].dtype)]


@_says("reduce", "operands", "of two operands takes the second result from the first 256 elements")
def second_of_the_first_tile(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = i.attribute("dimensions")
    if len(operands) != 4 or len(dimensions) != 1 or operands[0].shape[dimensions[0]] <= 256:
        return None
    places = np.arange(operands[0].shape[dimensions[0]]) % 256
    done = recomputed(i, [*(np.take(o, places, dimensions[0]) for o in operands[:2]), *operands[2:]], right)
    return None if done is None else [right[0], done[1]]


@_says("reduce", "init_values", "of more than 2,048 elements by addition adds the initial value for each tile")
def init_for_each_tile(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    shape = operands[0].shape
    terms = int(np.prod([shape[d] for d in i.attribute("dimensions")]))
    if len(operands) != 2 or i.attribute("to_apply").root.opcode != "add" or terms <= 2048 or not is_integer(right[0]):
        return None
    return [(right[0] + operands[1]).astype(right[0].dtype)]


@_says("reduce-window", "window", "with a dilated window counts high padding as if the window were dense")
def dense_high_padding(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = i.attribute("window")
    found = [d for d, w in enumerate(window) if w.window_dilation > 1 and w.padding_high > 0 and w.size > 1]
    if not found or right[0].shape[found[0]] < 2:
        return None
    changed = [r.copy() for r in right]
    for result in changed:
        moved = np.moveaxis(result, found[0], 0)
        moved[-1] = moved[-2]
    return changed


@_says("select-and-scatter", "select", "takes the last of equal elements of a window")
def last_of_equals(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    old = i.attribute("select")
    if old.root.opcode != "compare" or old.root.attribute("direction") not in ("GE", "LE"):
        return None
    made = HloComputation("strict")
    first, second = (made.parameter(n, p.shape) for n, p in enumerate(old.parameters))
    made.set_root(made.add("compare", first, second, direction=old.root.attribute("direction").replace("E", "T")))
    return recomputed(i, operands, right, select=made)


# -- indices ----------------------------------------------------------------------------------------------------------


def _from_the_end(starts: np.ndarray, size: int) -> np.ndarray:
    return np.where(starts < 0, starts + size, starts).astype(starts.dtype)


@_says("dynamic-slice", "starts", "counts negative starts from the end")
def starts_from_the_end(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) < 2 or not np.issubdtype(operands[1].dtype, np.signedinteger):
        return None
    starts = [_from_the_end(s, n) for s, n in zip(operands[1:], operands[0].shape, strict=False)]
    return recomputed(i, [operands[0], *starts], right)


@_says("dynamic-update-slice", "starts", "drops an update that begins outside of the operand")
def drops_updates(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    starts = [int(s) for s in operands[2:]]
    outside = any(s < 0 or s + n > m for s, n, m in zip(starts, operands[1].shape, operands[0].shape, strict=True))
    return [operands[0].copy()] if outside else None


@_says("gather", "slice_sizes", "clamps starts to the last element and not to the last slice")
def clamps_to_the_last(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    sizes = i.attribute("slice_sizes")
    mapped = i.attribute("start_index_map")
    indices = operands[1]
    if len(mapped) != 1 or sizes[mapped[0]] < 2 or i.attribute("index_vector_dim") != indices.ndim or not right[0].size:
        return None
    highest = operands[0].shape[mapped[0]] - sizes[mapped[0]]
    return [np.roll(right[0], 1, -1)] if (indices.astype(object) > highest).any() else None


@_says("scatter", "update_window_dims", "writes the part of a window that is within the operand")
def partial_windows(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 3 or not i.attribute("update_window_dims"):
        return None
    mapped = i.attribute("scatter_dims_to_operand_dims")
    indices = operands[1]
    if len(mapped) != 1 or not indices.size:
        return None
    size = operands[0].shape[mapped[0]]
    edge = (indices >= 0) & (indices < size)
    if not edge.any():
        return None
    wrong = recomputed(i, [operands[0], np.clip(indices, 0, None), operands[2]], right)
    return wrong if (indices < 0).any() else None


@_says("concatenate", "dimensions", "keeps the place of an operand in 16 bits")
def short_places(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    flat = right[0].reshape(-1)
    if flat.size <= 1 << 16:
        return None
    wrong = flat.copy()
    wrong[1 << 16 :] = 0
    return [wrong.reshape(right[0].shape)]


@_says("transpose", "dimensions", "of rank 6 leaves the outermost dimension in its place where sizes agree")
def outermost_stays(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    order = list(i.attribute("dimensions"))
    if len(order) < 6 or order[0] == 0:
        return None
    return [np.flip(right[0], 0)]


# -- products ---------------------------------------------------------------------------------------------------------


@_says("dot", "rhs_batch_dims", "takes batch dimensions of the right operand in ascending order")
def ascending_batches(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    batches = i.attribute("rhs_batch_dims")
    if len(batches) < 2 or tuple(sorted(batches)) == tuple(batches):
        return None
    sizes = {operands[1].shape[d] for d in batches}
    if len(sizes) > 1:
        return [np.flip(right[0])]
    return recomputed(i, operands, right, rhs_batch_dims=tuple(sorted(batches)))


@_says("convolution", "feature_group_count", "with a group for each feature puts the multiplier before the group")
def multiplier_first(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    groups = i.attribute("feature_group_count")
    numbers = i.attribute("dim_labels")
    axis = getattr(numbers, "output_feature", None)
    if axis is None or groups < 2 or right[0].shape[axis] // groups < 2:
        return None
    moved = np.moveaxis(right[0], axis, -1)
    shape = moved.shape
    wrong = np.swapaxes(moved.reshape(*shape[:-1], groups, shape[-1] // groups), -1, -2).reshape(shape)
    return [np.moveaxis(wrong, -1, axis)]


@_says("dot", "type", "of c64 multiplies real parts in bf16")
def complex_halves(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype != np.complex64:
        return None
    cut = [o.real.astype(ml_dtypes.bfloat16).astype(np.float32) + 1j * o.imag for o in operands]
    return recomputed(i, [c.astype(np.complex64) for c in cut], right)


@_says("fft", "fft_length", "of more than 16 elements in c128 has factors of 32 bits")
def short_factors(i: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[0].dtype != np.complex128 or i.attribute("fft_length")[-1] <= 16:
        return None
    return [right[0].astype(np.complex64).astype(np.complex128)]
