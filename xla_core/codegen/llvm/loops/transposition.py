"""Transposed tiles: loads of an operand through which the innermost loop of a kernel strides.

If another of the kernel's loops reads the operand contiguously, both loops are cut into tiles, and the tile of the
operand is first transposed into stack memory, by vector registers. Otherwise the kernel would visit a cache line and a
page of a large operand once for each element.
"""

from __future__ import annotations

import dataclasses

from xla_core.analysis.indexing import IndexExpr, Variable
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.partition import TILE_SIDE

_SIDE = 8  # elements along each side of a square that is transposed in registers


@dataclasses.dataclass(frozen=True, slots=True)
class Tile:
    """A square tile of two loops of a kernel.

    Attributes:
        outer, inner: the loops' variables; `inner` is the innermost one's.
        begin, end: the bounds of the (outer, inner) loops in this tile.
        level: how many loops are around the tile.
    """

    outer: Variable
    inner: Variable
    begin: tuple[Value, Value]
    end: tuple[Value, Value]
    level: int


def load_element(
    context: EmissionContext, indices: IndexValues, tile: Tile, array: IrArray, position: IndexExpr
) -> ElementValue:
    """Loads the element of an array at a position in memory, from a transposed tile where that is faster."""
    if array.bits or array.shape.element_type.bit_width > 64:
        return array.load(context.builder, indices.value(position))
    stride = position.terms.get(tile.inner, 0)
    if stride < _SIDE or position.terms.get(tile.outer) != 1 or min(tile.inner.extent, tile.outer.extent) < _SIDE:
        return array.load(context.builder, indices.value(position))
    rest = position - IndexExpr.of(tile.inner) * stride - IndexExpr.of(tile.outer)
    if indices.level(rest) > tile.level or context.floor > tile.level:
        return array.load(context.builder, indices.value(position))
    key = ("tile", array.pointer.name, stride, rest)
    staged = context.find(key)
    if not isinstance(staged, IrArray):
        with context.hoisted(tile.level):
            staged = _stage(context, tile, array, indices.value(rest), stride)
            context.remember(key, staged)
    b = context.builder
    row = b.sub(indices.value(IndexExpr.of(tile.outer)), tile.begin[0])
    column = b.sub(indices.value(IndexExpr.of(tile.inner)), tile.begin[1])
    return staged.load(b, b.add(b.mul(row, b.int_(TILE_SIDE)), column))


_SCALAR = '!{!"llvm.loop.vectorize.enable", i1 false}'
"""Keeps LLVM from vectorizing the remainder of a tile, whose elements are not contiguous in one of the arrays.

They would be no faster, and take several times as long to compile as all the rest of the kernel.
"""


def _stage(context: EmissionContext, tile: Tile, array: IrArray, start: Value, stride: int) -> IrArray:
    """Copies the array's tile, which begins at `start`, to stack memory, with the index of the last loop minor."""
    b = context.builder
    element_type = array.shape.element_type
    bits = f"i{8 * element_type.byte_width}"
    memory = b.alloca(bits, TILE_SIDE * TILE_SIDE, align=64, address_space=context.abi.stack_address_space)
    base = b.add(b.add(start, tile.begin[0]), b.mul(tile.begin[1], b.int_(stride)))
    first = b.gep(bits, array.pointer, base)
    rows, columns = (b.sub(end, begin) for end, begin in zip(tile.end, tile.begin, strict=True))
    whole_rows, whole_columns = (b.binary("and", n, b.int_(-_SIDE)) for n in (rows, columns))
    zero, side = b.int_(0), b.int_(_SIDE)
    width = element_type.byte_width

    def square(column: Value) -> None:
        def one(row: Value) -> None:
            vector = f"<{_SIDE} x {bits}>"
            lines = []
            for k in range(_SIDE):
                place = b.add(b.mul(b.add(column, b.int_(k)), b.int_(stride)), row)
                lines.append(b.load(vector, b.gep(bits, first, place), align=width, metadata=array.load_metadata))
            for k, line in enumerate(_transpose(b, lines)):
                place = b.add(b.mul(b.add(row, b.int_(k)), b.int_(TILE_SIDE)), column)
                b.store(line, b.gep(bits, memory, place), align=width)

        context.each(zero, whole_rows, one, step=side, name="square")

    context.each(zero, whole_columns, square, step=side, name="squares")

    def rest_of(first_row: Value, end_row: Value, first_column: Value, end_column: Value) -> None:
        def line(column: Value) -> None:
            def one(row: Value) -> None:
                source = b.gep(bits, first, b.add(b.mul(column, b.int_(stride)), row))
                value = b.load(bits, source, align=width, metadata=array.load_metadata)
                b.store(value, b.gep(bits, memory, b.add(b.mul(row, b.int_(TILE_SIDE)), column)), align=width)

            context.each(first_row, end_row, one, name="edge", metadata=[_SCALAR])

        context.each(first_column, end_column, line, name="edges")

    rest_of(zero, rows, whole_columns, columns)
    rest_of(whole_rows, rows, zero, whole_columns)
    return IrArray(Value(memory.type, memory.name), array.shape.with_dimensions((TILE_SIDE, TILE_SIDE)))


def _transpose(b: IrBuilder, lines: list[Value]) -> list[Value]:
    """Transposes a square of vectors in log2 rounds, each of which interleaves the two halves of the lines."""
    side, type_ = len(lines), lines[0].type
    half = side // 2
    low = [x for k in range(half) for x in (k, side + k)]
    high = [x + half for x in low]

    def shuffle(x: Value, y: Value, order: list[int]) -> Value:
        mask = f"<{side} x i32> <" + ", ".join(f"i32 {k}" for k in order) + ">"
        return b.emit(type_, f"shufflevector {x}, {y}, {mask}")

    for _ in range(side.bit_length() - 1):
        lines = [shuffle(lines[k], lines[k + half], order) for k in range(half) for order in (low, high)]
    return lines
