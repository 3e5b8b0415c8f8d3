"""Pads gather, scatter, dynamic-slice and dynamic-update-slice."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.dynamic_padder.padded import S32, Padded, Value, mask, merged, size_of, valid


def gather(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded | None:
    """Slices of a whole dimension have its size. Others are clamped to the sizes, and read zeros beyond them."""
    operand, indices = operands
    attributes, axis = i.attributes, i.attribute("index_vector_dim")
    lengths, named = attributes["slice_sizes"], attributes["start_index_map"]
    collapsed = {*attributes["collapsed_slice_dims"], *attributes.get("operand_batching_dims", ())}
    kept = [d for d in range(operand.value.shape.rank) if d not in collapsed]
    whole = [d for d in operand.sizes if d in kept and lengths[d] == operand.dimensions[d]]
    sizes = {attributes["offset_dims"][kept.index(d)]: operand.sizes[d] for d in whole}
    batch = [d for d in range(i.shape.rank) if d not in attributes["offset_dims"]]
    places = [d for d in range(indices.value.shape.rank) if d != axis]
    for d, size in indices.sizes.items():
        if d not in places:
            return None
        sizes[batch[places.index(d)]] = size
    cut = [d for d in operand.sizes if d not in whole]
    data = mask(b, operand, cut, b.constant(0, Shape(operand.value.shape.element_type)))
    at = indices.value
    if any(d in cut for d in named):
        room = [(HloExpression(b, size_of(b, operand, d)) - lengths[d]).maximum(0).i for d in named]
        signed = b.convert(at, Shape(ElementType.S64))
        limits = _index_vector(b, room, signed.shape, axis)
        at = b.add(Opcode.CLAMP, b.constant(0, signed.shape), signed, limits)
    return Padded(b.clone(i, [data, at], shape=i.shape.with_dimensions(i.shape.dimensions)), sizes)


def _index_vector(b: Builder, values: Sequence[HloInstruction], indices: Shape, axis: int) -> HloInstruction:
    """An array with the shape of the indices; component k of each index vector is scalar `values[k]`."""
    if axis == indices.rank:
        return b.convert(b.broadcast(values[0], indices.dimensions), indices)
    parts = [b.reshape(value, (1,)) for value in values]
    vector = parts[0] if len(parts) == 1 else b.add(Opcode.CONCATENATE, *parts, dimensions=(0,))
    return b.convert(b.broadcast(vector, indices.dimensions, (axis,)), indices)


def scatter(b: Builder, i: HloInstruction, operands: list[Padded]) -> Value | None:
    """Replaces indices that are padding or whose window exceeds the sizes with -1, which scatter drops."""
    n = len(operands) // 2
    data, indices, updates = operands[:n], operands[n], operands[n + 1 :]
    first, update = data[0], Padded(updates[0].value, merged(updates))
    sizes, attributes = merged(data), i.attributes
    windows = attributes["update_window_dims"]
    removed = {*attributes["inserted_window_dims"], *attributes.get("input_batching_dims", ())}
    window_of = dict(zip((d for d in range(len(first.dimensions)) if d not in removed), windows, strict=True))
    named: Sequence[int] = attributes["scatter_dims_to_operand_dims"]
    axis = attributes["index_vector_dim"]
    if not named or axis in indices.sizes:
        return None
    for d, w in window_of.items():  # padding of a window may be written only beyond the operand's size
        is_whole = d in sizes and first.dimensions[d] == update.dimensions[w]
        if not is_whole and (w in update.sizes or (d in sizes and d not in named)):
            return None
    places = [d for d in range(indices.value.shape.rank) if d != axis]
    batch = [d for d in range(len(update.dimensions)) if d not in windows]
    ends = {p: update.sizes[u] for p, u in zip(places, batch, strict=True) if u in update.sizes}
    ends.update(indices.sizes)
    signed = b.convert(indices.value, Shape(ElementType.S64))
    inside = valid(b, Padded(signed, ends), ends)
    if any(d in sizes for d in named):
        last = []
        for d in named:
            window = size_of(b, update, window_of[d]) if d in window_of else b.constant(1, S32)
            last.append(b.add(Opcode.SUBTRACT, size_of(b, Padded(first.value, sizes), d), window))
        limits = _index_vector(b, last, signed.shape, axis)
        fits = b.add(Opcode.COMPARE, signed, limits, direction="LE")
        inside = fits if inside is None else b.add(Opcode.AND, inside, fits)
    if inside is not None:
        signed = b.add(Opcode.SELECT, inside, signed, b.constant(-1, signed.shape))
    values = [*(o.value for o in data), signed, *(o.value for o in updates)]
    if n == 1:
        return Padded(b.add(Opcode.SCATTER, *values, **attributes), sizes)
    made = b.add(Opcode.SCATTER, *values, **attributes)
    return tuple(Padded(part, sizes) for part in b.elements(made))


def dynamic_slice(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded | None:
    """Clamps the start so that the slice is within the operand's sizes; elements beyond the sizes are zero."""
    operand, starts = operands[0], operands[1:]
    lengths: Sequence[int] = i.attribute("dynamic_slice_sizes")
    if len(starts) != len(lengths):
        return None
    taken = Padded(b.constant(0, S32.with_dimensions(lengths)))
    data = mask(b, operand, operand.sizes, b.constant(0, Shape(operand.value.shape.element_type)))
    made = b.add(Opcode.DYNAMIC_SLICE, data, *_within(b, operand, taken, starts), dynamic_slice_sizes=lengths)
    return Padded(made)


def dynamic_update_slice(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded | None:
    """Updates an operand that is padded by the size of the update; beyond the update's sizes it stays unchanged."""
    operand, update, starts = operands[0], operands[1], operands[2:]
    if len(starts) != len(operand.dimensions):
        return None
    at = _within(b, operand, update, starts)
    if not update.sizes:
        return Padded(b.add(Opcode.DYNAMIC_UPDATE_SLICE, operand.value, update.value, *at), operand.sizes)
    room = tuple(PaddingDimension(0, n if d in update.sizes else 0) for d, n in enumerate(update.dimensions))
    wide = b.add(Opcode.PAD, operand.value, b.constant(0, Shape(operand.value.shape.element_type)), padding=room)
    there = b.add(Opcode.DYNAMIC_SLICE, wide, *at, dynamic_slice_sizes=update.dimensions)
    inside = valid(b, update, update.sizes)
    assert inside is not None
    wide = b.add(Opcode.DYNAMIC_UPDATE_SLICE, wide, b.add(Opcode.SELECT, inside, update.value, there), *at)
    zeros = [b.constant(0, S32)] * len(starts)
    return Padded(b.add(Opcode.DYNAMIC_SLICE, wide, *zeros, dynamic_slice_sizes=operand.dimensions), operand.sizes)


def _within(b: Builder, operand: Padded, part: Padded, starts: Sequence[Padded]) -> list[HloInstruction]:
    """The start indices as s32[], clamped so that the part is within the operand's sizes."""
    zero, made = b.constant(0, S32), []
    for d, start in enumerate(starts):
        index, bound = start.value, operand.dimensions[d]
        if index.shape.element_type.bit_width >= 32:  # may exceed s32; narrower types may not hold the bound
            index = b.add(Opcode.CLAMP, b.constant(0, index.shape), index, b.constant(bound, index.shape))
        last = b.add(Opcode.SUBTRACT, size_of(b, operand, d), size_of(b, part, d))
        made.append(b.add(Opcode.CLAMP, zero, b.convert(index, S32), b.add(Opcode.MAXIMUM, last, zero)))
    return made
