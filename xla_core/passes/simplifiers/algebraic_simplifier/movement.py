"""Rules for ops that change where elements are: reshape, transpose, broadcast, reverse, iota, copy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.dot_operands import dot_operands, swapped_attributes
from xla_core.passes.simplifiers.algebraic_simplifier.rule_table import pair_rule, rule


def degenerate_map(source: Sequence[int], target: Sequence[int]) -> dict[int, int] | None:
    """Maps dimensions of `source` to those of `target`, for a reshape that only adds or removes dimensions of size 1.

    The map has the dimensions whose size is not 1. Returns None for any other reshape.
    """
    a = [d for d, size in enumerate(source) if size != 1]
    b = [d for d, size in enumerate(target) if size != 1]
    if [source[d] for d in a] != [target[d] for d in b]:
        return None
    return dict(zip(a, b, strict=True))


# -- reshape ---------------------------------------------------------------------------------------------------------


@rule(Opcode.RESHAPE)
def reshape_to_same(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Reshape to the dimensions that it has -> the operand"""
    return i.operands[0] if i.operands[0].shape.dimensions == i.shape.dimensions else None


@pair_rule(Opcode.RESHAPE, Opcode.RESHAPE)
def reshape_reshaped(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reshape(reshape(x)) -> reshape(x)"""
    return b.reshape(x.operands[0], i.shape.dimensions)


@pair_rule(Opcode.RESHAPE, Opcode.BROADCAST)
def reshape_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reshape(broadcast(x)) -> broadcast(x), if x is a scalar or the reshape only adds or removes sizes of 1"""
    source, dimensions = x.operands[0], x.attribute("dimensions")
    if source.shape.rank == 0:
        return b.broadcast(source, i.shape.dimensions)
    moved = degenerate_map(x.shape.dimensions, i.shape.dimensions)
    if moved is None or any(d not in moved for d in dimensions):
        return None
    return b.broadcast(source, i.shape.dimensions, [moved[d] for d in dimensions])


@pair_rule(Opcode.RESHAPE, Opcode.IOTA)
def reshape_iota(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reshape(iota) -> iota, if the reshape only adds or removes dimensions of size 1"""
    moved = degenerate_map(x.shape.dimensions, i.shape.dimensions)
    if moved is None or x.attribute("iota_dimension") not in moved:
        return None
    return b.add(Opcode.IOTA, shape=i.shape.without_layout(), iota_dimension=moved[x.attribute("iota_dimension")])


# -- transpose -------------------------------------------------------------------------------------------------------


@rule(Opcode.TRANSPOSE)
def transpose_nothing(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A transpose that keeps the order -> the operand; one that only moves dimensions of size 1 -> reshape"""
    permutation = i.attribute("dimensions")
    if list(permutation) == sorted(permutation):
        return i.operands[0]
    moving = [d for d in permutation if i.operands[0].shape.dimensions[d] != 1]
    return b.reshape(i.operands[0], i.shape.dimensions) if moving == sorted(moving) else None


@pair_rule(Opcode.TRANSPOSE, Opcode.TRANSPOSE)
def transpose_transposed(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """transpose(transpose(x)) -> transpose(x)"""
    return b.transpose(x.operands[0], [x.attribute("dimensions")[d] for d in i.attribute("dimensions")])


@pair_rule(Opcode.TRANSPOSE, Opcode.BROADCAST)
def transpose_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """transpose(broadcast(x)) -> broadcast(transpose(x)), of the smaller x"""
    where = {d: position for position, d in enumerate(i.attribute("dimensions"))}
    targets = [where[d] for d in x.attribute("dimensions")]
    order = sorted(range(len(targets)), key=targets.__getitem__)
    return b.broadcast(b.transpose(x.operands[0], order), i.shape.dimensions, sorted(targets))


@pair_rule(Opcode.TRANSPOSE, Opcode.IOTA)
def transpose_iota(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """transpose(iota) -> iota"""
    dimension = i.attribute("dimensions").index(x.attribute("iota_dimension"))
    return b.add(Opcode.IOTA, shape=i.shape.without_layout(), iota_dimension=dimension)


@pair_rule(Opcode.TRANSPOSE, Opcode.DOT)
def transpose_product(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """transpose(x . y) -> y . x with the same contraction, for a matrix that nothing else uses"""
    lhs, rhs = dot_operands(x)
    if x.user_count != 1 or x.shape.rank != 2 or lhs.batch or len(lhs.free) != 1:
        return None
    shape = i.shape.without_layout()
    return b.add(Opcode.DOT, rhs.value, lhs.value, shape=shape, **swapped_attributes(x))


# -- broadcast -------------------------------------------------------------------------------------------------------


@rule(Opcode.BROADCAST)
def broadcast_to_same(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Broadcast to the dimensions that it has -> the operand, transposed where the order differs"""
    x, dimensions = i.operands[0], i.attribute("dimensions")
    if x.shape.rank != i.shape.rank:
        return None
    return b.transpose(x, sorted(range(len(dimensions)), key=dimensions.__getitem__))


@rule(Opcode.BROADCAST)
def broadcast_in_order(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """broadcast, dimensions={1,0} -> broadcast(transpose(x)), dimensions={0,1}"""
    x, dimensions = i.operands[0], i.attribute("dimensions")
    if list(dimensions) == sorted(dimensions):
        return None
    order = sorted(range(len(dimensions)), key=dimensions.__getitem__)
    return b.broadcast(b.transpose(x, order), i.shape.dimensions, sorted(dimensions))


@pair_rule(Opcode.BROADCAST, Opcode.BROADCAST)
def broadcast_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """broadcast(broadcast(x)) -> broadcast(x)"""
    dimensions = i.attribute("dimensions")
    return b.broadcast(x.operands[0], i.shape.dimensions, [dimensions[d] for d in x.attribute("dimensions")])


@rule(Opcode.BROADCAST)
def broadcast_adds_ones(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Broadcast that only adds dimensions of size 1 -> reshape"""
    x, dimensions = i.operands[0], i.attribute("dimensions")
    if x.shape.num_elements != i.shape.num_elements or list(dimensions) != sorted(dimensions) or not i.shape.rank:
        return None
    return b.reshape(x, i.shape.dimensions)


@pair_rule(Opcode.BROADCAST, Opcode.RESHAPE)
def broadcast_without_ones(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """broadcast(reshape(x)) -> broadcast(x), where the reshape only adds dimensions of size 1"""
    source, dimensions = x.operands[0], i.attribute("dimensions")
    if x.shape.rank <= source.shape.rank:
        return None
    moved = degenerate_map(source.shape.dimensions, x.shape.dimensions)
    if moved is None or len(moved) != source.shape.rank:
        return None
    return b.broadcast(source, i.shape.dimensions, [dimensions[moved[d]] for d in range(source.shape.rank)])


@pair_rule(Opcode.BROADCAST, Opcode.IOTA)
def broadcast_iota(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """broadcast(iota) -> iota"""
    dimension = i.attribute("dimensions")[x.attribute("iota_dimension")]
    return b.add(Opcode.IOTA, shape=i.shape.without_layout(), iota_dimension=dimension)


# -- reverse, iota, copy, constant -----------------------------------------------------------------------------------


@rule(Opcode.REVERSE)
def reverse_ones(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Reverse along dimensions of size 1 -> the operand; along others too -> reverse along those"""
    dimensions = i.attribute("dimensions")
    kept = tuple(d for d in dimensions if i.shape.dimensions[d] != 1)
    if len(kept) == len(dimensions):
        return None if kept else i.operands[0]
    return b.add(Opcode.REVERSE, i.operands[0], dimensions=kept) if kept else i.operands[0]


@pair_rule(Opcode.REVERSE, Opcode.REVERSE)
def reverse_reversed(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reverse(reverse(x)) -> reverse(x), along the dimensions that only one of them reverses"""
    kept = tuple(sorted(set(i.attribute("dimensions")) ^ set(x.attribute("dimensions"))))
    return b.add(Opcode.REVERSE, x.operands[0], dimensions=kept) if kept else x.operands[0]


@pair_rule(Opcode.REVERSE, Opcode.BROADCAST)
def reverse_broadcast(i: HloInstruction, x: HloInstruction, b: Builder) -> HloInstruction | None:
    """reverse(broadcast(x)) -> broadcast(x), along dimensions that x doesn't have"""
    if set(i.attribute("dimensions")) & set(x.attribute("dimensions")):
        return None
    return x


@rule(Opcode.IOTA)
def iota_of_one(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Iota along a dimension of size 1 -> 0"""
    if i.shape.dimensions[i.attribute("iota_dimension")] != 1 or i.shape.element_type.value == "f8e8m0fnu":
        return None
    return b.constant(0, i.shape)


@rule(Opcode.COPY)
def copy_of_value(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Copy to the same layout, or before layouts are assigned -> the operand"""
    x = i.operands[0]
    if i.shape.layout is not None and x.shape.layout not in (None, i.shape.layout):
        return None
    return x if not (i.is_root and i.shape != x.shape) else None


@rule(Opcode.CONSTANT)
def splat_constant(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """A constant array of one value -> broadcast of a scalar constant; 0, 1, 2, ... -> iota"""
    if not i.shape.is_array or not i.shape.rank or not i.literal.array.size:
        return None
    array = i.literal.array
    if i.literal.is_splat or _is_one_value(array):
        return b.broadcast(b.constant(array[(0,) * array.ndim], i.shape.with_dimensions(())), i.shape.dimensions)
    element_type = i.shape.element_type
    if array.ndim != 1 or not element_type.is_integral or element_type.bit_width < 8 or array.size < 8:
        return None
    if int(array[0]) or int(array[-1]) != array.size - 1 or bool(np.any(array[1:] != array[:-1] + 1)):
        return None
    return b.add(Opcode.IOTA, shape=i.shape.without_layout(), iota_dimension=0)


def _is_one_value(array: np.ndarray) -> bool:
    """Whether all elements have the same bits. Comparing the first and the last element decides most cases fast."""
    first, last = array[(0,) * array.ndim], array[(-1,) * array.ndim]
    if first.tobytes() != last.tobytes():
        return False
    bits = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, -1)
    return bool(np.all(bits == bits[0]))
