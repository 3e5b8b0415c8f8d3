"""Kernels that reduce rows by teams of cooperating threads, and compute values that depend on the reductions.

Softmax and layer normalization are examples: their kernels reduce each row several times, and write a row. A team of
threads works on a row. If the elements of a row are neighbours in memory, the threads of a team are neighbours too. If
a row is a column of a matrix, neighbouring threads work on neighbouring columns. Each thread computes the same few
elements of the row at every stage, so that it keeps them in registers: every element is read and computed once. If a
row is too long for the registers, each stage is a loop of its own, which computes the elements anew.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from xla_core.analysis.indexing import (
    FusionAccesses,
    Index,
    IndexExpr,
    ReducedRows,
    is_of_row,
    memory_position,
    operand_accesses,
    placed,
    reduced_rows,
)
from xla_core.codegen.llvm.blocks.atomics import combine_atomically
from xla_core.codegen.llvm.blocks.team import Team, TeamLayout
from xla_core.codegen.llvm.elements.accumulators import Reducer, accumulated_registers
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, sections
from xla_core.codegen.llvm.forms.team_rows import (
    MOST_CODE,
    bind_row,
    most_threads,
    rows_at_once,
    team_sizes,
    team_stride,
    vector_width,
    widest_element,
)
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.loops.vectors import Vectors
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.sizes import ceil_div


@dataclasses.dataclass(frozen=True, slots=True)
class _RowReductions:
    """The computation of a kernel of this form.

    Attributes:
        rows: all reductions of the kernel are over these.
        reductions: (reduction, the index of its result), each after those that it needs.
        sections: the results. The elements of each are those of the rows, or one a row.
        neighbours: the positions in memory from which the kernel loads consecutive elements of a row.
    """

    rows: ReducedRows
    reductions: Sequence[tuple[HloInstruction, Index]]
    sections: Sequence[Section]
    neighbours: Sequence[IndexExpr]

    @property
    def accumulates(self) -> bool:
        """Whether the results of rows are combined by atomics."""
        return any(section.accumulates for section in self.sections)


def _kernel(body: KernelBody) -> _RowReductions | None:
    """Returns what the kernel computes, if all its reductions reduce the same rows, and each is needed once a row."""
    found = [i for i in body.members if i.opcode == Opcode.REDUCE]
    rows = reduced_rows(found[0]) if found else None
    if rows is None or rows.elements < 2 or any(reduced_rows(i) != rows for i in found):
        return None
    parts, place = sections(body, parts=False, atomics=True), rows.place_variable
    accesses = FusionAccesses(body.bound, lambda space, count: [place])
    for section in parts:
        if not rows.fits(section.shape) or any(root.opcode == Opcode.SCATTER for root, _ in section.roots):
            return None
        if section.update is not None and not (section.accumulates and section.shape.num_elements == rows.count):
            return None
        for root, _ in section.roots:
            accesses.visit(root, section.index(rows.position(section.shape, IndexExpr.of(place))))
    needed = [(i, index) for i in found for index in accesses.indices(i)]
    if not all(is_of_row(index) for _, index in needed):
        return None
    positions = dict.fromkeys(load.position for load in accesses.loads)
    neighbours = [p for p in positions if place not in (p - IndexExpr.of(place)).variables]
    return _RowReductions(rows, needed, parts, neighbours)


def _matches(body: KernelBody) -> bool:
    return body.parallel.has_blocks and any(i.opcode == Opcode.REDUCE for i in body.members)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _TeamsPlan(KernelPlan):
    """How rows are divided.

    Attributes:
        kernel: what is computed.
        layout: the teams of threads, of which each works on a row.
        shared_bytes: memory in which the teams combine their threads' results.
        width: neighbouring elements of a row that a thread reads or writes at once.
        steps: the number of steps in which the team goes over a row.
        is_kept: whether the elements of a row stay in registers.
    """

    kernel: _RowReductions
    layout: TeamLayout
    shared_bytes: int = 0
    width: int = 1
    steps: int = 1
    is_kept: bool = False

    def describe_loops(self) -> str:
        rows = self.kernel.rows
        kind = "rows" if rows.inner == 1 else "columns"
        of_row = f"; {rows.count} {kind} of {rows.elements}, {self.layout.teams} a block"
        each = f", {self.layout.size} threads each, {self.steps} x {self.width} elements a thread"
        kept = " in registers" if self.is_kept else ""
        return of_row + each + kept + (", combined by atomics" if self.kernel.accumulates else "")


def _plan(body: KernelBody) -> _TeamsPlan | None:
    kernel, model = _kernel(body), body.parallel
    if kernel is None:
        return None
    rows = kernel.rows
    bytes_ = widest_element(body)
    width = vector_width(rows, model, bytes_, MOST_CODE // body.size)
    groups, words = rows.elements // width, max(1, -(-bytes_ // 4)) * width
    stride = team_stride(rows, model)
    registers = [accumulated_registers(reduction) for reduction, _ in kernel.reductions]
    most = most_threads(registers, stride, model)
    # Every thread has an element in the first step. A block is larger if its threads can't keep the elements.
    team, largest = team_sizes(groups, most, stride)
    while team < largest and ceil_div(groups, team) * words > model.registers:
        team *= 2
    steps, at_once = ceil_div(groups, team), stride
    if stride == 1:  # several rows a block, if there are blocks enough
        at_once = rows_at_once(rows, team, most, model)
    if at_once * team == 1:
        return None  # a block of one thread is no team: other forms compute such rows
    layout = TeamLayout(team, at_once * team, stride, model.lanes)
    is_kept = steps * words <= model.registers and steps * width * body.size <= MOST_CODE
    return _TeamsPlan(
        ceil_div(rows.count, at_once),
        threads=layout.threads,
        kernel=kernel,
        layout=layout,
        shared_bytes=min(sum(map(layout.shared_bytes, registers)), model.shared_bytes),
        width=width,
        steps=steps,
        is_kept=is_kept,
    )


def _emit(body: KernelBody, plan: _TeamsPlan, frame: KernelFrame, context: EmissionContext) -> None:
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="rows")
    team = Team(context, plan.layout, plan.shared_bytes)
    _Rows(body, plan, context, team, loop.index).emit()
    if plan.shared_bytes:
        context.barrier_before_next()
    context.close_loop(loop)


@dataclasses.dataclass(frozen=True, slots=True)
class _Step:
    """A thread's part in one step of the team over a row: its `width` elements, and whether they are in the row."""

    places: Sequence[IndexExpr]
    holds: Value


class _Rows:
    """Emits the work of a unit, `unit`: a row for each team of the block."""

    def __init__(self, body: KernelBody, plan: _TeamsPlan, context: EmissionContext, team: Team, unit: Value) -> None:
        self._body, self._plan, self._context, self._team = body, plan, context, team
        self._b = b = context.builder
        self._indices = IndexValues(context)
        self._vectors = Vectors(context, self._indices, plan.width)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, plan.loops, loader=self._vectors.load)
        self._count = plan.kernel.rows.elements // plan.width
        _, self._is_row = bind_row(b, self._indices, plan.kernel.rows, team, plan.layout, unit)
        self._kept = [self._step(b.int_(n), f"place{n}") for n in range(plan.steps)] if plan.is_kept else []

    def _step(self, number: Value, name: str) -> _Step:
        """Returns step `number`. A step beyond the row's end reads the last elements again, and doesn't hold."""
        b, plan, first = self._b, self._plan, number.integer
        group = b.add(b.mul(number, b.int_(plan.layout.size)), self._team.member)
        holds = b.bool_(True)
        if first is None or (first + 1) * plan.layout.size > self._count:
            holds = b.icmp("ult", group, b.int_(self._count))
            group = b.intrinsic("umin", group, b.int_(self._count - 1))
        expr = self._indices.new(name, self._count, group) * plan.width
        self._vectors.add(p.substitute({plan.kernel.rows.place_variable: expr}) for p in plan.kernel.neighbours)
        return _Step([expr + n for n in range(plan.width)], holds)

    def emit(self) -> None:
        """Emits the reductions, then the results."""
        for reduction, index in self._plan.kernel.reductions:
            self._emitter.define(reduction, index, self._reduced(reduction, index))
        for section in self._plan.kernel.sections:
            if section.shape.num_elements == self._plan.kernel.rows.count:
                is_first = self._b.and_(self._team.is_first, self._is_row)
                self._context.when(is_first, functools.partial(self._store_once, section))
            else:
                self._store_rows(section)

    def _reduced(self, reduction: HloInstruction, index: Index) -> list[ElementValue]:
        """The elements of a reduction's results, in every thread of the team."""
        reducer = Reducer(self._emitter, reduction)
        accesses = operand_accesses(reduction, index)

        def combined(step: _Step, carried: Sequence[Value] | None) -> list[Value]:
            """Combines the elements of a step with the carried values; the first step has none, and is always in the
            row.
            """
            found = list(carried) if carried is not None else None
            for place in step.places:
                operands = zip(reducer.operands, placed(accesses, place), strict=False)
                element = reducer.enter([self._emitter.value(o, a.index) for o, a in operands])
                found = element if found is None else reducer.combine(found, element)
            assert found is not None
            before = carried or found
            return [self._b.select(step.holds, new, old) for new, old in zip(found, before, strict=True)]

        total = self._over_row(combined)
        total = self._team.combine(total, reducer.combine, commutes=reducer.commutes)
        return reducer.finish(reducer.combine(reducer.start(), total))

    def _over_row(self, combined: Callable[[_Step, Sequence[Value] | None], list[Value]]) -> Sequence[Value]:
        """Calls `combined` for each of a thread's steps over the row."""
        if self._kept:
            total = combined(self._kept[0], None)
            for step in self._kept[1:]:
                total = combined(step, total)
            return total
        b = self._b
        first = combined(self._step(b.int_(0), "first"), None)
        return self._context.loop(
            b.int_(1),
            b.int_(self._plan.steps),
            lambda number, carried: combined(self._step(number, "place"), carried),
            first,
            name="reduce",
        )

    def _store_rows(self, section: Section) -> None:
        b = self._b
        if self._kept:
            found = [(step, self._elements(section, step.places)) for step in self._kept]
            for step, elements in found:  # after all loads: a result may be in an operand's buffer
                self._context.when(b.and_(step.holds, self._is_row), functools.partial(self._vectors.store, elements))
            return

        def one(number: Value) -> None:
            step = self._step(number, "place")
            elements = self._elements(section, step.places)
            self._context.when(b.and_(step.holds, self._is_row), lambda: self._vectors.store(elements))

        self._context.each(b.int_(0), b.int_(self._plan.steps), one, name="store")

    def _store_once(self, section: Section) -> None:
        elements = self._elements(section, [IndexExpr.of(0)])
        if not section.accumulates:
            self._vectors.store(elements)
            return
        assert section.update is not None
        for array, index, value in elements[0]:
            place = self._indices.value(memory_position(array.shape, index))
            combine_atomically(self._context, array, place, value, section.update.attribute("to_apply"))

    def _elements(
        self, section: Section, places: Sequence[IndexExpr]
    ) -> list[list[tuple[IrArray, Index, ElementValue]]]:
        """The results of a section at places of the row, and where they are stored."""
        found = [self._plan.kernel.rows.position(section.shape, place) for place in places]
        return [list(section.elements(self._body, self._emitter, position)) for position in found]


ROW_TEAMS = KernelForm("row teams", _matches, _plan, _emit)
