"""Code of kernels of row teams that also reduce the columns of parts of the rows.

The teams of a block take the rows of a part in turn. Each thread has the same columns in every row, so that it combines
their elements in registers. After the last row the teams combine theirs, and the first one stores them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from xla_core.analysis.indexing import IndexExpr, RowParts
from xla_core.codegen.llvm.blocks.team import Combine, Team
from xla_core.codegen.llvm.elements.accumulators import Reducer
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.forms.row_code import Elements, RowCode, Step
from xla_core.codegen.llvm.forms.row_plan import TeamsPlan, across_teams
from xla_core.codegen.llvm.forms.sections import Section
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.sizes import ceil_div


class ColumnCode:
    """Emits the work of a block on a part.

    Args:
        body, plan, context: the kernel under construction.
        parts: its parts.
        team: the thread's team, which works on a row.
        rows: the code of rows.
    """

    def __init__(
        self, body: KernelBody, plan: TeamsPlan, context: EmissionContext, parts: RowParts, team: Team, rows: RowCode
    ) -> None:
        self._body, self._plan, self._context, self._parts = body, plan, context, parts
        self._team, self._rows, self._b = team, rows, context.builder
        self._columns = {c: Reducer(rows.emitter, c) for c in plan.kernel.column_reductions}

    def emit(self, unit: Value) -> None:
        """Emits the rows of a part, and the reductions of its columns."""
        b, part = self._b, self._rows.indices.new("part", self._parts.count, unit)
        turns = ceil_div(self._parts.length, self._plan.layout.teams)
        starts = [value for _, reducer, step in self._groups() for _ in step.places for value in reducer.start()]
        found = self._context.loop(
            b.int_(0), b.int_(turns), lambda turn, carried: self._turn(part, turn, carried), starts, name="turns"
        )
        results = self._combined(found)
        for section in self._plan.kernel.columns:
            for step in self._rows.kept:
                elements = self._results(section, step, part, results)
                stores = b.and_(step.holds, b.icmp("eq", self._team.number, b.int_(0)))
                self._context.when(stores, functools.partial(self._rows.write, section, elements))

    def _groups(self) -> Iterator[tuple[HloInstruction, Reducer, Step]]:
        """The columns of a thread: those of each step, for each reduction."""
        for column, reducer in self._columns.items():
            for step in self._rows.kept:
                yield column, reducer, step

    def _turn(self, part: IndexExpr, turn: Value, carried: Sequence[Value]) -> list[Value]:
        """Emits a row for each team. Returns the registers of the columns; the first row's are its elements."""
        b, old = self._b, iter(carried)
        is_row, is_first = self._bind(part, turn), b.icmp("eq", turn, b.int_(0))
        self._rows.reduce()
        following: list[Value] = []
        for column, reducer, step in self._groups():
            for place in step.places:
                terms = [self._rows.emitter.value(*term) for term in self._parts.terms(column, place)]
                element = reducer.enter(terms)
                before = [next(old) for _ in element]
                for x, y, z in zip(element, reducer.combine(before, element), before, strict=True):
                    following.append(b.select(is_row, b.select(is_first, x, y), z))
        self._rows.store(is_row)
        if self._plan.shared_bytes:
            self._context.abi.barrier(b)  # the next turn uses the memory again
        return following

    def _bind(self, part: IndexExpr, turn: Value) -> Value:
        """Binds the variables of the team's row. Returns whether it has one; if not, it works on the last row again."""
        b, indices, length, teams = self._b, self._rows.indices, self._parts.length, self._plan.layout.teams
        number, is_row = b.add(b.mul(turn, b.int_(teams)), self._team.number), b.bool_(True)
        if length % teams:
            is_row = b.icmp("ult", number, b.int_(length))
            number = b.intrinsic("umin", number, b.int_(length - 1))
        row = part * length + indices.new("row", length, number)
        indices.bind(self._parts.rows.outer_variable, indices.value(row))
        return is_row

    def _combined(self, registers: Sequence[Value]) -> dict[tuple[HloInstruction, Step], list[list[ElementValue]]]:
        """Combines the registers of all teams. Returns the results in the columns of each step, lane by lane."""
        across = Team(self._context, across_teams(self._plan.layout), self._plan.column_bytes)
        found, rest = {}, iter(registers)
        for column, reducer, step in self._groups():
            start = reducer.start()
            mine = [next(rest) for _ in step.places for _ in start]
            mine = across.combine(mine, _by_element(reducer, len(start)), commutes=reducer.commutes)
            lanes = [mine[n : n + len(start)] for n in range(0, len(mine), len(start))]
            found[column, step] = [reducer.finish(reducer.combine(start, lane)) for lane in lanes]
        return found

    def _results(
        self,
        section: Section,
        step: Step,
        part: IndexExpr,
        results: dict[tuple[HloInstruction, Step], list[list[ElementValue]]],
    ) -> list[Elements]:
        """The results of a section in the columns of a step, and where they are stored."""
        lanes: list[Elements] = []
        for lane, column in enumerate(step.places):
            index = section.index(part * self._parts.rows.elements + column)
            place = section.place(index, self._rows.emitter.accesses)
            found = ((leaves, results[root, step][lane]) for root, leaves in section.roots)
            pairs = (pair for leaves, values in found for pair in zip(leaves, values, strict=True))
            lanes.append([(self._body.results[leaf], place, value) for leaf, value in pairs])
        return lanes


def _by_element(reducer: Reducer, size: int) -> Combine:
    """Returns what combines the registers of several elements, `size` for each."""

    def combine(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        firsts = range(0, len(left), size)
        return [v for n in firsts for v in reducer.combine(left[n : n + size], right[n : n + size])]

    return combine
