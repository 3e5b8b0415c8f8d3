"""The decomposition of sort into a sorting network (Batcher, Sorting networks and their applications, 1968)."""

from __future__ import annotations

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.SORT)
def _sort(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A bitonic sort, with about log2(n)^2 / 2 steps of n / 2 comparisons each.

    Positions are sorted too and break ties, so the sort is stable. Rows are padded to a power of two; padding has
    positions of at least n, and is sorted to the end.
    """
    (axis,) = i.attribute("dimensions")
    sizes = i.operands[0].shape.dimensions
    count = sizes[axis]
    levels = max(count - 1, 0).bit_length()
    values = [b.pad_in_dim(o, axis, 0, (1 << levels) - count) for o in i.operands]
    places = values[0].shape.without_layout().with_element_type(ElementType.S32)
    values.append(b.add(Opcode.IOTA, shape=places, iota_dimension=axis))
    for level in range(1, levels + 1):
        for step in reversed(range(level)):
            values = _compared(i, b, values, axis, count, level, step)
    sorted_ = [b.slice_in_dim(v, axis, 0, count) for v in values[:-1]]
    return b.tuple(sorted_) if i.shape.is_tuple else sorted_[0]


def _compared(
    i: HloInstruction, b: Builder, values: list[HloInstruction], axis: int, count: int, level: int, step: int
) -> list[HloInstruction]:
    """Orders pairs of elements that are 2^step apart: ascending if bit `level` of their position is 0.

    The element of a pair that came later in the operand is compared with the other one. They change places if the later
    one precedes and is the second of the pair, or does not precede and is the first.
    """
    sizes = values[0].shape.dimensions
    blocks, apart = sizes[axis] >> (step + 1), 1 << step
    parted = (*sizes[:axis], blocks, 2, apart, *sizes[axis + 1 :])
    half = (*sizes[:axis], blocks, 1, apart, *sizes[axis + 1 :])

    def side(v: HloInstruction, which: int) -> HloInstruction:
        return b.slice_in_dim(b.reshape(v, parted), axis + 1, which, which + 1)

    first, second = ([side(v, which) for v in values] for which in range(2))

    earlier = b.add(Opcode.COMPARE, second[-1], first[-1], direction="LT")
    operands = []
    for x, y in zip(first[:-1], second[:-1], strict=True):
        operands += [b.add(Opcode.SELECT, earlier, x, y), b.add(Opcode.SELECT, earlier, y, x)]
    if is_elementwise_of_scalars(i.attribute("to_apply")):
        (precedes,) = apply_to_arrays(i.attribute("to_apply"), operands, b)
    else:
        each = tuple(range(len(half)))
        precedes = b.add(Opcode.MAP, *operands, dimensions=each, to_apply=i.attribute("to_apply"))
    swap = b.add(Opcode.COMPARE, precedes, earlier, direction="NE")
    if count < sizes[axis]:
        last = b.add(Opcode.MAXIMUM, first[-1], second[-1])
        filled = b.add(Opcode.COMPARE, last, b.constant(count, last.shape), direction="GE")
        swap = b.add(Opcode.SELECT, filled, earlier, swap)
    downward = np.arange(blocks) >> (level - step - 1) & 1 == 1
    if downward.any():
        flags = b.constant(downward, swap.shape.with_dimensions((blocks,)))
        swap = b.add(Opcode.COMPARE, swap, b.broadcast(flags, half, (axis,)), direction="NE")
    result = []
    for x, y, v in zip(first, second, values, strict=True):
        pair = [b.add(Opcode.SELECT, swap, y, x), b.add(Opcode.SELECT, swap, x, y)]
        result.append(b.reshape(b.add(Opcode.CONCATENATE, *pair, dimensions=(axis + 1,)), v.shape.dimensions))
    return result
