"""Handlers that pad an op, by opcode: (builder, instruction, padded operands) -> padded result, or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension, WindowDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.passes.dot_operands import dot_operands
from xla_core.passes.dynamic_padder.combiners import sorted_by_validity, with_validity
from xla_core.passes.dynamic_padder.indexing import dynamic_slice, dynamic_update_slice, gather, scatter
from xla_core.passes.dynamic_padder.padded import S32, Padded, Value, mask, merged, size_of, valid
from xla_core.passes.dynamic_padder.reshaping import reshaped, reshaped_to_sizes
from xla_core.registration import registers_in

Handler = Callable[[Builder, HloInstruction, list[Padded]], "Value | None"]

HANDLERS: dict[Opcode, Handler] = {}
_handles = registers_in(HANDLERS)


def _static(shape: Shape) -> Shape:
    return shape.with_dimensions(shape.dimensions)


@_handles(Opcode.OPT_BARRIER)
def elementwise(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded | None:
    """The result has the sizes of the operands."""
    if not i.shape.is_array or any(o.sizes and o.value.shape.rank != i.shape.rank for o in operands):
        return None
    return Padded(b.clone(i, [o.value for o in operands], shape=_static(i.shape)), merged(operands))


# -- sizes -----------------------------------------------------------------------------------------------------------


@_handles(Opcode.GET_DIMENSION_SIZE)
def _get_dimension_size(b: Builder, i: HloInstruction, operands: list[Padded]) -> Value:
    return b.convert(size_of(b, operands[0], i.attribute("dimensions")[0]), i.shape)


@_handles(Opcode.SET_DIMENSION_SIZE)
def _set_dimension_size(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    """If the size grows, the elements that become valid are zero."""
    operand, size = operands
    (dimension,) = i.attribute("dimensions")
    value = mask(b, operand, (dimension,), b.constant(0, Shape(operand.value.shape.element_type)))
    others = {d: n for d, n in operand.sizes.items() if d != dimension}
    if not (i.shape.dynamic_dimensions and i.shape.dynamic_dimensions[dimension]):
        return Padded(value, others)
    return Padded(value, {**others, dimension: _within(b, size.value, operand.dimensions[dimension])})


def _within(b: Builder, size: HloInstruction, bound: int) -> HloInstruction:
    """A size that the program computes, as s32[], clamped to its bound.

    A size outside its bound is undefined behaviour. Native code cannot raise, so the size is clamped and no access is
    outside the array; the reference evaluator raises.
    """
    return b.add(Opcode.CLAMP, b.constant(0, S32), b.convert(size, S32), b.constant(bound, S32))


# -- movement --------------------------------------------------------------------------------------------------------


@_handles(Opcode.BROADCAST)
def _broadcast(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    (operand,) = operands
    where = i.attribute("dimensions")
    made = b.add(Opcode.BROADCAST, operand.value, shape=_static(i.shape), dimensions=where)
    return Padded(made, {where[d]: size for d, size in operand.sizes.items()})


@_handles(Opcode.TRANSPOSE)
def _transpose(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    (operand,) = operands
    order = i.attribute("dimensions")
    sizes = {new: operand.sizes[old] for new, old in enumerate(order) if old in operand.sizes}
    return Padded(b.add(Opcode.TRANSPOSE, operand.value, dimensions=order), sizes)


@_handles(Opcode.REVERSE)
def _reverse(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    """Reverses the padded array, then shifts it so that the valid elements come first."""
    (operand,) = operands
    made = b.add(Opcode.REVERSE, operand.value, dimensions=i.attribute("dimensions"))
    turned = [d for d in i.attribute("dimensions") if d in operand.sizes]
    if not turned:
        return Padded(made, operand.sizes)
    bounds = operand.dimensions
    zero = b.constant(0, S32)
    starts = [(n - HloExpression(b, operand.sizes[d])).i if d in turned else zero for d, n in enumerate(bounds)]
    room = tuple(PaddingDimension(0, n if d in turned else 0) for d, n in enumerate(bounds))
    wide = b.add(Opcode.PAD, made, b.constant(0, Shape(made.shape.element_type)), padding=room)
    return Padded(b.add(Opcode.DYNAMIC_SLICE, wide, *starts, dynamic_slice_sizes=bounds), operand.sizes)


@_handles(Opcode.RESHAPE)
def _reshape(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded | None:
    return reshaped(b, operands[0], i.shape.dimensions)


@_handles(Opcode.DYNAMIC_RESHAPE)
def _dynamic_reshape(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    sizes = {
        d: _within(b, operands[1 + d].value, i.shape.dimensions[d])
        for d, is_dynamic in enumerate(i.shape.dynamic_dimensions)
        if is_dynamic
    }
    return reshaped_to_sizes(b, operands[0], i.shape.dimensions, sizes)


@_handles(Opcode.SLICE)
def _slice(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    """A dimension that is sliced whole keeps its size.

    Any other dimension gets the size of its slice if the result is dynamic there. If the result is static, elements
    beyond the operand's size are zero.
    """
    (operand,) = operands
    flags = i.shape.dynamic_dimensions or (False,) * i.shape.rank
    sizes, static = {}, []
    for d, size in operand.sizes.items():
        part = i.attribute("slice")[d]
        if part == SliceDimension(0, operand.dimensions[d]):
            sizes[d] = size
        elif flags[d]:
            length = (HloExpression(b, size).minimum(part.limit) - part.start).maximum(0)
            sizes[d] = ((length + (part.stride - 1)) / part.stride).i
        else:
            static.append(d)
    value = mask(b, operand, static, b.constant(0, Shape(operand.value.shape.element_type)))
    return Padded(b.add(Opcode.SLICE, value, slice=i.attribute("slice")), sizes)


@_handles(Opcode.PAD)
def _pad(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    """Masks the operand with the padding value, so that the high padding directly follows the valid elements."""
    operand, fill = operands
    padding: Sequence[PaddingDimension] = i.attribute("padding")
    sizes = {}
    for d, size in operand.sizes.items():
        n, p = HloExpression(b, size), padding[d]
        inside = n + (n - 1).maximum(0) * p.interior
        sizes[d] = (inside + (p.low + p.high)).maximum(0).i
    data = mask(b, operand, operand.sizes, fill.value)
    return Padded(b.add(Opcode.PAD, data, fill.value, padding=tuple(padding)), sizes)


@_handles(Opcode.CONCATENATE)
def _concatenate(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded:
    """Along a dynamic dimension, writes each operand at the position where the one before it ends."""
    (axis,) = i.attribute("dimensions")
    sizes = merged(Padded(o.value, {d: s for d, s in o.sizes.items() if d != axis}) for o in operands)
    if not any(axis in o.sizes for o in operands):
        return Padded(b.add(Opcode.CONCATENATE, *[o.value for o in operands], dimensions=(axis,)), sizes)
    made = b.constant(0, _static(i.shape))
    zero = at = b.constant(0, S32)
    for operand in operands:
        starts = [at if d == axis else zero for d in range(i.shape.rank)]
        made = b.add(Opcode.DYNAMIC_UPDATE_SLICE, made, operand.value, *starts)
        at = b.add(Opcode.ADD, at, size_of(b, operand, axis))
    return Padded(made, {**sizes, axis: at})


HANDLERS |= {
    Opcode.GATHER: gather,
    Opcode.SCATTER: scatter,
    Opcode.DYNAMIC_SLICE: dynamic_slice,
    Opcode.DYNAMIC_UPDATE_SLICE: dynamic_update_slice,
}


# -- reductions, windows, products, order ----------------------------------------------------------------------------


@_handles(Opcode.REDUCE)
def _reduce(b: Builder, i: HloInstruction, operands: list[Padded]) -> Value:
    """Reduces each element with a validity flag, which is correct for any reducer and any initial value."""
    axes = i.attribute("dimensions")
    data, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    sizes = merged(data)
    kept = [d for d in range(data[0].value.shape.rank) if d not in axes]
    left = {kept.index(d): size for d, size in sizes.items() if d in kept}
    inside = valid(b, Padded(data[0].value, sizes), axes)
    values = [o.value for o in (*data, *initial)]
    if inside is None:
        made = b.add(Opcode.REDUCE, *values, dimensions=axes, to_apply=i.attribute("to_apply"))
    else:
        counted = b.constant(np.True_, Shape(ElementType.PRED))
        body = with_validity(b, i.attribute("to_apply"), len(data))
        n = len(data)
        made = b.add(Opcode.REDUCE, *values[:n], inside, *values[n:], counted, dimensions=axes, to_apply=body)
    if not i.shape.is_tuple:
        return Padded(made if inside is None else b.element(made, 0), left)
    return tuple(Padded(b.element(made, k), left) for k in range(len(data)))


def _window_count(b: Builder, size: HloInstruction, w: WindowDimension) -> HloInstruction:
    """`WindowDimension.output_size` for a size that is known only at run time."""
    n = HloExpression(b, size)
    base = n.equals(0).where(0, ((n - 1) * w.base_dilation + 1).maximum(0))
    free = base + (w.padding_low + w.padding_high - w.dilated_size)
    return (free < 0).where(0, free.maximum(0) / w.stride + 1).i


@_handles(Opcode.REDUCE_WINDOW)
def _reduce_window(b: Builder, i: HloInstruction, operands: list[Padded]) -> Value | None:
    """Masks the operands with the initial values, as reduce-window pads them."""
    data, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    window = i.attribute("window")
    sizes = merged(data)
    if any(window[d].padding_low < 0 or window[d].padding_high < 0 for d in sizes):
        return None
    masked = [mask(b, Padded(o.value, sizes), sizes, v.value) for o, v in zip(data, initial, strict=True)]
    made = b.add(Opcode.REDUCE_WINDOW, *masked, *[v.value for v in initial], **i.attributes)
    counts = {d: _window_count(b, size, window[d]) for d, size in sizes.items()}
    if not i.shape.is_tuple:
        return Padded(made, counts)
    return tuple(Padded(part, counts) for part in b.elements(made))


@_handles(Opcode.DOT)
def _dot(b: Builder, i: HloInstruction, operands: list[Padded]) -> Padded | None:
    """Masks contracting dimensions of both operands with zeros; one side is not enough, because NaN times 0 is NaN."""
    if len(operands) != 2:
        return None
    lhs, rhs = operands
    left, right = dot_operands(i)
    sizes = {n: lhs.sizes[d] for n, d in enumerate((*left.batch, *left.free)) if d in lhs.sizes}
    for n, d in [*enumerate(right.batch), *enumerate(right.free, len(left.batch) + len(left.free))]:
        if d in rhs.sizes:
            sizes.setdefault(n, rhs.sizes[d])
    pairs = zip(left.contracted, right.contracted, strict=True)
    inner = [(x, y) for x, y in pairs if x in lhs.sizes or y in rhs.sizes]
    ends = {x: lhs.sizes.get(x) or rhs.sizes[y] for x, y in inner}
    zeros = [b.constant(0, Shape(o.value.shape.element_type)) for o in (lhs, rhs)]
    right_ends = {y: ends[x] for x, y in inner}
    masked = [
        mask(b, Padded(lhs.value, ends), ends, zeros[0]),
        mask(b, Padded(rhs.value, right_ends), right_ends, zeros[1]),
    ]
    return Padded(b.clone(i, masked, shape=_static(i.shape)), sizes)


@_handles(Opcode.SORT)
def _sort(b: Builder, i: HloInstruction, operands: list[Padded]) -> Value:
    """Sorts elements beyond the size to the end, whatever their value."""
    (axis,) = i.attribute("dimensions")
    sizes = merged(operands)
    inside = valid(b, Padded(operands[0].value, sizes), (axis,))
    values = [o.value for o in operands]
    body = i.attribute("to_apply")
    if inside is not None:
        values.append(inside)
        body = sorted_by_validity(b, body, len(operands))
    made = b.add(Opcode.SORT, *values, dimensions=(axis,), to_apply=body, is_stable=i.attribute("is_stable"))
    if len(values) == 1:
        return Padded(made, sizes)
    parts = tuple(Padded(b.element(made, k), sizes) for k in range(len(operands)))
    return parts if i.shape.is_tuple else parts[0]
