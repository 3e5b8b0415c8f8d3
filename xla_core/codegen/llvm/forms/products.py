"""Kernels of dots and convolutions: a block of threads computes a tile of the result.

The block copies tiles of both operands to shared memory, while it multiplies the tiles that it copied before. Each
thread accumulates a small tile of the result in registers. What the operands are computed from is computed on the way
to shared memory, and what is computed from the result on the way to the results: no intermediate value is in memory.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from xla_core.analysis.indexing import (
    PRODUCTS,
    Access,
    FusionAccesses,
    IndexExpr,
    ProductSpace,
    joined,
    one_loop,
    product_space,
)
from xla_core.codegen.llvm.blocks.tile_copy import TileCopy, load_vector
from xla_core.codegen.llvm.elements.accumulators import ProductSum
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.elements.registers import whole
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm
from xla_core.codegen.llvm.forms.product_plan import ProductPlan, plan_product
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.op_table import Trait

_MOST_UNROLLED = 256  # products in the body of the innermost loop


def _space(body: KernelBody) -> ProductSpace | None:
    """Returns the kernel's product, if it is the only one, and each result is computed from its own element of it."""
    found = [i for i in body.members if i.opcode in PRODUCTS]
    space = product_space(found[0]) if len(found) == 1 else None
    if space is None or any(Trait.ACCUMULATES in i.op.traits for i in body.members if i is not space.product):
        return None
    index = tuple(map(joined, space.parts))
    accesses = FusionAccesses(body.bound, one_loop)
    for root in body.roots:
        if not root.shape.is_array or root.shape.dimensions != space.product.shape.dimensions:
            return None
        accesses.visit(root, index)
    return space if accesses.indices(space.product) == [index] else None


def _matches(body: KernelBody) -> bool:
    model = body.abi.parallel
    return model.has_blocks and model.shared_bytes > 0 and _space(body) is not None


def _plan(body: KernelBody) -> ProductPlan:
    space = _space(body)
    assert space is not None
    return plan_product(body, space)


def _emit(body: KernelBody, plan: ProductPlan, frame: KernelFrame, context: EmissionContext) -> None:
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="tile")
    _Tile(body, plan, context, loop.index).emit()
    context.close_loop(loop)


class _Tile:
    """Emits the work of a unit: a tile of the result."""

    def __init__(self, body: KernelBody, plan: ProductPlan, context: EmissionContext, unit: Value) -> None:
        self._body, self._plan, self._context = body, plan, context
        self._b = b = context.builder
        self._indices = IndexValues(context)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, plan.loops)
        self._sum = ProductSum(self._emitter, plan.space.product)
        self._types = [v.type for v in self._sum.start()]
        batches = plan.sizes[0]
        columns = b.urem(unit, b.int_(plan.blocks[1]))
        rest = b.udiv(unit, b.int_(plan.blocks[1]))
        self._batch = self._indices.new("batch", batches, b.udiv(rest, b.int_(plan.blocks[0])))
        starts = (b.urem(rest, b.int_(plan.blocks[0])), columns)
        self._first = [b.mul(start, b.int_(size)) for start, size in zip(starts, plan.tile, strict=False)]
        thread = context.abi.thread_index(b)
        across = plan.tile[1] // plan.each[1]
        self._place = (b.udiv(thread, b.int_(across)), b.urem(thread, b.int_(across)))
        self._memory = [
            [context.abi.shared_array(b, "i8" if t == "i1" else t, layout.size * plan.stages) for t in self._types]
            for layout in plan.layouts
        ]
        self._copies = [self._copy(side, thread) for side in (0, 1)]

    def _copy(self, side: int, thread: Value) -> TileCopy:
        plan, number = self._plan, self._plan.operands[side]
        return TileCopy(
            self._emitter,
            plan.space.product.operand(number),
            plan.layouts[side],
            functools.partial(self._access, side),
            functools.partial(self._sum.enter, number),
            self._types,
            self._memory[side],
            thread=thread,
            threads=plan.threads,
            first=self._first[side],
        )

    def _access(self, side: int, line: IndexExpr, term: IndexExpr) -> Access:
        """The access to an operand: line `line` of the left (0) or right (1) one."""
        return self._plan.access(side, self._batch, line, term)

    def emit(self) -> None:
        b, plan = self._b, self._plan
        self._store(b.int_(0), [copy.load(b.int_(0)) for copy in self._copies])
        self._context.abi.barrier(b)
        count = plan.each[0] * plan.each[1]
        totals = [part for _ in range(count) for part in self._sum.start()]
        totals = self._context.loop(b.int_(0), b.int_(plan.steps), self._step, totals, name="depth")
        size = len(self._types)
        self._results([totals[n * size : (n + 1) * size] for n in range(count)])

    def _store(self, stage: Value, registers: Sequence[Sequence[Value]]) -> None:
        for copy, layout, values in zip(self._copies, self._plan.layouts, registers, strict=True):
            copy.store(values, self._b.mul(stage, self._b.int_(layout.size)))

    def _step(self, tile: Value, totals: list[Value]) -> list[Value]:
        """Multiplies a tile of the operands, and copies the next one."""
        b, context, plan = self._b, self._context, self._plan
        following = b.add(tile, b.int_(1))
        has_next = b.icmp("ult", following, b.int_(plan.steps)) if plan.steps > 1 else b.bool_(False)
        loaded: list[list[Value]] = []

        def load() -> list[Value]:
            loaded[:] = [copy.load(following) for copy in self._copies]
            return [value for values in loaded for value in values]

        zeros = [zero for copy in self._copies for zero in copy.zeros]
        registers = iter(context.choose(has_next, load, lambda: zeros))
        totals = self._multiply(b.urem(tile, b.int_(plan.stages)), totals)
        following_stage = b.urem(following, b.int_(plan.stages))
        taken = [list(itertools.islice(registers, len(copy.zeros))) for copy in self._copies]
        context.when(has_next, lambda: self._store(following_stage, taken))
        context.abi.barrier(b)
        return totals

    # -- products ----------------------------------------------------------------------------------------------------

    def _multiply(self, stage: Value, totals: Sequence[Value]) -> list[Value]:
        """Adds the products of a stage's tiles to this thread's elements."""
        b, plan, size = self._b, self._plan, len(self._types)
        depth, each = plan.tile[2], plan.each
        unrolled = depth
        while unrolled > 1 and unrolled * each[0] * each[1] > _MOST_UNROLLED:
            unrolled //= 2
        starts = [b.mul(stage, b.int_(layout.size)) for layout in plan.layouts]

        def some(number: Value, carried: list[Value]) -> list[Value]:
            for step in range(unrolled):
                term = b.add(b.mul(number, b.int_(unrolled)), b.int_(step))
                left, right = (self._line(side, starts[side], term) for side in (0, 1))
                pairs = [(x, y) for x in left for y in right]
                carried = [
                    part
                    for n, (x, y) in enumerate(pairs)
                    for part in self._sum.add(carried[n * size : (n + 1) * size], whole(x), whole(y))
                ]
            return carried

        return self._context.loop(b.int_(0), b.int_(depth // unrolled), some, totals, name="term")

    def _line(self, side: int, start: Value, term: Value) -> list[list[Value]]:
        """The elements of an operand, each as its parts, that this thread needs for one term."""
        b, plan = self._b, self._plan
        width, step = plan.vector(side), plan.tile[side] // plan.groups(side)
        first = b.add(b.mul(term, b.int_(plan.layouts[side].depth_stride)), b.mul(self._place[side], b.int_(width)))
        found: list[list[Value]] = []
        for group in range(plan.groups(side)):
            place = b.add(b.add(start, first), b.int_(group * step))
            vectors = zip(self._types, self._memory[side], strict=True)
            parts = [load_vector(self._emitter, type_, width, array, place) for type_, array in vectors]
            found += [list(element) for element in zip(*parts, strict=True)]
        return found

    # -- results -----------------------------------------------------------------------------------------------------

    def _results(self, sums: Sequence[Sequence[Value]]) -> None:
        """Computes what depends on the sums, which are row-major, and stores it."""
        across = self._plan.each[1]
        for row in range(self._plan.each[0]):
            number = self._number(0, row)
            of_row = sums[row * across : (row + 1) * across]
            self._context.when(self._is_inside(0, number), functools.partial(self._row, number, of_row))

    def _number(self, side: int, item: int) -> Value:
        """The number of one of this thread's rows (0) or columns (1)."""
        b, plan = self._b, self._plan
        group, offset = divmod(item, plan.vector(side))
        start = b.add(self._first[side], b.mul(self._place[side], b.int_(plan.vector(side))))
        return b.add(start, b.int_(group * (plan.tile[side] // plan.groups(side)) + offset))

    def _is_inside(self, side: int, number: Value) -> Value:
        extent = self._plan.sizes[1 + side]
        is_whole = extent % self._plan.tile[side] == 0
        return self._b.bool_(True) if is_whole else self._b.icmp("ult", number, self._b.int_(extent))

    def _row(self, number: Value, sums: Sequence[Sequence[Value]]) -> None:
        b, extent, width = self._b, self._plan.sizes[2], self._plan.vector(1)
        row = self._indices.new("row", self._plan.sizes[1], number)
        if extent % width:
            width = 1  # a group is not inside as a whole
        for first in range(0, len(sums), width):
            start = self._number(1, first)

            def store(start: Value = start, first: int = first) -> None:
                column = self._indices.new("column", extent // width, b.udiv(start, b.int_(width))) * width
                self._store_results([(row, column + n, sums[first + n]) for n in range(width)])

            self._context.when(self._is_inside(1, start), store)

    def _store_results(self, elements: Sequence[tuple[IndexExpr, IndexExpr, Sequence[Value]]]) -> None:
        """Stores the results that depend on the sums of neighbouring elements."""
        product, body = self._plan.space.product, self._body
        found = []
        for row, column, total in elements:
            index = self._plan.index(self._batch, row, column)
            self._emitter.define(product, index, self._sum.finish(total))
            found += [(n, index, self._emitter.value(root, index)) for n, root in enumerate(body.roots)]
        for number, index, value in found:  # after all loads: a result may be in an operand's buffer
            self._emitter.store(body.results[number], index, value)


PRODUCT = KernelForm("products", _matches, _plan, _emit)
