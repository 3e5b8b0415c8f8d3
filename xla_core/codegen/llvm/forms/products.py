"""Kernels of dots and convolutions: a block of threads computes a tile of the result.

The block copies tiles of both operands to shared memory, while it multiplies the tiles that it copied before. Each
thread accumulates a small tile of the result in registers. Producers of the operands are computed when the tiles are
copied to shared memory, and consumers of the product before the results are stored, so that no intermediate value is in
memory.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from xla_core.analysis.indexing import (
    Access,
    FusionAccesses,
    Index,
    IndexExpr,
    ProductSpace,
    is_product,
    joined,
    one_loop,
    product_space,
)
from xla_core.codegen.llvm.blocks.tile_copy import TileCopy
from xla_core.codegen.llvm.elements.accumulators import ProductSum
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, Loader
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm
from xla_core.codegen.llvm.forms.product_multipliers import multiplier
from xla_core.codegen.llvm.forms.product_plan import ProductPlan, plan_product
from xla_core.codegen.llvm.forms.shared_product_plan import plan_shared_product
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.vectors import Vectors
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait

_PATTERN_BYTES = 1024  # of eight rows of the widest matrices that a device reads from shared memory


def _space(body: KernelBody) -> ProductSpace | None:
    """Returns the kernel's product, if it is the only one, and each result is computed from its own element of it."""
    found = [i for i in body.members if is_product(i)]
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
    model = body.parallel
    return model.has_blocks and model.shared_bytes > 0


def _plan(body: KernelBody) -> ProductPlan | None:
    space = _space(body)
    return plan_product(body, space) if space is not None else None


def _plan_in_shared_memory(body: KernelBody) -> ProductPlan | None:
    if not any(shape.in_shared_memory for shape in body.parallel.matrix_shapes):
        return None
    space = _space(body)
    return plan_shared_product(body, space) if space is not None else None


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
        self._sum = ProductSum(self._emitter, plan.product.instruction)
        columns = b.urem(unit, b.int_(plan.blocks[1]))
        rest = b.udiv(unit, b.int_(plan.blocks[1]))
        self._batch = self._indices.new("batch", plan.product.batch, b.udiv(rest, b.int_(plan.blocks[0])))
        starts = (b.urem(rest, b.int_(plan.blocks[0])), columns)
        self._first = [b.mul(start, b.int_(size)) for start, size in zip(starts, plan.tile, strict=False)]
        thread = context.abi.thread_index(b)
        self._multiplier = multiplier(self._emitter, plan, thread)
        self._types = self._multiplier.types
        self._memory = self._shared_memory()
        self._copies = [self._copy(side, thread) for side in (0, 1)]

    def _shared_memory(self) -> list[list[Value]]:
        """The arrays of both operands: one for each part of an element."""
        abi, b, sizes = self._context.abi, self._b, [layout.size * self._plan.stages for layout in self._plan.layouts]
        if self._is_read_by_device:
            (held,) = self._types
            memory = abi.shared_array(b, held, sum(sizes), align=_PATTERN_BYTES)
            return [[memory], [b.gep(held, memory, b.int_(sizes[0]))]]
        held_types = ["i8" if type_ == "i1" else type_ for type_ in self._types]
        return [[abi.shared_array(b, held, size) for held in held_types] for size in sizes]

    @property
    def _is_read_by_device(self) -> bool:
        """Whether no thread reads the tiles, but the device when it multiplies them."""
        return self._plan.matrix is not None and self._plan.matrix.in_shared_memory

    def _barrier(self) -> None:
        """Waits until all threads have written the tiles that are multiplied next."""
        if self._is_read_by_device:
            self._context.abi.show_shared_matrices(self._b)
        self._context.abi.barrier(self._b)

    def _copy(self, side: int, thread: Value) -> TileCopy:
        plan, operand = self._plan, self._plan.product.operand(side)
        return TileCopy(
            self._context,
            self._indices,
            functools.partial(self._grouped, [operand]),
            operand,
            plan.layouts[side],
            functools.partial(self._access, side),
            functools.partial(self._multiplier.enter, plan.product.operands[side]),
            self._types,
            self._memory[side],
            thread=thread,
            threads=plan.threads,
            first=self._first[side],
        )

    def _access(self, side: int, line: IndexExpr, term: IndexExpr) -> Access:
        """The access to an operand: line `line` of the left (0) or right (1) one."""
        return self._plan.product.access(side, self._batch, line, term)

    def _grouped(
        self, instructions: Sequence[HloInstruction], group: Sequence[Index], loader: Loader | None = None
    ) -> ElementEmitter:
        """An emitter of instructions at neighbouring indices, which loads adjacent elements as vectors."""
        if loader is not None:
            return ElementEmitter(self._context, self._body.bindings, self._indices, self._plan.loops, loader=loader)
        body, width = self._body, len(group)
        bound = {*body.bound, self._plan.product.instruction}
        loads = []
        for index in group:
            accesses = FusionAccesses(bound, one_loop)
            for instruction in instructions:
                accesses.visit(instruction, index)
            loads.append(list(accesses.loads))
        firsts = {
            load.position
            for load, *others in zip(*loads, strict=False)
            if load.position.is_multiple_of(width)
            and all(o.source is load.source and o.position == load.position + n for n, o in enumerate(others, 1))
        }
        vectors = Vectors(self._context, self._indices, width, firsts)
        return ElementEmitter(self._context, body.bindings, self._indices, self._plan.loops, loader=vectors.load)

    def emit(self) -> None:
        b, plan = self._b, self._plan
        if plan.is_asynchronous:
            self._results(self._pipelined())
            return
        self._store(b.int_(0), [copy.load(b.int_(0)) for copy in self._copies])
        self._barrier()
        start = self._multiplier.start()
        self._results(self._context.loop(b.int_(0), b.int_(plan.steps), self._step, start, name="depth"))

    def _pipelined(self) -> list[Value]:
        """Multiplies the tiles while copies of the following tiles, one for each further stage, are in progress."""
        b, plan, abi = self._b, self._plan, self._context.abi
        ahead = plan.stages - 1
        for tile in range(ahead):
            self._start(b.int_(tile))
            abi.commit_copies(b)

        def step(tile: Value, totals: list[Value]) -> list[Value]:
            abi.await_copies(b, ahead - 1)
            self._barrier()  # all threads' copies are done, and no thread reads the stage that the next ones replace

            def copy() -> None:
                following = b.add(tile, b.int_(ahead))
                has_following = b.icmp("ult", following, b.int_(plan.steps))
                self._context.when(has_following, lambda: self._start(following))
                abi.commit_copies(b)

            return self._multiplier.multiply(self._memory, self._starts(tile), totals, copy)

        totals = self._context.loop(b.int_(0), b.int_(plan.steps), step, self._multiplier.start(), name="depth")
        self._context.barrier_before_next()  # before the copies of the block's next unit
        return totals

    def _starts(self, tile: Value) -> list[Value]:
        """Where the tiles of both operands lie in shared memory."""
        stage = self._b.urem(tile, self._b.int_(self._plan.stages))
        return [self._b.mul(stage, self._b.int_(layout.size)) for layout in self._plan.layouts]

    def _start(self, tile: Value) -> None:
        for copy, place in zip(self._copies, self._starts(tile), strict=True):
            copy.start(tile, place)

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
        totals = self._multiplier.multiply(self._memory, self._starts(tile), totals, lambda: None)
        following_stage = b.urem(following, b.int_(plan.stages))
        taken = [list(itertools.islice(registers, len(copy.zeros))) for copy in self._copies]
        context.when(has_next, lambda: self._store(following_stage, taken))
        self._barrier()
        return totals

    # -- results -----------------------------------------------------------------------------------------------------

    def _results(self, totals: Sequence[Value]) -> None:
        """Computes the values that depend on the sums, and stores them."""
        for row, groups in self._multiplier.rows(totals):
            number = self._b.add(self._first[0], row)
            self._context.when(self._is_inside(0, number), functools.partial(self._row, number, groups))

    def _is_inside(self, side: int, number: Value) -> Value:
        extent = self._plan.product.lines[side]
        is_whole = extent % self._plan.tile[side] == 0
        return self._b.bool_(True) if is_whole else self._b.icmp("ult", number, self._b.int_(extent))

    def _row(self, number: Value, groups: Sequence[tuple[Value, Sequence[Sequence[Value]]]]) -> None:
        b, (rows, columns) = self._b, self._plan.product.lines
        row = self._indices.new("row", rows, number)
        for place, sums in groups:
            first = b.add(self._first[1], place)
            width = len(sums) if columns % len(sums) == 0 else 1  # else a group may be inside in part
            for n in range(0, len(sums), width):
                start, some = b.add(first, b.int_(n)), sums[n : n + width]
                self._context.when(self._is_inside(1, start), functools.partial(self._group, row, start, some))

    def _group(self, row: IndexExpr, start: Value, sums: Sequence[Sequence[Value]]) -> None:
        b, width = self._b, len(sums)
        group = b.udiv(start, b.int_(width))
        column = self._indices.new("column", self._plan.product.lines[1] // width, group) * width
        self._store_results([(row, column + n, total) for n, total in enumerate(sums)])

    def _store_results(self, elements: Sequence[tuple[IndexExpr, IndexExpr, Sequence[Value]]]) -> None:
        """Stores the results that depend on the sums of neighbouring elements."""
        product, body = self._plan.product, self._body
        group = [product.index(self._batch, row, column) for row, column, _ in elements]
        emitter = self._grouped(body.roots, group)
        found = []
        for index, (_, _, total) in zip(group, elements, strict=True):
            emitter.define(product.instruction, index, self._sum.finish(total))
            roots = zip(body.results, body.roots, strict=True)
            found.append([(array, index, emitter.value(root, index)) for array, root in roots])
        Vectors(self._context, self._indices, len(group), ()).store(found)


PRODUCT = KernelForm("products", _matches, _plan, _emit)
SHARED_PRODUCT = KernelForm("shared products", _matches, _plan_in_shared_memory, _emit)
"""Products whose operands the device reads from shared memory."""
