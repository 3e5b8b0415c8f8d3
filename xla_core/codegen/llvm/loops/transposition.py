"""Transposed tiles: loads of an operand through which the innermost loop of a kernel strides.

If another of the kernel's loops reads the operand contiguously, both loops are cut into tiles, and the tile of the
operand is first transposed into stack memory, by vector registers. Otherwise the kernel would visit a cache line and a
page of a large operand once for each element.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit, Index, weighted_sum
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.loops.schedule import LoopTile, Tile

SIZE = 32  # elements along each side of a tile
_SIDE = 8  # elements along each side of a square that is transposed in registers


def load_element(context: EmissionContext, array: IrArray, index: Index) -> ElementValue:
    """Loads an element of an array in memory, from a transposed tile where that is faster."""
    tile = context.tile
    if tile is None or array.bits or array.shape.element_type.bit_width > 64:
        return array.load(context.builder, index)
    terms = array.terms(context.builder, index)
    by_loop = {digit.loop: (digit, stride) for digit, stride in terms if digit.loop is not None}
    inner = by_loop.get((tile.space, tile.last))
    if inner is None or inner[1] < _SIDE or inner[0].extent < _SIDE:
        return array.load_linear(context.builder, weighted_sum(context.builder, terms))
    outer = next(((d, s) for d, s in by_loop.values() if s == 1 and d.loop and d.loop[0] == tile.space), None)
    if outer is None or outer[0].extent < _SIDE or outer[0].loop is None:
        return array.load_linear(context.builder, weighted_sum(context.builder, terms))
    if tile.across < 0 and context.builder.cuts_loops:
        raise LoopTile(tile.space, outer[0].loop[1])
    rest = [term for term in terms if term[0] not in (inner[0], outer[0])]
    level = max([tile.level, *(digit.level for digit, _ in rest)])
    if outer[0].loop[1] != tile.across or level > tile.level or context.floor > tile.level:
        return array.load_linear(context.builder, weighted_sum(context.builder, terms))
    key = ("tile", array.pointer.name, inner[1], tuple((d.value.name, s) for d, s in rest))
    staged = context.find(key)
    if not isinstance(staged, IrArray):
        with context.hoisted(tile.level):
            staged = _stage(context, tile, array, rest, inner[1])
            context.remember(key, staged)
    b = context.builder
    assert tile.begin is not None
    row, column = b.sub(outer[0].value, tile.begin[0]), b.sub(inner[0].value, tile.begin[1])
    return staged.load_linear(b, b.add(b.mul(row, b.int_(SIZE)), column))


def _stage(
    context: EmissionContext, tile: Tile, array: IrArray, rest: Sequence[tuple[Digit, int]], stride: int
) -> IrArray:
    """Copies the array's tile to stack memory, with the index of the last loop minor."""
    b = context.builder
    element_type = array.shape.element_type
    bits = f"i{8 * element_type.byte_width}"
    memory = b.alloca(bits, SIZE * SIZE, align=64, address_space=context.abi.stack_address_space)
    assert tile.begin is not None
    assert tile.end is not None
    base = b.add(weighted_sum(b, rest), tile.begin[0])
    base = b.add(base, b.mul(tile.begin[1], b.int_(stride)))
    start = b.gep(bits, array.pointer, base)
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
                lines.append(b.load(vector, b.gep(bits, start, place), align=width, metadata=array.load_metadata))
            for k, line in enumerate(_transpose(b, lines)):
                place = b.add(b.mul(b.add(row, b.int_(k)), b.int_(SIZE)), column)
                b.store(line, b.gep(bits, memory, place), align=width)

        context.each(zero, whole_rows, one, step=side, name="square")

    context.each(zero, whole_columns, square, step=side, name="squares")

    def rest_of(first_row: Value, end_row: Value, first_column: Value, end_column: Value) -> None:
        def line(column: Value) -> None:
            def one(row: Value) -> None:
                source = b.gep(bits, start, b.add(b.mul(column, b.int_(stride)), row))
                value = b.load(bits, source, align=width, metadata=array.load_metadata)
                b.store(value, b.gep(bits, memory, b.add(b.mul(row, b.int_(SIZE)), column)), align=width)

            context.each(first_row, end_row, one, name="edge")

        context.each(first_column, end_column, line, name="edges")

    rest_of(zero, rows, whole_columns, columns)
    rest_of(whole_rows, rows, zero, whole_columns)
    return IrArray(Value(memory.type, memory.name), array.shape.with_dimensions((SIZE, SIZE)))


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
