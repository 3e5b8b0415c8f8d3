"""Faults of a port to a new chip, in the ops that move elements, and in those of windows, matrices and random bits."""

from __future__ import annotations

import math

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import HloInstruction

MUTANTS: list[Mutant] = []
_chip = kernel_faults("chip", MUTANTS)


@_chip("gather", "start_index_map", "reads narrow indices without their sign")
def _indices_without_sign(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    indices = operands[1]
    if indices.dtype not in (np.int8, np.int16):
        return None
    return recomputed(instruction, [operands[0], np.where(indices < 0, np.iinfo(indices.dtype).max, indices)], right)


@_chip("scatter", "scatter_dims_to_operand_dims", "adds at most 32 updates of one element")
def _at_most_32_updates(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(operands) != 3 or instruction.attribute("to_apply").root.opcode != "add":
        return None
    indices, updates = operands[1], operands[2].copy()
    at = instruction.attribute("index_vector_dim")
    vectors = np.moveaxis(indices, at, -1) if at < indices.ndim else indices[..., None]
    windows = instruction.attribute("update_window_dims")
    places = [d for d in range(updates.ndim) if d not in windows]
    counts: dict[bytes, int] = {}
    moved = np.moveaxis(updates, places, range(len(places)))
    for place in np.ndindex(*vectors.shape[:-1]):
        key = vectors[place].tobytes()
        counts[key] = counts.get(key, 0) + 1
        if counts[key] > 32:
            moved[place] = 0
    return recomputed(instruction, [operands[0], indices, updates], right)


@_chip("reverse", "dimensions", "reverses two dimensions at most")
def _two_dimensions(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    dimensions = instruction.attribute("dimensions")
    return recomputed(instruction, operands, right, dimensions=dimensions[:2]) if len(dimensions) > 2 else None


@_chip("slice", "slice", "takes the first element for the last one, if the last stride is cut off by the limit")
def _cut_stride(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    last = instruction.attribute("slice")[-1] if instruction.attribute("slice") else None
    if last is None or not right[0].size or (last.limit - last.start) % last.stride == 0:
        return None
    right[0][..., -1] = right[0][..., 0]
    return right


@_chip("convolution", "batch_group_count", "deals the batch to the groups in turn")
def _batches_in_turn(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    groups, labels = instruction.attribute("batch_group_count"), instruction.attribute("dim_labels")
    batch = operands[0].shape[labels.input_batch]
    if groups == 1 or batch in (groups, 0):
        return None
    order = np.arange(batch).reshape(-1, groups).T.reshape(-1)
    return recomputed(instruction, [np.take(operands[0], order, labels.input_batch), operands[1]], right)


@_chip("convolution", "window", "multiplies by the kernel's last row where it reads padding at the high edge")
def _odd_high_edge(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window, labels = instruction.attribute("window"), instruction.attribute("dim_labels")
    if not window or window[-1].padding_high <= window[-1].padding_low or not right[0].size:
        return None
    last = [slice(None)] * right[0].ndim
    last[labels.output_spatial[-1]] = slice(-1, None)
    before = [slice(None)] * right[0].ndim
    before[labels.output_spatial[-1]] = (
        slice(-2, -1) if right[0].shape[labels.output_spatial[-1]] > 1 else slice(-1, None)
    )
    right[0][tuple(last)] = right[0][tuple(before)]
    return right


@_chip("cholesky", "lower", "reads both triangles")
def _both_triangles(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    a = operands[0]
    return recomputed(instruction, [((a + np.conj(np.swapaxes(a, -1, -2))) / 2).astype(a.dtype)], right)


@_chip("triangular-solve", "unit_diagonal", "divides by the diagonal of matrices of 32 rows and more")
def _divides_large_ones(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if not instruction.attribute("unit_diagonal") or operands[0].shape[-1] < 32:
        return None
    return recomputed(instruction, operands, right, unit_diagonal=False)


@_chip("fft", "fft_length", "divides the inverse by the last length alone")
def _scaled_by_last_length(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    lengths = instruction.attribute("fft_length")
    if not instruction.attribute("fft_type").startswith("I") or math.prod(lengths[:-1]) == 1:
        return None
    return [(right[0] * math.prod(lengths[:-1])).astype(right[0].dtype)]


@_chip("fft", "fft_length", "mixes up the twiddle factors of prime lengths above 10")
def _prime_length(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    n = instruction.attribute("fft_length")[-1]
    if instruction.attribute("fft_type") != "FFT" or n < 11 or any(n % d == 0 for d in range(2, n)):
        return None
    right[0][..., 1:] = right[0][..., 1:][..., ::-1].copy()
    return right


@_chip("rng-bit-generator", "algorithm", "drops the carry of its counter's lowest word")
def _no_carry(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    before, after = operands[0], right[0]
    if before.dtype != np.uint64 or before.size < 3 or after[1] >= before[1]:
        return None
    return [np.array([after[0], after[1], before[2]], np.uint64), right[1]]


@_chip("rng-bit-generator", "algorithm", "writes no last element of an odd number of narrow ones")
def _odd_number(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if right[1].dtype.itemsize > 2 or right[1].size % 2 == 0:
        return None
    right[1].reshape(-1)[-1] = 0
    return right


@_chip("stochastic-convert", "operand", "raises a number that its result's type holds, where the random bits are ones")
def _raises_exact_numbers(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    ones = operands[1] == np.iinfo(operands[1].dtype).max
    exact = right[0].astype(operands[0].dtype) == operands[0]
    up = (right[0].astype(np.float64) * 1.01).astype(right[0].dtype)
    return [np.where(ones & exact, up, right[0]).astype(right[0].dtype)]
