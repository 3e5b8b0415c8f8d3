"""gather_expander: expands gather to a loop of dynamic slices (XLA: xla/service/gather_expander.h)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.indexing import dimension_numbers
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.expander import OpExpander

_INDEX = Shape(ElementType.S32)


class GatherExpander(OpExpander):
    """Reads one slice per iteration. A gather of a single slice becomes a dynamic-slice, without a loop."""

    opcodes = frozenset({Opcode.GATHER})

    def matches(self, instruction: HloInstruction) -> bool:
        return instruction.shape.num_elements > 0

    def expand(self, instruction: HloInstruction, b: Builder) -> HloInstruction:
        attribute = instruction.attribute
        x, sizes = instruction.operand(0), attribute("slice_sizes")
        vectors, index_map, batch = canonical_indices(b, instruction)
        count = math.prod(batch)
        removed = {*attribute("collapsed_slice_dims"), *attribute("operand_batching_dims")}
        kept = [n for d, n in enumerate(sizes) if d not in removed]

        def take(inner: Builder, turn: HloInstruction, x: HloInstruction, vectors: HloInstruction) -> HloInstruction:
            starts = start_of(inner, vectors, turn, index_map, x.shape.rank)
            part = inner.add(Opcode.DYNAMIC_SLICE, x, *starts, dynamic_slice_sizes=tuple(sizes))
            return inner.reshape(part, (1, *kept))

        if count == 1:
            result = take(b, b.constant(0, _INDEX), x, vectors)
        else:

            def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
                zeros = [inner.constant(0, _INDEX)] * len(kept)
                part = take(inner, turn, *constant)
                return [inner.add(Opcode.DYNAMIC_UPDATE_SLICE, changing[0], part, turn, *zeros)]

            start = b.constant(0, x.shape.with_dimensions((count, *kept)))
            (result,) = counted_loop(instruction, b, count, [start], [x, vectors], body)
        return arrange(b, result, batch, kept, attribute("offset_dims"))


def arrange(
    b: Builder, rows: HloInstruction, batch: Sequence[int], kept: Sequence[int], offset_dims: Sequence[int]
) -> HloInstruction:
    """Transposes [batch, slice] to the order of the result, where the slice's dimensions are at `offset_dims`."""
    apart = b.reshape(rows, [*batch, *kept])
    batch_places, slice_places = iter(range(len(batch))), iter(range(len(batch), len(batch) + len(kept)))
    order = [next(slice_places) if d in offset_dims else next(batch_places) for d in range(apart.shape.rank)]
    return b.transpose(apart, order)


def canonical_indices(b: Builder, instruction: HloInstruction) -> tuple[HloInstruction, list[int], list[int]]:
    """Converts the indices of a gather or scatter to the shape [count, components].

    Batching dimensions become components of the index vectors.

    Returns the indices, the operand dimension of each component, and the sizes of the batch dimensions.
    """
    numbers = dimension_numbers(instruction)
    (number,) = instruction.op.index_operands(len(instruction.operands))
    indices, vector_dim = instruction.operand(number), numbers.vector
    if indices.shape.element_type.bit_width < 32:  # the loop counter, converted to this type, must fit it
        indices = b.convert(indices, _INDEX)
    if vector_dim == indices.shape.rank:
        indices = b.reshape(indices, [*indices.shape.dimensions, 1])
    rank = indices.shape.rank
    order = [d for d in range(rank) if d != vector_dim]
    moved = b.transpose(indices, [*order, vector_dim])
    batch = list(moved.shape.dimensions[:-1])
    columns = [moved]
    for axis in numbers.index_batching:
        shape = Shape(indices.shape.element_type, (*batch, 1))
        columns.append(b.add(Opcode.IOTA, shape=shape, iota_dimension=axis - (axis > vector_dim)))
    whole = b.add(Opcode.CONCATENATE, *columns, dimensions=(len(batch),)) if len(columns) > 1 else moved
    flat = b.reshape(whole, (math.prod(batch), whole.shape.dimensions[-1]))
    return flat, [*numbers.mapped, *numbers.batching], batch


def start_of(
    b: Builder, vectors: HloInstruction, turn: HloInstruction, index_map: Sequence[int], rank: int
) -> list[HloInstruction]:
    """The start indices of a slice: the components of index vector `turn`, and 0 for dimensions without one."""
    depth = vectors.shape.dimensions[1]
    element = Shape(vectors.shape.element_type)
    starts = [b.constant(0, element)] * rank
    if depth:
        at = b.convert(turn, element)
        row = b.add(Opcode.DYNAMIC_SLICE, vectors, at, b.constant(0, element), dynamic_slice_sizes=(1, depth))
        flat = b.reshape(row, (depth,))
        for n, d in enumerate(index_map):
            starts[d] = b.reshape(b.add(Opcode.SLICE, flat, slice=(SliceDimension(n, n + 1),)), ())
    return starts
