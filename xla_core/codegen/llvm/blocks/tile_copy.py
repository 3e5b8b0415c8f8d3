"""TileCopy: the threads of a block copy tiles of an operand to shared memory, so that all of them read it there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from xla_core.analysis.indexing import Access, Index, IndexExpr
from xla_core.codegen.llvm.blocks.register_arrays import held_type
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, Loader
from xla_core.codegen.llvm.elements.registers import parts
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.sizes import ceil_div

_LINES = 8


_CHUNKS_OF_BANKS = 8  # of 16 bytes, in all banks of shared memory


@dataclasses.dataclass(frozen=True, slots=True)
class Swizzle:
    """How shared memory holds a tile in rows that a `SharedMatrix` describes: the sizes of a row and of a chunk of 16
    bytes, in elements.
    """

    row: int
    chunk: int


@dataclasses.dataclass(frozen=True, slots=True)
class TileLayout:
    """A tile of an operand: `lines` rows of the left operand, or columns of the right one, by `depth` terms.

    Attributes:
        all_lines, all_depth: the sizes of the operand.
        lines, depth: the sizes of the tile, powers of two.
        along_depth: whether neighbouring terms, and not neighbouring lines, are neighbours in the operand's memory.
        width: neighbours that a thread reads at once. It divides the sizes of the operand and of the tile.
        run: how many groups of neighbours, one after another in memory, are read by the same few threads.
        spread: how many terms, `run` apart, neighbouring groups of threads store at once, to different banks; 1 unless
            neighbouring lines are neighbours in shared memory.
        line_stride, depth_stride: the distances of neighbours in shared memory, in elements. One of them is 1.
        swizzle: the rows that what is contiguous is divided into; None if it is not, and chunks keep their places. The
            strides are those within a row then.
    """

    all_lines: int
    all_depth: int
    lines: int
    depth: int
    along_depth: bool
    width: int
    run: int
    line_stride: int
    depth_stride: int
    spread: int = 1
    swizzle: Swizzle | None = None

    @property
    def groups(self) -> int:
        """The number of groups of neighbours in a tile."""
        return self.lines * self.depth // self.width

    @property
    def size(self) -> int:
        """The elements of a tile in shared memory, with its padding."""
        if self.swizzle is not None:
            return self.lines * self.depth
        return max(self.lines * self.line_stride, self.depth * self.depth_stride)

    @property
    def vector(self) -> int:
        """How many of a group's elements are neighbours in shared memory too."""
        if self.swizzle is not None:
            return math.gcd(self.width, self.swizzle.chunk)
        near, far = self.depth_stride, self.line_stride
        if not self.along_depth:
            near, far = far, near
        return math.gcd(self.width, far) if near == 1 else 1  # so that the address is a multiple of their size


class TileCopy:
    """The copies of one operand's tiles.

    Args:
        context, indices: the kernel under construction.
        emitter: (indices of neighbours, how elements of arrays are loaded) -> the emitter of these elements of the
            operand. By default, neighbours in memory are loaded together.
        operand: any instruction that can be computed element by element.
        layout: of the tiles.
        access: (line, term) -> the access to the operand. Where its conditions don't hold, the element is 0.
        enter: converts an element to the registers that shared memory holds.
        types: the types of these registers.
        memory: the shared array of each of these types, which has room for several tiles.
        thread, threads: the number of this thread of the block, i64, and how many there are.
        first: the number of the tile's first line, i64.
    """

    def __init__(
        self,
        context: EmissionContext,
        indices: IndexValues,
        emitter: Callable[[Sequence[Index], Loader | None], ElementEmitter],
        operand: HloInstruction,
        layout: TileLayout,
        access: Callable[[IndexExpr, IndexExpr], Access],
        enter: Callable[[ElementValue], ElementValue],
        types: Sequence[str],
        memory: Sequence[Value],
        *,
        thread: Value,
        threads: int,
        first: Value,
    ) -> None:
        self._context, self._indices, self._emitter = context, indices, emitter
        self._operand, self._layout, self._access, self._enter = operand, layout, access, enter
        self._memory = memory
        self._b = b = context.builder
        self._zeros = [b.like(0, Value(held_type(t), "")) for t in types]
        self._parts = [
            self._part(b.add(thread, b.int_(number * threads)), first)
            for number in range(ceil_div(layout.groups, threads))
        ]
        self._holds = b.bool_(True)
        if layout.groups % threads:
            self._holds = b.icmp("ult", thread, b.int_(layout.groups))

    def _part(self, number: Value, first: Value) -> tuple[Sequence[IndexExpr], Value, Value]:
        """(its lines, its first line in the tile, its first term in the tile) of a group of neighbours."""
        b, layout = self._b, self._layout
        if layout.along_depth:
            # Eight threads store to eight lines: to different banks of memory.
            low = min(_LINES, layout.lines)
            line, group, line_high, outer = self._split(number, low, layout.run, layout.lines // low)
            line = b.add(b.mul(line_high, b.int_(low)), line)
            term = b.mul(b.add(b.mul(outer, b.int_(layout.run)), group), b.int_(layout.width))
            return [self._line(layout.all_lines, b.add(first, line))], line, term
        if layout.spread > 1:
            terms = layout.run * layout.spread
            sizes = (layout.run, layout.spread, layout.run, layout.depth // terms)
            group, part, near, far, outer = self._split(number, *sizes)
            term = b.add(b.mul(far, b.int_(terms)), b.add(b.mul(part, b.int_(layout.run)), near))
        else:
            group, term, outer = self._split(number, layout.run, layout.depth)
        group = b.add(b.mul(outer, b.int_(layout.run)), group)
        start = b.add(b.udiv(first, b.int_(layout.width)), group)
        lines = self._line(layout.all_lines // layout.width, start) * layout.width
        return [lines + n for n in range(layout.width)], b.mul(group, b.int_(layout.width)), term

    def _split(self, number: Value, *sizes: int) -> list[Value]:
        """Splits a number into remainders by the sizes, the first one first, and the last quotient."""
        found = []
        for size in sizes:
            found.append(self._b.urem(number, self._b.int_(size)))
            number = self._b.udiv(number, self._b.int_(size))
        return [*found, number]

    def _line(self, extent: int, value: Value) -> IndexExpr:
        """A line, or the number of a group of lines. Lines beyond the operand's last one are read as the last one."""
        if self._layout.all_lines % self._layout.lines:
            value = self._b.intrinsic("umin", value, self._b.int_(extent - 1))
        return self._indices.new("line", extent, value)

    def load(self, tile: Value) -> list[Value]:
        """Returns this thread's registers of a tile. Terms beyond the last one are 0."""
        return self._context.choose(self._holds, lambda: self._load(tile), lambda: self.zeros)

    @property
    def zeros(self) -> list[Value]:
        """Zeros in place of the values that `load` returns."""
        return self._nothing(len(self._parts))

    def _nothing(self, groups: int) -> list[Value]:
        return self._zeros * (groups * self._layout.width)

    def _load(self, tile: Value) -> list[Value]:
        registers: list[Value] = []
        for lines, _, start in self._parts:
            accesses, inside = self._neighbours(lines, start, tile)
            found = self._elements(accesses)
            zeros = self._nothing(1)
            registers += [self._b.select(inside, x, zero) for x, zero in zip(found, zeros, strict=True)]
        return registers

    def _neighbours(self, lines: Sequence[IndexExpr], start: Value, tile: Value) -> tuple[list[Access], Value]:
        """The accesses to a group of neighbours of a tile, and whether their terms are the operand's."""
        b, layout = self._b, self._layout
        width = layout.width if layout.along_depth else 1
        position = b.add(b.mul(tile, b.int_(layout.depth // width)), b.udiv(start, b.int_(width)))
        extent, inside = layout.all_depth // width, b.bool_(True)
        if layout.all_depth % layout.depth:
            inside = b.icmp("ult", position, b.int_(extent))
            position = b.intrinsic("umin", position, b.int_(extent - 1))
        term = self._indices.new("term", extent, position) * width
        return [self._access(line, term + n) for line in lines for n in range(width)], inside

    def start(self, tile: Value, place: Value) -> None:
        """Starts this thread's copies of a tile, which needs no registers. `place` is where it begins."""
        self._context.when(self._holds, lambda: self._start(tile, place))

    def _start(self, tile: Value, place: Value) -> None:
        b = self._b
        array, held = self._memory[0], self._zeros[0].type
        for lines, line, start in self._parts:
            (first, *_), inside = self._neighbours(lines, start, tile)
            inside = b.and_(inside, self._indices.holds(first.conditions))
            target = b.gep(held, array, b.add(place, self._place(line, start)))
            size = self._layout.width * self._operand.shape.element_type.byte_width
            self._context.abi.start_copy(b, target, self._address(first.index), size, inside)

    def _address(self, index: Index) -> Value:
        """The address of an element of an operand whose elements are those of an array, by other indices."""
        found: list[Value] = []

        def locate(array: IrArray, position: IndexExpr) -> Value:
            found.append(array.address(self._b, self._indices.value(position)))
            return self._zeros[0]

        self._emitter([index], locate).value(self._operand, index)
        return found[0]

    def _place(self, line: Value, term: Value) -> Value:
        """The place of an element in the memory of a tile."""
        b, layout = self._b, self._layout
        if layout.swizzle is not None:
            return self._swizzled(layout.swizzle, line, term)
        return b.add(b.mul(line, b.int_(layout.line_stride)), b.mul(term, b.int_(layout.depth_stride)))

    def _swizzled(self, swizzle: Swizzle, line: Value, term: Value) -> Value:
        b, layout = self._b, self._layout
        along, number, rows = (term, line, layout.lines) if layout.along_depth else (line, term, layout.depth)
        row, chunk = b.int_(swizzle.row), b.int_(swizzle.chunk)
        block = b.mul(b.udiv(along, row), b.int_(rows * swizzle.row))
        place = b.add(b.add(block, b.mul(number, row)), b.urem(along, row))
        phase = b.urem(b.udiv(place, b.int_(_CHUNKS_OF_BANKS * swizzle.chunk)), b.int_(swizzle.row // swizzle.chunk))
        return b.xor(place, b.mul(phase, chunk))

    def _elements(self, accesses: Sequence[Access]) -> list[Value]:
        """The elements of a group of neighbours. The accesses have the same conditions."""

        def read() -> list[Value]:
            emitter = self._emitter([access.index for access in accesses], None)
            found = [self._enter(emitter.value(self._operand, access.index)) for access in accesses]
            return [self._b.held(part) for element in found for part in parts(element)]

        inside = self._indices.holds(accesses[0].conditions)
        return self._context.choose(inside, read, lambda: self._nothing(1))

    def store(self, registers: Sequence[Value], place: Value) -> None:
        """Writes a tile to shared memory. `place` is where it begins."""
        self._context.when(self._holds, lambda: self._store(registers, place))

    def _store(self, registers: Sequence[Value], place: Value) -> None:
        b, layout, count = self._b, self._layout, len(self._memory)
        step = layout.depth_stride if layout.along_depth else layout.line_stride
        for number, (_, line, term) in enumerate(self._parts):
            group = registers[number * layout.width * count : (number + 1) * layout.width * count]
            first = b.add(place, self._place(line, term))
            for part, array in enumerate(self._memory):
                values = group[part::count]
                for start in range(0, layout.width, layout.vector):
                    chosen = values[start : start + layout.vector]
                    store_vector(b, chosen, array, b.add(first, b.int_(start * step)))


def store_vector(b: IrBuilder, values: Sequence[Value], array: Value, place: Value) -> None:
    """Writes neighbouring elements of a shared array."""
    b.store(b.vector(values), b.gep(values[0].type, array, place))


def load_vector(b: IrBuilder, type_: str, count: int, array: Value, place: Value) -> list[Value]:
    """Reads elements that `store_vector` wrote. The address is a multiple of their size."""
    held = held_type(type_)
    vector = b.load(f"<{count} x {held}>" if count > 1 else held, b.gep(held, array, place))
    return [b.cast("trunc", v, type_) for v in b.elements(vector, count)]
