"""dynamic-slice and dynamic-update-slice, whose start indices are operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluation.evaluation_context import EvaluationContext
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops import sharding_rules
from xla_core.hlo.ops.rules import (
    OpGroup,
    array,
    attr,
    check,
    dims,
    extended,
)
from xla_core.hlo.table.op_table import Attributes, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

entry = OpGroup("movement").entry


def check_start_indices(indices: Sequence[Shape], rank: int) -> None:
    """Checks that there is one scalar integer for each dimension, or (in the old form) one vector of them."""
    types = {array(i).element_type for i in indices}
    check(len(types) <= 1 and all(t.is_integral for t in types), "the start indices must have one integer type")
    if not (len(indices) == rank and all(i.is_scalar for i in indices)) and not (
        len(indices) == 1 and indices[0].dimensions == (rank,)
    ):
        raise InvalidArgumentError(f"{len(indices)} start indices for rank {rank}; expected a scalar per dimension")


def _dynamic_slice_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, sizes = array(operands[0]), attributes["dynamic_slice_sizes"]
    check_start_indices(operands[1:], operand.rank)
    check(len(sizes) == operand.rank, lambda: f"{len(sizes)} slice sizes for rank {operand.rank}")
    for size, bound in zip(sizes, operand.dimensions, strict=True):
        if not 0 <= size <= bound:
            raise InvalidArgumentError(f"slice size {size} is not within a dimension of {bound}")
    return dims(operand.element_type, sizes)


def _dynamic_slice(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, sizes = values[0], instruction.attribute("dynamic_slice_sizes")
    where = _start_indices(values[1:], operand.shape, sizes)
    for axis in _short(operand, sizes):
        operand = extended(operand, axis, sizes[axis])
    return operand[where]


def _dynamic_update_slice_shape(operands: Sequence[Shape], attributes: Attributes, declared: Shape | None) -> Shape:
    operand, update = array(operands[0]), array(operands[1], "the update")
    check_start_indices(operands[2:], operand.rank)
    if (
        update.element_type is not operand.element_type
        or update.rank != operand.rank
        or any(u > o for u, o in zip(update.dimensions, operand.dimensions, strict=True))
    ):
        raise InvalidArgumentError(f"update {update.without_layout()} does not fit into {operand.without_layout()}")
    return operand.without_layout()


def _dynamic_update_slice(context: EvaluationContext, instruction: HloInstruction, values: list[Value]) -> Value:
    operand, update = values[0], values[1]
    where = _start_indices(values[2:], operand.shape, update.shape)
    for axis in _short(operand, update.shape):
        update = update[(slice(None),) * axis + (slice(0, operand.shape[axis]),)]
    result = np.array(operand)
    result[where] = update
    return result


def _short(operand: np.ndarray, sizes: Sequence[int]) -> list[int]:
    """Returns the dimensions whose actual size is less than the requested size."""
    return [axis for axis, (have, want) in enumerate(zip(operand.shape, sizes, strict=True)) if have < want]


def _start_indices(indices: Sequence[Value], bounds: Sequence[int], sizes: Sequence[int]) -> tuple[slice, ...]:
    """Returns the slices that start at the indices, clamped to the bounds."""
    if len(indices) == 1 and indices[0].ndim == 1:
        indices = indices[0]
    return tuple(
        [
            slice(start := max(0, min(int(index), bound - size)), start + size)
            for index, bound, size in zip(indices, bounds, sizes, strict=True)
        ]
    )


entry(
    Opcode.DYNAMIC_SLICE,
    (1, None),
    _dynamic_slice_shape,
    _dynamic_slice,
    Trait.DATA_MOVEMENT,
    Trait.INDEX_MAP,
    Trait.EXACT_IN_WIDER_INTEGERS,
    Trait.PRIMITIVE,
    Trait.READS_PART,
    doc="A slice of fixed size at start indices, which are clamped so that it lies within the operand. The operands "
    "are the array, then a scalar for each of its dimensions.",
    index_operands=lambda count: range(1, count),
    dynamic_slice_sizes=attr(
        "ints", doc="The sizes of the result; the start of each dimension is an operand, a scalar integer."
    ),
    sharding_rule=sharding_rules.of_slice,
    shard_attributes=sharding_rules.of_dynamically_sliced_shard,
)
entry(
    Opcode.DYNAMIC_UPDATE_SLICE,
    (2, None),
    _dynamic_update_slice_shape,
    _dynamic_update_slice,
    Trait.DATA_MOVEMENT,
    Trait.PRIMITIVE,
    Trait.EXACT_IN_WIDER_INTEGERS,
    doc="The operand with a slice replaced by the update; the start indices are clamped.",
    index_operands=lambda count: range(2, count),
    in_place_operands=lambda count: (0,),
)
