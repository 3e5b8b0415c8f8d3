"""Multipliers: how the threads of a block add up products of elements of tiles in shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from xla_core.codegen.llvm.blocks.matrix_loads import MatrixLoader, has_rows
from xla_core.codegen.llvm.blocks.tile_copy import load_vector
from xla_core.codegen.llvm.elements.accumulators import ProductSum
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.elements.registers import whole
from xla_core.codegen.llvm.forms.product_plan import ProductPlan
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.codegen.llvm.target_abi import SharedMatrix
from xla_core.target import Fragment, LanePlace, MatrixShape

_MOST_UNROLLED = 256  # products in the body of the innermost loop

Memory = Sequence[Sequence[Value]]
"""The shared arrays of both operands: one for each part of an element."""

Rows = Sequence[tuple[Value, Sequence[tuple[Value, Sequence[Sequence[Value]]]]]]
"""(row, [(first column, sums of neighbouring columns)]): this thread's rows and columns in the tile."""


class Multiplier(Protocol):
    """How a thread multiplies. `types` are the register types in which shared memory holds an element."""

    types: Sequence[str]

    def enter(self, operand: int, element: ElementValue) -> ElementValue:
        """Converts an element of an operand to the registers that shared memory holds."""

    def start(self) -> list[Value]:
        """Returns this thread's registers before the first product."""

    def multiply(
        self, memory: Memory, starts: Sequence[Value], totals: Sequence[Value], meanwhile: Callable[[], None]
    ) -> list[Value]:
        """Adds the products of the tiles that begin at `starts` in the memory of each operand.

        `meanwhile` emits the start of copies. They run while the device multiplies.
        """

    def rows(self, totals: Sequence[Value]) -> Rows:
        """Returns the sums by their places in the tile."""


class ThreadMultiplier:
    """Each thread multiplies elements: those of its rows with those of its columns."""

    def __init__(self, emitter: ElementEmitter, plan: ProductPlan, thread: Value) -> None:
        self._emitter, self._b, self._plan = emitter, emitter.b, plan
        self._sum = ProductSum(emitter, plan.product.instruction)
        self.types: Sequence[str] = [v.type for v in self._sum.start()]
        across = self._b.int_(plan.tile[1] // plan.each[1])
        self._place = (self._b.udiv(thread, across), self._b.urem(thread, across))

    def enter(self, operand: int, element: ElementValue) -> ElementValue:
        return self._sum.enter(operand, element)

    def start(self) -> list[Value]:
        return [part for _ in range(self._plan.each[0] * self._plan.each[1]) for part in self._sum.start()]

    def multiply(
        self, memory: Memory, starts: Sequence[Value], totals: Sequence[Value], meanwhile: Callable[[], None]
    ) -> list[Value]:
        meanwhile()
        b, plan, size = self._b, self._plan, len(self.types)
        depth, each = plan.tile[2], plan.each
        unrolled = depth
        while unrolled > 1 and unrolled * each[0] * each[1] > _MOST_UNROLLED:
            unrolled //= 2

        def some(number: Value, carried: list[Value]) -> list[Value]:
            for step in range(unrolled):
                term = b.add(b.mul(number, b.int_(unrolled)), b.int_(step))
                left, right = (self._line(side, memory[side], starts[side], term) for side in (0, 1))
                pairs = [(x, y) for x in left for y in right]
                carried = [
                    part
                    for n, (x, y) in enumerate(pairs)
                    for part in self._sum.add(carried[n * size : (n + 1) * size], whole(x), whole(y))
                ]
            return carried

        return self._emitter.context.loop(b.int_(0), b.int_(depth // unrolled), some, totals, name="term")

    def _line(self, side: int, arrays: Sequence[Value], start: Value, term: Value) -> list[list[Value]]:
        """The elements of an operand, each as its parts, that this thread needs for one term."""
        b, plan = self._b, self._plan
        width = plan.vector(side)
        first = b.add(b.mul(term, b.int_(plan.layouts[side].depth_stride)), b.mul(self._place[side], b.int_(width)))
        found: list[list[Value]] = []
        for group in range(plan.groups(side)):
            place = b.add(b.add(start, first), b.int_(group * (plan.tile[side] // plan.groups(side))))
            vectors = zip(self.types, arrays, strict=True)
            parts = [load_vector(b, type_, width, array, place) for type_, array in vectors]
            found += [list(element) for element in zip(*parts, strict=True)]
        return found

    def rows(self, totals: Sequence[Value]) -> Rows:
        plan, size, width = self._plan, len(self.types), self._plan.vector(1)
        sums = [totals[n : n + size] for n in range(0, len(totals), size)]
        columns = [(self._number(1, first), first) for first in range(0, plan.each[1], width)]
        found = []
        for row in range(plan.each[0]):
            of_row = sums[row * plan.each[1] : (row + 1) * plan.each[1]]
            found.append((self._number(0, row), [(start, of_row[first : first + width]) for start, first in columns]))
        return found

    def _number(self, side: int, item: int) -> Value:
        """The place in the tile of one of this thread's rows (0) or columns (1)."""
        b, plan = self._b, self._plan
        group, offset = divmod(item, plan.vector(side))
        start = b.mul(self._place[side], b.int_(plan.vector(side)))
        return b.add(start, b.int_(group * (plan.tile[side] // plan.groups(side)) + offset))


class _Matrices:
    """Each group of lanes multiplies matrices, whose totals its lanes hold together."""

    def __init__(self, emitter: ElementEmitter, plan: ProductPlan, shape: MatrixShape, thread: Value) -> None:
        self._emitter, self._b, self._plan, self._shape = emitter, emitter.b, plan, shape
        self._sum = ProductSum(emitter, plan.product.instruction)
        self.types: Sequence[str] = [register_type(shape.operand)]
        b, lanes = self._b, shape.lanes or emitter.context.abi.parallel.lanes
        self._lane = b.urem(thread, b.int_(lanes))
        group, across = b.udiv(thread, b.int_(lanes)), b.int_(plan.tile[1] // plan.group[1])
        places = (b.udiv(group, across), b.urem(group, across))
        self._first = [b.mul(place, b.int_(size)) for place, size in zip(places, plan.group, strict=True)]
        self._counts = (plan.group[0] // shape.rows, plan.group[1] // shape.columns)

    def enter(self, operand: int, element: ElementValue) -> ElementValue:
        return self._emitter.elemental.convert(element, self._sum.operand_types[operand], self._shape.operand)

    def start(self) -> list[Value]:
        return self._sum.start() * (self._counts[0] * self._counts[1] * len(self._shape.total.registers))

    def _place(self, place: LanePlace) -> Value:
        b = self._b
        high = b.udiv(self._lane, b.int_(place.divisor))
        found = b.mul(b.urem(high, b.int_(place.modulus)), b.int_(place.factor))
        if place.beyond:
            found = b.add(found, b.mul(b.udiv(high, b.int_(place.modulus)), b.int_(place.beyond)))
        return found

    def rows(self, totals: Sequence[Value]) -> Rows:
        b, fragment = self._b, self._shape.total
        size = len(fragment.registers)
        row, column = (self._place(place) for place in (fragment.line, fragment.term))
        lines = dict.fromkeys(line for line, _ in fragment.registers)
        found = []
        for high in range(self._counts[0]):
            for line in lines:
                number = b.add(b.add(self._first[0], row), b.int_(high * self._shape.rows + line))
                groups = []
                for wide in range(self._counts[1]):
                    first = (high * self._counts[1] + wide) * size
                    start = b.add(b.add(self._first[1], column), b.int_(wide * self._shape.columns))
                    for at, own in _neighbours(fragment, line):
                        groups.append((b.add(start, b.int_(at)), [[totals[first + n]] for n in own]))
                found.append((number, groups))
        return found


def _neighbours(fragment: Fragment, line: int) -> list[tuple[int, list[int]]]:
    """The registers of a line of a total whose elements are neighbours, each group with its first column."""
    found: list[tuple[int, list[int]]] = []
    for number, (at, column) in enumerate(fragment.registers):
        if at != line:
            continue
        if found and column == found[-1][0] + len(found[-1][1]):
            found[-1][1].append(number)
        else:
            found.append((column, [number]))
    return found


class MatrixMultiplier(_Matrices):
    """The lanes of a group load the elements of small matrices to their registers."""

    def __init__(self, emitter: ElementEmitter, plan: ProductPlan, shape: MatrixShape, thread: Value) -> None:
        super().__init__(emitter, plan, shape, thread)
        assert shape.left is not None
        assert shape.right is not None
        self._held = (shape.left, shape.right)
        self._loaders = [
            MatrixLoader(self._b, self._lane, self.types[0], layout, fragment)
            if emitter.context.abi.parallel.matrix_loads and has_rows(fragment, shape.operand)
            else None
            for layout, fragment in zip(plan.layouts, self._held, strict=True)
        ]

    def multiply(
        self, memory: Memory, starts: Sequence[Value], totals: Sequence[Value], meanwhile: Callable[[], None]
    ) -> list[Value]:
        meanwhile()
        b, shape = self._b, self._shape

        def step(number: Value, carried: list[Value]) -> list[Value]:
            term = b.mul(number, b.int_(shape.terms))
            left, right = (self._fragments(side, memory[side][0], starts[side], term) for side in (0, 1))
            size = len(shape.total.registers)
            abi, found = self._emitter.context.abi, list[Value]()
            for x in left:
                for y in right:
                    total = carried[len(found) : len(found) + size]
                    found += abi.matrix_multiply_accumulate(b, shape, x, y, total)
            return found

        count = b.int_(self._plan.tile[2] // shape.terms)
        return self._emitter.context.loop(b.int_(0), count, step, totals, name="term")

    def _fragments(self, side: int, array: Value, start: Value, term: Value) -> list[list[Value]]:
        """This lane's registers of the small matrices of an operand that its group multiplies."""
        b, shape, layout = self._b, self._shape, self._plan.layouts[side]
        size, fragment = (shape.rows, shape.columns)[side], self._held[side]
        lines, loader = [n * size for n in range(self._counts[side])], self._loaders[side]
        if loader is None:
            return [self._fragment(side, array, start, term, line, fragment) for line in lines]
        first = b.add(b.mul(self._first[side], b.int_(layout.line_stride)), b.mul(term, b.int_(layout.depth_stride)))
        places = [(line + by, at) for line in lines for by, at in fragment.registers]
        found = loader.load(self._emitter.context.abi, array, b.add(start, first), places)
        count = len(fragment.registers)
        return [found[n : n + count] for n in range(0, len(found), count)]

    def _fragment(
        self, side: int, array: Value, start: Value, term: Value, line: int, fragment: Fragment
    ) -> list[Value]:
        """This lane's registers of a small matrix of an operand."""
        b, layout, held = self._b, self._plan.layouts[side], self.types[0]
        first = b.add(b.add(self._first[side], b.int_(line)), self._place(fragment.line))
        place = b.add(b.mul(first, b.int_(layout.line_stride)), b.add(term, self._place(fragment.term)))
        place = b.add(start, place)
        bits = 8 * self._shape.operand.byte_width * fragment.elements
        type_ = held if fragment.elements == 1 else f"i{bits}"
        return [
            b.load(type_, b.gep(held, array, b.add(place, b.int_(lines * layout.line_stride + terms))), align=bits // 8)
            for lines, terms in fragment.registers
        ]


class SharedMatrixMultiplier(_Matrices):
    """The device reads the operands of a group of lanes from shared memory."""

    def multiply(
        self, memory: Memory, starts: Sequence[Value], totals: Sequence[Value], meanwhile: Callable[[], None]
    ) -> list[Value]:
        left, right = (self._operand(side, memory[side][0], starts[side]) for side in (0, 1))
        steps = self._plan.tile[2] // self._shape.terms
        abi = self._emitter.context.abi
        totals = abi.multiply_shared_matrices(self._b, self._shape, left, right, steps, totals)
        meanwhile()
        return abi.await_shared_products(self._b, totals)

    def _operand(self, side: int, array: Value, start: Value) -> SharedMatrix:
        """The lines of an operand that the group multiplies."""
        b, layout, size = self._b, self._plan.layouts[side], self._shape.operand.byte_width
        assert layout.swizzle is not None
        row = layout.swizzle.row
        block = row * (layout.lines if layout.along_depth else layout.depth)
        lines = self._first[side]
        offset = b.mul(lines, b.int_(row)) if layout.along_depth else b.mul(b.udiv(lines, b.int_(row)), b.int_(block))
        step = self._shape.terms * (1 if layout.along_depth else row)
        place = b.gep(self.types[0], array, b.add(start, offset))
        return SharedMatrix(place, layout.along_depth, row * size, block * size, step * size)


def multiplier(emitter: ElementEmitter, plan: ProductPlan, thread: Value) -> Multiplier:
    """Returns the multiplier that a plan asks for, of one thread of a block."""
    if plan.matrix is None:
        return ThreadMultiplier(emitter, plan, thread)
    kind = SharedMatrixMultiplier if plan.matrix.in_shared_memory else MatrixMultiplier
    return kind(emitter, plan, plan.matrix, thread)
