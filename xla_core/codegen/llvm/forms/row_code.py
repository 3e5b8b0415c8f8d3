"""Code of kernels whose teams of threads work on rows."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from xla_core.analysis.indexing import Index, IndexExpr, memory_position, operand_accesses, placed
from xla_core.codegen.llvm.blocks.atomics import combine_atomically
from xla_core.codegen.llvm.blocks.team import Team
from xla_core.codegen.llvm.elements.accumulators import Reducer
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.forms.row_plan import TeamsPlan
from xla_core.codegen.llvm.forms.sections import Section
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import ElementValue, IrArray
from xla_core.codegen.llvm.loops.vectors import Vectors
from xla_core.hlo.ir.instruction import HloInstruction

Elements = Sequence[tuple[IrArray, Index, ElementValue]]
"""(array, index, element) of each result."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A thread's part in one step of the team over a row: its `width` elements, and whether they are in the row."""

    places: tuple[IndexExpr, ...]
    holds: Value


class RowCode:
    """Emits the work of the block's teams on rows: one for each team at a time.

    Attributes:
        indices, emitter: of the kernel.
        kept: the steps over a row whose elements stay in registers.
    """

    def __init__(self, body: KernelBody, plan: TeamsPlan, context: EmissionContext, team: Team) -> None:
        self._body, self._plan, self._context, self._team = body, plan, context, team
        self._b = b = context.builder
        self.indices = IndexValues(context)
        self._vectors = Vectors(context, self.indices, plan.width)
        self.emitter = ElementEmitter(context, body.bindings, self.indices, plan.loops, loader=self._vectors.load)
        self._count = plan.kernel.rows.elements // plan.width
        self.kept = [self._step_of(b.int_(n), f"place{n}") for n in range(plan.steps)] if plan.is_kept else []

    def _step_of(self, number: Value, name: str) -> Step:
        """Returns step `number`. A step beyond the row's end reads the last elements again, and doesn't hold."""
        b, plan, first = self._b, self._plan, number.integer
        group = b.add(b.mul(number, b.int_(plan.layout.size)), self._team.member)
        holds = b.bool_(True)
        if first is None or (first + 1) * plan.layout.size > self._count:
            holds = b.icmp("ult", group, b.int_(self._count))
            group = b.intrinsic("umin", group, b.int_(self._count - 1))
        expr = self.indices.new(name, self._count, group) * plan.width
        self._vectors.add(p.substitute({plan.kernel.rows.place_variable: expr}) for p in plan.kernel.neighbours)
        return Step(tuple(expr + n for n in range(plan.width)), holds)

    def reduce(self) -> None:
        """Emits the reductions of the team's row, whose variables are bound."""
        for reduction, index in self._plan.kernel.reductions:
            self.emitter.define(reduction, index, self._reduced(reduction, index))

    def store(self, is_row: Value) -> None:
        """Emits the results, which are stored if the team has a row."""
        for section in self._plan.kernel.sections:
            if section.shape.num_elements == self._plan.kernel.rows.count:
                is_first = self._b.and_(self._team.is_first, is_row)
                self._context.when(is_first, functools.partial(self._store_once, section))
            else:
                self._store_rows(section, is_row)

    def _reduced(self, reduction: HloInstruction, index: Index) -> list[ElementValue]:
        """The elements of a reduction's results, in every thread of the team."""
        reducer = Reducer(self.emitter, reduction)
        accesses = operand_accesses(reduction, index)

        def combined(step: Step, carried: Sequence[Value] | None) -> list[Value]:
            """Combines the elements of a step with the carried values; the first step has none, and is always in the
            row.
            """
            found = list(carried) if carried is not None else None
            for place in step.places:
                operands = zip(reducer.operands, placed(accesses, place), strict=False)
                element = reducer.enter([self.emitter.value(o, a.index) for o, a in operands])
                found = element if found is None else reducer.combine(found, element)
            assert found is not None
            before = carried or found
            return [self._b.select(step.holds, new, old) for new, old in zip(found, before, strict=True)]

        total = self._over_row(combined)
        total = self._team.combine(total, reducer.combine, commutes=reducer.commutes)
        return reducer.finish(reducer.combine(reducer.start(), total))

    def _over_row(self, combined: Callable[[Step, Sequence[Value] | None], list[Value]]) -> Sequence[Value]:
        """Calls `combined` for each of a thread's steps over the row."""
        if self.kept:
            total = combined(self.kept[0], None)
            for step in self.kept[1:]:
                total = combined(step, total)
            return total
        b = self._b
        first = combined(self._step_of(b.int_(0), "first"), None)
        return self._context.loop(
            b.int_(1),
            b.int_(self._plan.steps),
            lambda number, carried: combined(self._step_of(number, "place"), carried),
            first,
            name="reduce",
        )

    def _store_rows(self, section: Section, is_row: Value) -> None:
        b = self._b
        if self.kept:
            found = [(step, self._elements(section, step.places)) for step in self.kept]
            for step, elements in found:  # after all loads: a result may be in an operand's buffer
                self._context.when(b.and_(step.holds, is_row), functools.partial(self.write, section, elements))
            return

        def one(number: Value) -> None:
            step = self._step_of(number, "place")
            elements = self._elements(section, step.places)
            self._context.when(b.and_(step.holds, is_row), lambda: self.write(section, elements))

        self._context.each(b.int_(0), b.int_(self._plan.steps), one, name="store")

    def _store_once(self, section: Section) -> None:
        self.write(section, self._elements(section, [IndexExpr.of(0)]))

    def write(self, section: Section, lanes: Sequence[Elements]) -> None:
        """Stores neighbouring elements of a section's results, or combines them with the results by atomics."""
        if not section.accumulates:
            self._vectors.store(lanes)
            return
        assert section.update is not None
        for array, index, value in (element for lane in lanes for element in lane):
            place = self.indices.value(memory_position(array.shape, index))
            combine_atomically(self._context, array, place, value, section.update.attribute("to_apply"))

    def _elements(self, section: Section, places: Sequence[IndexExpr]) -> list[Elements]:
        """The results of a section at places of the row, and where they are stored."""
        found = [self._plan.kernel.rows.position(section.shape, place) for place in places]
        return [list(section.elements(self._body, self.emitter, position)) for position in found]
