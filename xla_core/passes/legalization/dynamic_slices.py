"""Decomposes dynamic slices, dynamic updates and pad, for devices that read and write at constant indices only."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.DYNAMIC_SLICE)
def _dynamic_slice(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Removes the elements before and behind the slice, in each dimension by one power of two after another.

    For each bit of the start, from the highest, it selects the array without its first or without its last elements.
    It copies about twice the operand's elements in all.
    """
    x, starts = i.operand(0), i.operands[1:]
    if not _are_scalars(starts):
        return None
    for d, (index, size) in enumerate(zip(starts, i.shape.dimensions, strict=True)):
        room = x.shape.dimensions[d] - size
        start = _clamped(b, index, room)
        x = b.pad_in_dim(x, d, 0, size + (1 << room.bit_length()) - 1 - x.shape.dimensions[d])
        for k in reversed(range(room.bit_length())):
            apart, whole = 1 << k, x.shape.dimensions[d]
            late, early = b.slice_in_dim(x, d, apart, whole), b.slice_in_dim(x, d, 0, whole - apart)
            x = _has_bit(start, k).where(HloExpression(b, late), HloExpression(b, early)).i
    return x


@decomposition(Opcode.DYNAMIC_UPDATE_SLICE)
def _dynamic_update_slice(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Pads the update at the start or end by powers of two until it is at its start index, and selects it there."""
    x, update, starts = i.operand(0), i.operand(1), i.operands[2:]
    if not _are_scalars(starts):
        return None
    here: HloExpression | None = None
    for d, index in enumerate(starts):
        size, whole = i.operand(1).shape.dimensions[d], x.shape.dimensions[d]
        room = whole - size
        if not room:
            continue
        start = _clamped(b, index, room)
        for k in range(room.bit_length()):
            late, early = b.pad_in_dim(update, d, 1 << k, 0), b.pad_in_dim(update, d, 0, 1 << k)
            update = _has_bit(start, k).where(HloExpression(b, late), HloExpression(b, early)).i
        update = b.slice_in_dim(update, d, 0, whole)
        numbers = Shape(ElementType.S32, (whole,))
        place = HloExpression(b, b.add(Opcode.IOTA, shape=numbers, iota_dimension=0)) - start
        inside = (place >= 0) & (place < size)
        wide = HloExpression(b, b.broadcast(inside.i, x.shape.dimensions, (d,)))
        here = wide if here is None else here & wide
    return update if here is None else here.where(HloExpression(b, update), HloExpression(b, x)).i


def _are_scalars(starts: Sequence[HloInstruction]) -> bool:
    """Whether each dimension has a start of its own. Older programs have a vector of starts, which is split first."""
    return all(not start.shape.rank for start in starts)


def _clamped(b: Builder, index: HloInstruction, room: int) -> HloExpression:
    """The start, moved inside of the array, in s32."""
    start, kind = HloExpression(b, index), index.shape.element_type
    if kind.is_signed:
        start = start.maximum(0)
    if room <= kind.integer_range[1]:
        start = start.minimum(room)
    return start.astype(ElementType.S32)


def _has_bit(start: HloExpression, k: int) -> HloExpression:
    return (start & (1 << k)).differs(0)


@decomposition(Opcode.PAD, needs=[Opcode.CONCATENATE])
def _pad(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Joins the operand and its edges. Padding between elements is first joined along a dimension of its own."""
    x, value = i.operands
    for d, padding in enumerate(i.attribute("padding")):
        sizes = x.shape.dimensions
        if padding.interior and sizes[d] > 1:
            spread = b.reshape(x, (*sizes[: d + 1], 1, *sizes[d + 1 :]))
            between = b.broadcast(value, (*sizes[: d + 1], padding.interior, *sizes[d + 1 :]))
            spread = b.add(Opcode.CONCATENATE, spread, between, dimensions=(d + 1,))
            every = padding.interior + 1
            x = b.reshape(spread, (*sizes[:d], sizes[d] * every, *sizes[d + 1 :]))
            x = b.slice_in_dim(x, d, 0, sizes[d] * every - padding.interior)
        size, whole = x.shape.dimensions[d], i.shape.dimensions[d]
        first, last = (min(max(place, 0), whole) for place in (padding.low, padding.low + size))
        counts = (first, max(last - first, 0), whole - max(first, last))
        edges = [b.broadcast(value, (*sizes[:d], n, *sizes[d + 1 :])) for n in counts[::2]]
        kept = b.slice_in_dim(x, d, first - padding.low, last - padding.low) if first < last else x
        parts = [part for part, n in zip((edges[0], kept, edges[1]), counts, strict=True) if n]
        parts = parts or [b.broadcast(value, (*sizes[:d], 0, *sizes[d + 1 :]))]
        x = b.add(Opcode.CONCATENATE, *parts, dimensions=(d,)) if len(parts) > 1 else parts[0]
    return x
