"""Rules for slice, dynamic slices, pad, concatenate, gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.gather_as_slice import gather_as_slice
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.patterns import is_same_value, uniform_value
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import pair_rule, rule

_MANY_PARTS = 8  # fewer are emitted as loops, whose bodies need no division of indices

# -- slice -----------------------------------------------------------------------------------------------------------


def _slice(b: Builder, x: HloInstruction, slices: Sequence[SliceDimension]) -> HloInstruction:
    """Adds a slice, or returns the operand if the slice is the whole operand."""
    if all(s.start == 0 and s.limit == n and s.stride == 1 for s, n in zip(slices, x.shape.dimensions, strict=True)):
        return x
    return b.add(Opcode.SLICE, x, slice=tuple(slices))


@rule(Opcode.SLICE)
def slice_all(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Slice of everything -> the operand"""
    return i.operands[0] if i.operands[0].shape.dimensions == i.shape.dimensions and not _strides(i) else None


def _strides(i: HloInstruction) -> bool:
    return any(s.stride != 1 and s.limit - s.start > 1 for s in i.attribute("slice"))


@pair_rule(Opcode.SLICE, Opcode.SLICE)
def slice_sliced(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """slice(slice(x)) -> slice(x)"""
    if 0 in i.shape.dimensions:
        return None
    merged = []
    for outer, inner, size in zip(i.attribute("slice"), x.attribute("slice"), i.shape.dimensions, strict=True):
        stride = outer.stride * inner.stride
        start = inner.start + outer.start * inner.stride
        merged.append(SliceDimension(start, start + (size - 1) * stride + 1, stride))
    return _slice(b, x.operands[0], merged)


@pair_rule(Opcode.SLICE, Opcode.CONCATENATE)
def slice_concatenated(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """slice(concatenate(x, y)) -> slice(y), where all of it lies in one operand"""
    if 0 in i.shape.dimensions:
        return None
    dimension = x.attribute("dimensions")[0]
    wanted = i.attribute("slice")[dimension]
    start = 0
    for operand in x.operands:
        limit = start + operand.shape.dimensions[dimension]
        if start <= wanted.start and wanted.limit <= limit:
            slices = list(i.attribute("slice"))
            slices[dimension] = SliceDimension(wanted.start - start, wanted.limit - start, wanted.stride)
            return _slice(b, operand, slices)
        start = limit
    return None


@pair_rule(Opcode.SLICE, Opcode.PAD)
def slice_padded(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """slice(pad(x, v)) -> slice(x), if the slice has no padding; -> broadcast(v), if it has only padding"""
    if 0 in i.shape.dimensions:
        return None
    source, value = x.operands
    inside, moved = True, []
    for s, p, size in zip(i.attribute("slice"), x.attribute("padding"), source.shape.dimensions, strict=True):
        if p.interior:
            return None
        last = s.start + (s.limit - s.start - 1) // s.stride * s.stride
        if last < p.low or s.start >= p.low + size:
            return b.broadcast(value, i.shape.dimensions)
        inside &= s.start >= p.low and last < p.low + size
        moved.append(SliceDimension(s.start - p.low, last - p.low + 1, s.stride))
    return _slice(b, source, moved) if inside else None


@pair_rule(Opcode.SLICE, Opcode.BROADCAST)
def slice_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """slice(broadcast(x)) -> broadcast(slice(x))"""
    dimensions = x.attribute("dimensions")
    part = _slice(b, x.operands[0], [i.attribute("slice")[d] for d in dimensions])
    return b.broadcast(part, i.shape.dimensions, dimensions)


@pair_rule(Opcode.SLICE, Opcode.IOTA)
def slice_iota(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """slice(iota) -> iota, if the slice begins at 0 with stride 1 along the iota's dimension"""
    dimension = x.attribute("iota_dimension")
    s = i.attribute("slice")[dimension]
    if s.start or s.stride != 1:
        return None
    return b.add(Opcode.IOTA, shape=i.shape.without_layout(), iota_dimension=dimension)


@pair_rule(Opcode.SLICE, Opcode.TRANSPOSE)
def slice_transposed(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """slice(transpose(x)) -> transpose(slice(x)), where nothing else uses the transpose"""
    if x.user_count != 1:
        return None
    permutation = x.attribute("dimensions")
    slices = [SliceDimension(0, 0)] * len(permutation)
    for s, d in zip(i.attribute("slice"), permutation, strict=True):
        slices[d] = s
    return b.transpose(_slice(b, x.operands[0], slices), permutation)


# -- dynamic-slice, dynamic-update-slice -----------------------------------------------------------------------------


def _constant_starts(
    indices: Sequence[HloInstruction], sizes: Sequence[int], dimensions: Sequence[int]
) -> list[int] | None:
    """The constant start indices of a dynamic slice, clamped as in XLA; None if one is not constant."""
    if len(indices) != len(dimensions):
        return None
    starts = []
    for index, size, dimension in zip(indices, sizes, dimensions, strict=True):
        value = uniform_value(index)
        if size == dimension:
            starts.append(0)
        elif value is None:
            return None
        else:
            starts.append(min(max(int(value), 0), dimension - size))
    return starts


@rule(Opcode.DYNAMIC_SLICE)
def dynamic_slice_at_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """dynamic-slice at constant indices -> slice; of everything -> the operand"""
    x, *indices = i.operands
    sizes = i.shape.dimensions
    starts = _constant_starts(indices, sizes, x.shape.dimensions)
    if starts is None:
        return None
    return _slice(b, x, [SliceDimension(s, s + n) for s, n in zip(starts, sizes, strict=True)])


@pair_rule(Opcode.DYNAMIC_SLICE, Opcode.BROADCAST)
def dynamic_slice_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """dynamic-slice(broadcast(x)) -> broadcast(x), where x's own dimensions stay whole"""
    dimensions = x.attribute("dimensions")
    if any(i.shape.dimensions[d] != x.shape.dimensions[d] for d in dimensions):
        return None
    return b.broadcast(x.operands[0], i.shape.dimensions, dimensions)


@rule(Opcode.DYNAMIC_UPDATE_SLICE)
def update_of_all_or_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """dynamic-update-slice of everything -> the update; of nothing -> the operand"""
    x, update = i.operands[0], i.operands[1]
    if update.shape.num_elements == 0:
        return x
    return update if update.shape.dimensions == x.shape.dimensions else None


@rule(Opcode.DYNAMIC_UPDATE_SLICE)
def update_with_itself(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """dynamic-update-slice(x, dynamic-slice(x, i), i) -> x"""
    x, update, *indices = i.operands
    if update.opcode != Opcode.DYNAMIC_SLICE or update.operands[0] is not x:
        return None
    return x if list(update.operands[1:]) == indices else None


# -- pad -------------------------------------------------------------------------------------------------------------


@rule(Opcode.PAD)
def pad_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Pad by nothing -> the operand; of an empty array -> broadcast of the padding value"""
    x, value = i.operands
    if all(p.low == 0 == p.high and (p.interior == 0 or n < 2) for p, n in _padding(i)):
        return x
    return b.broadcast(value, i.shape.dimensions) if x.shape.num_elements == 0 else None


def _padding(i: HloInstruction) -> list[tuple[PaddingDimension, int]]:
    return list(zip(i.attribute("padding"), i.operands[0].shape.dimensions, strict=True))


@pair_rule(Opcode.PAD, Opcode.BROADCAST)
def pad_with_same_value(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """pad(broadcast(v), v) -> broadcast(v)"""
    source, value = x.operands[0], i.operands[1]
    same = not source.shape.rank and is_same_value(source, value)
    return b.broadcast(source, i.shape.dimensions) if same else None


@rule(Opcode.PAD)
def negative_pad(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Pad by negative amounts -> slice of the pad by the other amounts"""
    x, value = i.operands
    padding = [p for p, _ in _padding(i)]
    if all(p.low >= 0 and p.high >= 0 for p in padding):
        return None
    kept = tuple(PaddingDimension(max(p.low, 0), max(p.high, 0), p.interior) for p in padding)
    padded = b.add(Opcode.PAD, x, value, padding=kept) if any(p != PaddingDimension(0, 0) for p in kept) else x
    slices = []
    for p, size in zip(padding, padded.shape.dimensions, strict=True):
        start, limit = max(-p.low, 0), size + min(p.high, 0)
        if start > limit:
            return None
        slices.append(SliceDimension(start, limit))
    return b.add(Opcode.SLICE, padded, slice=tuple(slices))


@pair_rule(Opcode.PAD, Opcode.PAD)
def pad_padded(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """pad(pad(x, v), v) -> pad(x, v)"""
    value = i.operands[1]
    if x.operands[1] is not value:
        return None
    pairs = list(zip(i.attribute("padding"), x.attribute("padding"), strict=True))
    if any(o.interior or o.low < 0 or o.high < 0 or p.low < 0 or p.high < 0 for o, p in pairs):
        return None
    padding = tuple(PaddingDimension(o.low + p.low, o.high + p.high, p.interior) for o, p in pairs)
    return b.add(Opcode.PAD, x.operands[0], value, padding=padding)


# -- concatenate -----------------------------------------------------------------------------------------------------


@rule(Opcode.CONCATENATE)
def concatenate_few(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Concatenate of one operand -> the operand; of empty operands and others -> concatenate of the others"""
    dimension = i.attribute("dimensions")[0]
    kept = [o for o in i.operands if o.shape.dimensions[dimension]]
    if len(kept) == len(i.operands) and len(kept) != 1:
        return None
    if not kept:
        return i.operands[0]
    return kept[0] if len(kept) == 1 else b.add(Opcode.CONCATENATE, *kept, dimensions=(dimension,))


@rule(Opcode.CONCATENATE)
def concatenate_concatenated(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """concatenate(concatenate(x, y), z) -> concatenate(x, y, z), where nothing else uses the inner one"""
    dimensions = i.attribute("dimensions")

    def merges(o: HloInstruction) -> bool:
        return o.opcode == Opcode.CONCATENATE and o.attribute("dimensions") == dimensions and o.user_count == 1

    if not any(map(merges, i.operands)):
        return None
    flat = [part for o in i.operands for part in (o.operands if merges(o) else (o,))]
    return b.add(Opcode.CONCATENATE, *flat, dimensions=dimensions)


@rule(Opcode.CONCATENATE)
def concatenate_one_value(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Concatenate of broadcasts of one scalar -> broadcast"""
    first = i.operands[0]
    if any(o.opcode != Opcode.BROADCAST or o.operands[0] is not first.operands[0] for o in i.operands):
        return None
    source = first.operands[0]
    return b.broadcast(source, i.shape.dimensions) if source.shape.rank == 0 else None


@rule(Opcode.CONCATENATE)
def concatenate_one_operand(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """concatenate(x, x, ..., x) -> reshape(broadcast(x))"""
    x, count = i.operands[0], len(i.operands)
    if count < _MANY_PARTS or any(o is not x for o in i.operands):
        return None
    dimension, sizes = i.attribute("dimensions")[0], x.shape.dimensions
    repeated = (*sizes[:dimension], count, *sizes[dimension:])
    kept = [d + (d >= dimension) for d in range(len(sizes))]
    return b.reshape(b.broadcast(x, repeated, kept), i.shape.dimensions)


@rule(Opcode.CONCATENATE)
def concatenate_neighbours(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """concatenate(x[0:2], x[2:5]) -> x[0:5]"""
    dimension = i.attribute("dimensions")[0]
    operands: list[HloInstruction] = []
    for operand in i.operands:
        if operands and (merged := _joined(operands[-1], operand, dimension, b)) is not None:
            operands[-1] = merged
        else:
            operands.append(operand)
    if len(operands) == len(i.operands):
        return None
    return operands[0] if len(operands) == 1 else b.add(Opcode.CONCATENATE, *operands, dimensions=(dimension,))


def _joined(x: HloInstruction, y: HloInstruction, dimension: int, b: Builder) -> HloInstruction | None:
    if x.opcode != Opcode.SLICE or y.opcode != Opcode.SLICE or x.operands[0] is not y.operands[0]:
        return None
    mine, other = list(x.attribute("slice")), list(y.attribute("slice"))
    first, second = mine.pop(dimension), other.pop(dimension)
    if mine != other or first.stride != 1 or second.stride != 1 or first.limit != second.start:
        return None
    mine.insert(dimension, SliceDimension(first.start, second.limit))
    return _slice(b, x.operands[0], mine)


# -- gather, scatter, sort -------------------------------------------------------------------------------------------


@rule(Opcode.GATHER)
def gather_of_one_place(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Gather whose indices choose nothing -> slice and broadcast"""
    return gather_as_slice(i, b)


@rule(Opcode.SCATTER)
def scatter_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Scatter without updates -> the operand"""
    count = len(i.operands) // 2
    if i.operands[-1].shape.num_elements:
        return None
    return i.operands[0] if count == 1 else b.add(Opcode.TUPLE, *i.operands[:count])


@rule(Opcode.SORT)
def sort_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Sort along a dimension of size 0 or 1 -> the operands"""
    if i.operands[0].shape.dimensions[i.attribute("dimensions")[0]] > 1:
        return None
    return i.operands[0] if not i.shape.is_tuple else b.add(Opcode.TUPLE, *i.operands)


@rule(Opcode.GET_DIMENSION_SIZE)
def size_of_static_dimension(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """get-dimension-size of a static dimension -> its size"""
    return b.constant(i.operands[0].shape.dimensions[i.attribute("dimensions")[0]], i.shape)
