"""The decomposition of a gather of many slices into a loop over the positions of slices in the operand."""

from __future__ import annotations

import itertools
import math

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.decompositions.gather_as_slice import gather_as_slice
from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.expanders.gather_expander import arrange, canonical_indices, start_of
from xla_core.passes.legalization.decompositions import decomposition

_STEP = 1 << 16  # how many elements a device selects in the time that an iteration of a small loop takes
_INDEX = Shape(ElementType.S32)


@decomposition(Opcode.GATHER)
def _gather_of_one_place(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Slices the operand if the indices choose nothing."""
    return gather_as_slice(i, b)


@decomposition(Opcode.GATHER)
def _gather(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Writes the slice at each position to all places of the result whose index selects it.

    This is for small operands and many indices. For others, the expander takes a slice for each index vector.
    """
    (x, indices), attribute = i.operands, i.attribute
    sizes, removed = attribute("slice_sizes"), {*attribute("collapsed_slice_dims"), *attribute("operand_batching_dims")}
    index_map = [*attribute("start_index_map"), *attribute("operand_batching_dims")]
    positions = [x.shape.dimensions[d] - sizes[d] + 1 for d in index_map]
    kept = [n for d, n in enumerate(sizes) if d not in removed]
    count = i.shape.num_elements // max(math.prod(kept), 1)
    steps = math.prod(positions)
    if indices.shape.element_type is not ElementType.S32 or steps * (_STEP + i.shape.num_elements) >= count * _STEP:
        return None
    vectors, index_map, batch = canonical_indices(b, i)
    starts = np.array(list(itertools.product(*map(range, positions))), np.int32)
    table = b.constant(starts, Shape(ElementType.S32, starts.shape))
    numbers = HloExpression(b, b.constant(0, _INDEX.with_dimensions((count,))))
    for n, limit in enumerate(positions):
        column = b.add(Opcode.SLICE, vectors, slice=(SliceDimension(0, count), SliceDimension(n, n + 1)))
        start = HloExpression(b, b.reshape(column, (count,))).maximum(0).minimum(limit - 1)
        numbers = numbers * limit + start

    def body(inner: Builder, turn: HloInstruction, changing: Values, constant: Values) -> Values:
        x, table, numbers = constant
        at = start_of(inner, table, turn, index_map, x.shape.rank)
        part = inner.reshape(inner.add(Opcode.DYNAMIC_SLICE, x, *at, dynamic_slice_sizes=tuple(sizes)), kept)
        named = inner.add(Opcode.COMPARE, numbers, inner.broadcast(turn, (count,)), direction="EQ")
        whole = changing[0].shape.dimensions
        values = inner.broadcast(part, whole, range(1, len(whole)))
        return [inner.add(Opcode.SELECT, inner.broadcast(named, whole, (0,)), values, changing[0])]

    first = b.constant(0, x.shape.with_dimensions((count, *kept)))
    (result,) = counted_loop(i, b, steps, [first], [x, table, numbers.i], body)
    return arrange(b, result, batch, kept, attribute("offset_dims"))
