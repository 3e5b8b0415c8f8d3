"""What a kernel of row teams computes, and how its rows are divided among blocks, teams and threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.analysis.indexing import (
    FusionAccesses,
    Index,
    IndexExpr,
    ReducedRows,
    RowParts,
    is_of_row,
    reduced_rows,
    row_parts,
)
from xla_core.codegen.llvm.blocks.team import TeamLayout
from xla_core.codegen.llvm.elements.accumulators import accumulated_registers
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, sections
from xla_core.codegen.llvm.forms.team_rows import (
    BLOCK,
    MOST_CODE,
    described_rows,
    most_threads,
    rows_at_once,
    team_sizes,
    team_stride,
    vector_width,
    widest_element,
)
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.hlo.ir.combiner import combiner
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.sizes import ceil_div, power_below
from xla_core.target import ParallelModel
from xla_core.wording import counted

_LARGEST = 2 * BLOCK  # threads of a block of several teams that reduce columns; with more, each has few registers
_MOST_ELEMENTS = 32  # of a row that a thread has where a larger team would have more idle threads
_LONGEST = 8
"""Times `MOST_CODE`: the most code of a kernel of parts, which keeps its columns in registers in any case."""


@dataclasses.dataclass(frozen=True, slots=True)
class RowReductions:
    """The computation of a kernel of this form.

    Attributes:
        rows: all reductions of the kernel are over these, except those of `columns`.
        reductions: (reduction, the index of its result), each after those that it needs.
        sections: the results. The elements of each are those of the rows, or one a row.
        neighbours: the positions in memory from which the kernel loads consecutive elements of a row.
        parts: the parts of the rows whose columns the kernel reduces, if it does.
        columns: the results that are reductions of columns. The elements of each are those of one row a part.
    """

    rows: ReducedRows
    reductions: Sequence[tuple[HloInstruction, Index]]
    sections: Sequence[Section]
    neighbours: Sequence[IndexExpr]
    parts: RowParts | None = None
    columns: Sequence[Section] = ()

    @property
    def accumulates(self) -> bool:
        """Whether the results of rows, or of parts, are combined by atomics."""
        return any(section.accumulates for section in [*self.sections, *self.columns])

    @property
    def column_reductions(self) -> Sequence[HloInstruction]:
        """The reductions of columns."""
        return [root for section in self.columns for root, _ in section.roots]

    @property
    def columns_commute(self) -> bool:
        """Whether each reduction of columns may combine the rows of a part in any order."""
        ops = [combiner(reduction.attribute("to_apply")) for reduction in self.column_reductions]
        return all(op is not None and Trait.COMMUTATIVE in op.traits for op in ops)

    def words(self, bytes_: int) -> int:
        """The 32-bit registers for an element of a row, which has so many bytes, and for its columns' reductions."""
        kept = [type_ for reduction in self.column_reductions for type_ in accumulated_registers(reduction)]
        return sum(max(1, ceil_div(bits, 32)) for bits in (8 * bytes_, *map(type_bits, kept)))

    def column_bytes(self, layout: TeamLayout, width: int) -> int:
        """The memory in which teams combine the reductions of `width` columns a thread, one reduction after another."""
        types = [accumulated_registers(reduction) * width for reduction in self.column_reductions]
        return max(map(across_teams(layout).shared_bytes, types), default=0)


def row_reductions(body: KernelBody) -> RowReductions | None:
    """Returns what the kernel computes, if all its reductions reduce the same rows, and each is needed once a row.

    Results may also be reductions of the columns of parts of these rows.
    """
    found = [i for i in body.members if i.opcode == Opcode.REDUCE]
    kinds = dict.fromkeys(map(reduced_rows, found))
    parts = row_parts(kinds)
    rows = parts.rows if parts is not None else next(iter(kinds), None)
    if rows is None or rows.elements < 2 or (parts is None and len(kinds) > 1):
        return None
    place = rows.place_variable
    own: list[Section] = []
    columns: list[Section] = []
    accesses = FusionAccesses(body.bound, lambda space, count: [place])
    for section in sections(body, parts=False, atomics=True):
        combined = [(root, leaves) for root, leaves in section.roots if parts is not None and parts.is_column(root)]
        if parts is not None and combined:
            columns.append(dataclasses.replace(section, roots=combined))
            for root, _ in combined:
                for term, index in parts.terms(root, IndexExpr.of(place)):
                    accesses.visit(term, index)
        others = [(root, leaves) for root, leaves in section.roots if (root, leaves) not in combined]
        if not others:
            continue
        if not rows.fits(section.shape) or any(root.opcode == Opcode.SCATTER for root, _ in others):
            return None
        if section.update is not None and not (section.accumulates and section.shape.num_elements == rows.count):
            return None
        own.append(dataclasses.replace(section, roots=others))
        for root, _ in others:
            accesses.visit(root, section.index(rows.position(section.shape, IndexExpr.of(place))))
    needed = [(i, index) for i in found for index in accesses.indices(i)]
    if not all(is_of_row(index) and reduced_rows(i) == rows for i, index in needed):
        return None
    positions = dict.fromkeys(load.position for load in accesses.loads)
    neighbours = [p for p in positions if place not in (p - IndexExpr.of(place)).variables]
    return RowReductions(rows, needed, own, neighbours, parts, columns)


def across_teams(layout: TeamLayout) -> TeamLayout:
    """Returns the teams of those threads of a block that have the same elements of rows."""
    return TeamLayout(layout.teams, layout.threads, layout.size, layout.lanes)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TeamsPlan(KernelPlan):
    """How rows are divided.

    Attributes:
        kernel: what is computed.
        layout: the teams of threads, of which each works on a row.
        shared_bytes: memory in which the teams combine their threads' results.
        width: neighbouring elements of a row that a thread reads or writes at once.
        steps: the number of steps in which the team goes over a row.
        is_kept: whether the elements of a row stay in registers.
        column_bytes: memory in which the teams of a block combine their reductions of columns.
    """

    kernel: RowReductions
    layout: TeamLayout
    shared_bytes: int = 0
    width: int = 1
    steps: int = 1
    is_kept: bool = False
    column_bytes: int = 0

    def describe_loops(self) -> str:
        rows, parts = self.kernel.rows, self.kernel.parts
        of_row = f"; {described_rows(rows)}, {self.layout.teams} a block"
        each = f", {counted(self.layout.size, 'thread')} each, {self.steps} x {self.width} elements a thread"
        kept = " in registers" if self.is_kept else ""
        by_parts = (
            "" if parts is None else f"; columns of {counted(parts.count, 'part')} of {counted(parts.length, 'row')}"
        )
        return of_row + each + kept + by_parts + (", combined by atomics" if self.kernel.accumulates else "")


def plan_teams(body: KernelBody) -> TeamsPlan | None:
    """Returns how the rows of a kernel are divided; None if it isn't of this form, or a thread alone computes a row."""
    kernel, model = row_reductions(body), body.parallel
    if kernel is None:
        return None
    rows = kernel.rows
    bytes_ = widest_element(body)
    width = vector_width(rows, model, bytes_, MOST_CODE // body.size)
    groups, words = rows.elements // width, kernel.words(bytes_) * width
    stride = team_stride(rows, model)
    registers = [accumulated_registers(reduction) for reduction, _ in kernel.reductions]
    most = most_threads(registers, stride, model)
    # Every thread has an element in the first step. A block is larger if its threads can't keep the elements.
    team, largest = team_sizes(groups, most, stride)
    while team < largest and ceil_div(groups, team) * words > model.registers:
        team *= 2
    if kernel.parts is not None:  # they are kept in any case
        while team < largest and ceil_div(groups, team) * width * body.size > MOST_CODE:
            team *= 2
    if kernel.parts is None and stride == 1 and ceil_div(groups, team) * words <= model.registers:
        longest = min(model.registers // words, MOST_CODE // (width * body.size), _MOST_ELEMENTS // width)
        team = _busiest_team(team, groups, longest, model)
    steps, at_once = ceil_div(groups, team), stride
    code, is_kept = steps * width * body.size, steps * words <= model.registers
    if kernel.parts is not None:
        at_once, is_kept = _teams_of_part(body, kernel, kernel.parts, team, width), True
        if code > _LONGEST * MOST_CODE:
            return None
    elif stride == 1:  # several rows a block, if there are blocks enough
        at_once = rows_at_once(rows, team, most, model)
    if at_once * team == 1:
        return None  # a block of one thread is no team: other forms compute such rows
    layout = TeamLayout(team, at_once * team, stride, model.lanes)
    column_bytes = kernel.column_bytes(layout, width)
    return TeamsPlan(
        ceil_div(rows.count, at_once) if kernel.parts is None else kernel.parts.count,
        threads=layout.threads,
        kernel=kernel,
        layout=layout,
        shared_bytes=min(sum(map(layout.shared_bytes, registers)), model.shared_bytes - column_bytes),
        width=width,
        steps=steps,
        is_kept=is_kept and (code <= MOST_CODE or kernel.parts is not None),
        column_bytes=column_bytes,
    )


def _busiest_team(team: int, groups: int, longest: int, model: ParallelModel) -> int:
    """Returns a team's size, or a smaller one whose threads have more of a row's groups each, and are idle less often.

    A row of 96 groups keeps 32 threads busy in three steps, and 64 threads in one of two. A smaller team has at least
    as many threads as exchange registers without memory, and at most the `longest` number of steps.
    """
    found = team
    while team >= 2 * max(model.lanes, 2):
        team //= 2
        steps = ceil_div(groups, team)
        if steps <= longest and steps * team < ceil_div(groups, found) * found:
            found = team
    return found


def _teams_of_part(body: KernelBody, kernel: RowReductions, parts: RowParts, team: int, width: int) -> int:
    """Returns how many teams of a block take the rows of a part in turn.

    The blocks are large, so that few parts keep the device busy, as far as a block has registers. Reductions that don't
    commute take the rows of a part in order.
    """
    teams, model = 1, body.parallel
    kept = parts.kept_words(body.bound, kernel.column_reductions)
    most = min(power_below(model.threads), _LARGEST)
    while 2 * teams <= parts.length and 2 * teams * team <= most and kernel.columns_commute:
        threads = teams * team
        layout = TeamLayout(team, 2 * threads, 1, model.lanes)
        is_full = threads >= BLOCK and parts.count * threads >= model.units * BLOCK
        if is_full or 2 * teams * kept > model.kept_words:
            break
        rows = max(layout.shared_bytes(accumulated_registers(reduction)) for reduction, _ in kernel.reductions)
        if rows + kernel.column_bytes(layout, width) > model.shared_bytes:
            break
        teams *= 2
    return teams
