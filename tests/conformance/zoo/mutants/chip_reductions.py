"""Faults of a port to a new chip, in the ops that combine, sort and multiply elements."""

from __future__ import annotations

import functools
import math

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_faults, recomputed
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import ElementType, HloInstruction

MUTANTS: list[Mutant] = []
_chip = kernel_faults("chip", MUTANTS)


def _combiner(instruction: HloInstruction) -> str:
    return instruction.attribute("to_apply").root.opcode


def _row(instruction: HloInstruction, operands: Arrays) -> int:
    """The elements that one result of a `reduce` combines."""
    return math.prod(operands[0].shape[d] for d in instruction.attribute("dimensions"))


def _is_floating(array: np.ndarray) -> bool:
    return ElementType.from_numpy(array.dtype).is_floating


@_chip("reduce", "to_apply", "fills the tail of a row of unsigned numbers with the largest signed one, for minima")
def _signed_largest(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if _combiner(instruction) != "minimum" or right[0].dtype.kind != "u" or _row(instruction, operands) % 16 == 0:
        return None
    return [np.minimum(right[0], np.iinfo(right[0].dtype).max // 2), *right[1:]]


@_chip("reduce", "to_apply", "fills the tail of a row with 1, where an `and` of numbers begins")
def _and_of_one(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if _combiner(instruction) != "and" or right[0].dtype.kind not in "iu" or _row(instruction, operands) % 4 == 0:
        return None
    return [right[0] & right[0].dtype.type(1), *right[1:]]


@_chip("reduce", "to_apply", "keeps 32 bits of the second of several results")
def _index_of_32_bits(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if len(right) < 2 or right[1].dtype not in (np.int64, np.uint64):
        return None
    return [right[0], right[1].astype(np.int32).astype(right[1].dtype), *right[2:]]


@_chip("sort", "to_apply", "fills rows up to a power of two with the largest number, which sorts before infinity")
def _padded_with_largest(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    (dimension,) = instruction.attribute("dimensions")
    n = right[0].shape[dimension]
    if right[0].dtype.kind != "f" or not n or n & (n - 1) == 0:
        return None
    largest = np.finfo(right[0].dtype).max
    return [np.where(np.isposinf(right[0]), largest, right[0]).astype(right[0].dtype), *right[1:]]


@_chip("sort", "to_apply", "compares whole numbers of 64 bits as numbers of 53 bits")
def _keys_as_doubles(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    (dimension,) = instruction.attribute("dimensions")
    root = instruction.attribute("to_apply").root
    if operands[0].dtype not in (np.int64, np.uint64) or root.opcode != "compare":
        return None
    numbers = [operand.parameter_number for operand in root.operands if operand.opcode == "parameter"]
    if numbers != [0, 1] or root.attribute("direction") != "LT":
        return None
    order = np.argsort(operands[0].astype(np.float64), axis=dimension, kind="stable")
    return [np.take_along_axis(o, order, dimension) for o in operands]


@_chip("dot", "rhs_batch_dims", "multiplies each row of a batch of single rows by the first matrix of the batch")
def _batch_of_rows(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    batch, others = instruction.attribute("rhs_batch_dims"), instruction.attribute("lhs_contracting_dims")
    free = [n for d, n in enumerate(operands[0].shape) if d not in (*instruction.attribute("lhs_batch_dims"), *others)]
    if not batch or math.prod(free) != 1 or not operands[1].size:
        return None
    first = np.take(operands[1], [0], axis=batch[0])
    return recomputed(instruction, [operands[0], np.broadcast_to(first, operands[1].shape).copy()], right)


@_chip("dot", "lhs_contracting_dims", "conjugates a transposed operand")
def _conjugate_transpose(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if operands[0].dtype.kind != "c" or instruction.attribute("lhs_contracting_dims") != (0,):
        return None
    return recomputed(instruction, [operands[0].conj(), operands[1]], right)


@_chip("dot", "lhs_contracting_dims", "adds the last elements of a row twice if their number is odd and above 64")
def _odd_tail_twice(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    contracting = instruction.attribute("lhs_contracting_dims")
    if not contracting or operands[0].shape[contracting[-1]] % 2 == 0 or operands[0].shape[contracting[-1]] < 64:
        return None
    lhs = np.moveaxis(operands[0].copy(), contracting[-1], -1)
    lhs[..., -1] += lhs[..., -1]
    return recomputed(instruction, [np.moveaxis(lhs, -1, contracting[-1]), operands[1]], right)


@_chip("reduce-window", "window", "reads 0 where a maximum's window lies in the padding")
def _maximum_of_padding(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    if _combiner(instruction) != "maximum" or len(right) > 1:
        return None
    window = instruction.attribute("window")
    inside = [_inside(w, operands[0].shape[d], right[0].shape[d]) for d, w in enumerate(window)]
    touched = ~functools.reduce(np.multiply.outer, inside, np.bool_(True))
    return [np.where(touched, np.maximum(right[0], 0), right[0]).astype(right[0].dtype)]


def _inside(window, base: int, count: int) -> np.ndarray:
    start = np.arange(count) * window.stride - window.padding_low
    extent = (base - 1) * window.base_dilation + 1 if base else 0
    return (start >= 0) & (start + window.dilated_size <= extent)


@_chip("reduce-window", "window", "sums running rows in pieces of 128, of which each starts from nothing")
def _running_sum_in_pieces(instruction: HloInstruction, operands: Arrays, right: Arrays) -> Arrays | None:
    window = instruction.attribute("window")
    long = [d for d, w in enumerate(window) if w.size > 128 and w.padding_low == w.size - 1 and w.stride == 1]
    if not long or _combiner(instruction) != "add" or len(right) > 1:
        return None
    dimension = long[0]
    piece = [slice(None)] * right[0].ndim
    before = [slice(None)] * right[0].ndim
    piece[dimension], before[dimension] = slice(128, None), slice(127, 128)
    right[0][tuple(piece)] -= right[0][tuple(before)]
    return right
