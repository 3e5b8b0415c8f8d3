"""Kernels that scan rows, such as cumulative sums, by teams of cooperating threads.

A team goes over a row in steps. In each step a thread takes a few elements that follow each other, and combines them in
their order. The threads' totals are combined by shuffles, then through shared memory, after the total of the
earlier steps. If there are too few rows for the device, a row is divided into parts, each with a team of its own: a
phase before writes the total of each part, and a team begins with the totals of the parts before its own.

Producers and consumers of the scanned elements are computed in the same kernel. Integers are exact. Floats are combined
in the order of the steps, the threads' groups and the threads, which depends on shapes only; those below 32 bits are
accumulated in f32.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from xla_core.analysis.indexing import (
    FusionAccesses,
    IndexExpr,
    ReducedRows,
    ScannedRows,
    one_loop,
    scanned_rows,
)
from xla_core.codegen.llvm.blocks.register_arrays import RegisterArrays
from xla_core.codegen.llvm.blocks.team import Team, TeamLayout
from xla_core.codegen.llvm.elements.accumulators import Reducer, accumulated_registers
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, sections
from xla_core.codegen.llvm.forms.team_rows import (
    MOST_CODE,
    bind_row,
    described_rows,
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
from xla_core.codegen.llvm.loops.vectors import Vectors
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.sizes import ceil_div
from xla_core.target import ParallelModel
from xla_core.wording import counted

_COLUMN_PART = 8  # elements of a column that a thread takes at once
_FEW_BLOCKS = 4  # a device with work for so small a part of its units has too few rows
_STEPS = 2  # of a part of a row, at least


@dataclasses.dataclass(frozen=True, slots=True)
class _RowScan:
    """The computation of a kernel of this form.

    Attributes:
        scan: the instruction that scans.
        scanned: its rows.
        section: the results.
        neighbours: the positions in memory from which the kernel loads consecutive elements of a row.
    """

    scan: HloInstruction
    scanned: ScannedRows
    section: Section
    neighbours: Sequence[IndexExpr]


def _kernel(body: KernelBody) -> _RowScan | None:
    """Returns what the kernel computes, if the elements of all results are those of the rows of one scan."""
    (scan, *others) = _scans(body)
    parts, scanned = sections(body, parts=False), scanned_rows(scan)
    if others or scanned is None or len(parts) > 1:
        return None
    (section,), place = parts, scanned.rows.place_variable
    if section.update is not None or section.shape.num_elements != scan.shape.num_elements:
        return None
    # Elements of a row are found by their positions in memory.
    if section.shape.minor_to_major() != scan.shape.minor_to_major():
        return None
    index = section.index(scanned.rows.position(section.shape, IndexExpr.of(place)))
    after = FusionAccesses([*body.bound, scan], one_loop)
    for root, _ in section.roots:
        after.visit(root, index)
    if after.indices(scan) != [index]:
        return None
    before = FusionAccesses(body.bound, one_loop)
    before.visit(scan.operand(0), index)
    found = [load for accesses in (before, after) for load in accesses.loads if load.source is not scan]
    positions = dict.fromkeys(load.position for load in found)
    neighbours = [p for p in positions if place not in (p - IndexExpr.of(place)).variables]
    return _RowScan(scan, scanned, section, neighbours)


def _scans(body: KernelBody) -> list[HloInstruction]:
    return [i for i in body.members if scanned_rows(i) is not None]


def _matches(body: KernelBody) -> bool:
    return body.parallel.has_blocks and bool(_scans(body))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _ScanPlan(KernelPlan):
    """How rows are divided.

    Attributes:
        kernel: what is computed.
        layout: the teams of threads, of which each works on a part of a row.
        shared_bytes: memory in which a team combines its threads' totals.
        each: the number of consecutive elements that a thread combines in a step.
        width: how many of them it reads or writes at once.
        parts: of a row.
        steps: of a team over a part.
        writes: whether this phase writes the results; else it writes the totals of the parts.
    """

    kernel: _RowScan
    layout: TeamLayout
    shared_bytes: int
    each: int
    width: int
    parts: int
    steps: int
    writes: bool = True

    @property
    def rows(self) -> ReducedRows:
        return self.kernel.scanned.rows

    @property
    def divided(self) -> int:
        """How many parts of a row this phase works on. A total of the last part isn't needed."""
        return self.parts if self.writes else self.parts - 1

    def describe_loops(self) -> str:
        rows = self.rows
        if not self.writes:
            return f"; totals of {counted(self.divided, 'part')} of each row"
        parts = f" in {self.parts} parts" if self.parts > 1 else ""
        each = f"{counted(self.layout.size, 'thread')} each, {self.steps} x {self.each} elements a thread"
        return f"; {described_rows(rows)}{parts}, {self.layout.teams} a block, {each}"


def _plan(body: KernelBody) -> _ScanPlan | None:
    kernel, model = _kernel(body), body.parallel
    if kernel is None:
        return None
    rows, registers = kernel.scanned.rows, accumulated_registers(kernel.scan)
    most_each = max(1, MOST_CODE // body.size)
    width = vector_width(rows, model, widest_element(body), most_each)
    each = width if rows.inner == 1 else min(_COLUMN_PART, most_each)
    stride = team_stride(rows, model)
    groups, most = ceil_div(rows.elements, each), most_threads([registers], stride, model)
    team, largest = team_sizes(groups, most, stride)
    at_once = rows_at_once(rows, team, most, model) if stride == 1 else stride
    while team < largest and ceil_div(rows.count, at_once) * _FEW_BLOCKS <= model.units:
        team, at_once = 2 * team, stride  # few rows
    if at_once * team == 1:
        return None  # the elements of blocks of one thread are those of other forms
    layout = TeamLayout(team, at_once * team, stride, model.lanes)
    row_groups, steps = ceil_div(rows.count, at_once), ceil_div(groups, team)
    parts = _parts(row_groups, steps, model)
    plan = _ScanPlan(
        row_groups * parts,
        threads=layout.threads,
        kernel=kernel,
        layout=layout,
        shared_bytes=layout.shared_bytes(registers),
        each=each,
        width=width,
        parts=parts,
        steps=ceil_div(steps, parts),
    )
    if parts == 1:
        return plan
    scratch = RegisterArrays.size(registers, rows.count * (parts - 1))
    totals = dataclasses.replace(plan, count=row_groups * (parts - 1), writes=False)
    return dataclasses.replace(totals, scratch_bytes=scratch, later=(plan,))


def _parts(blocks: int, steps: int, model: ParallelModel) -> int:
    """Returns into how many parts rows are divided that take so many blocks and steps."""
    if blocks * _FEW_BLOCKS > model.units or steps < 2 * _STEPS:
        return 1
    parts = min(ceil_div(model.units, blocks), steps // _STEPS)
    return ceil_div(steps, ceil_div(steps, parts))  # no part is empty


def _emit(body: KernelBody, plan: _ScanPlan, frame: KernelFrame, context: EmissionContext) -> None:
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="rows")
    # A part first combines the totals of those before it.
    memory = plan.shared_bytes * (2 if plan.parts > 1 and plan.writes else 1)
    _Part(body, plan, context, Team(context, plan.layout, memory), loop.index).emit()
    context.close_loop(loop)


@dataclasses.dataclass(frozen=True, slots=True)
class _Step:
    """A thread's part in one step of the team: consecutive elements of a row, and whether each is in the row."""

    places: Sequence[IndexExpr]
    hold: Sequence[Value]


class _Part:
    """Emits the work of a unit, `unit`: a part of a row for each team of the block."""

    def __init__(self, body: KernelBody, plan: _ScanPlan, context: EmissionContext, team: Team, unit: Value) -> None:
        self._body, self._plan, self._context, self._team = body, plan, context, team
        self._b = b = context.builder
        self._indices = IndexValues(context)
        self._vectors = Vectors(context, self._indices, plan.width)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, one_loop, loader=self._vectors.load)
        self._reducer = Reducer(self._emitter, plan.kernel.scan)
        rows, parts = plan.rows, b.int_(plan.divided)
        self._part = b.urem(unit, parts)
        units = b.udiv(unit, parts)
        self._number, self._is_row = bind_row(b, self._indices, rows, team, plan.layout, units)
        self._totals = None
        if body.scratch is not None:
            types = accumulated_registers(plan.kernel.scan)
            self._totals = RegisterArrays.at(b, body.scratch, types, rows.count * (plan.parts - 1))

    def emit(self) -> None:
        b, plan = self._b, self._plan
        begin = b.mul(self._part, b.int_(plan.steps))
        end = b.add(begin, b.int_(plan.steps))
        if plan.writes:
            last = ceil_div(ceil_div(plan.rows.elements, plan.each), plan.layout.size)
            self._context.loop(
                begin, b.intrinsic("umin", end, b.int_(last)), self._scanned, self._before(), name="scan"
            )
            return
        total = self._context.loop(begin, end, self._added, self._reducer.start(), name="total")
        total = self._team.combine(total, self._reducer.combine, commutes=True)
        assert self._totals is not None
        place = b.add(b.mul(self._number, b.int_(plan.parts - 1)), self._part)
        is_first = b.and_(self._team.is_first, self._is_row)
        self._context.when(is_first, functools.partial(self._totals.store, place, total))
        self._end_step()

    def _before(self) -> list[Value]:
        """The combination of the parts before this one, in every thread of the team."""
        b, neutral, parts = self._b, self._reducer.start(), self._plan.parts
        totals = self._totals
        if totals is None:
            return neutral
        first = b.mul(self._number, b.int_(parts - 1))

        def one(number: Value, carried: Sequence[Value]) -> list[Value]:
            return self._reducer.combine(carried, totals.load(b.add(first, number)))

        size = b.int_(self._plan.layout.size)
        own = self._context.loop(self._team.member, self._part, one, neutral, step=size, name="before")
        return self._team.combine(own, self._reducer.combine, commutes=True)

    def _added(self, number: Value, carried: list[Value]) -> list[Value]:
        """Combines the elements of a step with the carried values."""
        for place in self._step(number).places:
            carried = self._reducer.combine(carried, self._element(place))
        return carried

    def _scanned(self, number: Value, carried: list[Value]) -> list[Value]:
        """Writes the results of a step. Returns the combination of all elements up to its end."""
        step, combine = self._step(number), self._reducer.combine
        found: list[list[Value]] = []
        for place in step.places:
            element = self._element(place)
            found.append(combine(found[-1], element) if found else element)
        before, total = self._team.scan(found[-1], self._reducer.start(), combine)
        before = combine(carried, before)
        section, lanes = self._plan.kernel.section, []
        for place, own in zip(step.places, found, strict=True):
            position = self._plan.rows.position(section.shape, place)
            index = section.index(position)
            self._emitter.define(self._plan.kernel.scan, index, self._reducer.finish(combine(before, own)))
            lanes.append(list(section.elements(self._body, self._emitter, position)))
        if len(step.hold) == 1:
            if self._plan.kernel.scanned.backwards:
                lanes.reverse()  # as they are in memory
            self._context.when(self._b.and_(step.hold[0], self._is_row), lambda: self._vectors.store(lanes))
        else:
            for holds, lane in zip(step.hold, lanes, strict=True):
                store = functools.partial(self._vectors.store, [lane])
                self._context.when(self._b.and_(holds, self._is_row), store)
        self._end_step()
        return combine(carried, total)

    def _element(self, place: IndexExpr) -> list[Value]:
        """The registers of an element that is scanned."""
        scan, section = self._plan.kernel.scan, self._plan.kernel.section
        index = section.index(self._plan.rows.position(section.shape, place))
        return self._reducer.enter([self._emitter.value(scan.operand(0), index)])

    def _step(self, number: Value) -> _Step:
        """Step `number` of the row. Beyond the row's end it is at the last elements again, and doesn't hold."""
        b, plan, rows = self._b, self._plan, self._plan.rows
        group = b.add(b.mul(number, b.int_(plan.layout.size)), self._team.member)
        if rows.elements % plan.each:
            first = b.mul(group, b.int_(plan.each))
            numbers = [b.add(first, b.int_(n)) for n in range(plan.each)]
            hold = [b.icmp("ult", n, b.int_(rows.elements)) for n in numbers]
            ends = [b.intrinsic("umin", n, b.int_(rows.elements - 1)) for n in numbers]
            places = [self._indices.new(f"place{n}", rows.elements, end) for n, end in enumerate(ends)]
        else:
            count, holds = rows.elements // plan.each, b.bool_(True)
            if count % plan.layout.size:
                holds = b.icmp("ult", group, b.int_(count))
                group = b.intrinsic("umin", group, b.int_(count - 1))
            start = self._indices.new("place", count, group) * plan.each
            places, hold = [start + n for n in range(plan.each)], [holds]
        if plan.kernel.scanned.backwards:
            places = [IndexExpr.of(rows.elements - 1) - place for place in places]
        least = places[-1] if plan.kernel.scanned.backwards else places[0]
        self._vectors.add(p.substitute({rows.place_variable: least}) for p in plan.kernel.neighbours)
        return _Step(places, hold)

    def _end_step(self) -> None:
        """Waits until the shared memory may be used again."""
        if self._plan.shared_bytes:
            self._context.abi.barrier(self._b)


SCANS = KernelForm("scans", _matches, _plan, _emit)
