"""Kernels of a grid of threads, each of which computes a few neighbouring elements of several rows of the results.

The threads are no more than the device runs at once; `ThreadSplit` says which elements each computes. Neighbouring
elements are loaded and stored as vectors. Results of different dimensions are computed one after another.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.analysis.indexing import IndexExpr, delinearized
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, planned, sections
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.vectors import Vectors
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan
from xla_core.codegen.thread_split import ThreadSplit, split_threads
from xla_core.hlo.table.op_table import Trait

_MOST_CODE = 512  # HLO instructions in all copies of the body


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _ThreadElementsPlan(KernelPlan):
    """Attributes: the sections that have elements, each with its split."""

    sections: Sequence[tuple[Section, ThreadSplit]]

    def describe_loops(self) -> str:
        return "".join(f"; {split}" for _, split in self.sections)


def _most_lanes(body: KernelBody, section: Section) -> int:
    """How many neighbouring elements a thread may compute: those of the widest access, if the body is small."""
    if any(Trait.ACCUMULATES in i.op.traits or Trait.SUPERLINEAR in i.op.traits for i in body.members):
        return 1
    roots = [root for root, _ in section.roots]
    whole = [i for i in body.bound if i.shape.is_array and i.shape.num_elements >= section.shape.num_elements]
    widest = max(leaf.element_type.byte_width for i in [*roots, *whole] for leaf in i.shape.leaves())
    lanes = max(1, body.parallel.vector_bytes // widest)
    while lanes > 1 and lanes * body.size > _MOST_CODE:
        lanes //= 2
    return lanes


def _plan(body: KernelBody) -> _ThreadElementsPlan:
    found, model = [s for s in sections(body, parts=True) if s.shape.num_elements], body.parallel
    outlines = [planned(section, number) for number, section in enumerate(found)]
    split = LoopPlan(outlines, body.bound)
    plan = LoopPlan(outlines, body.bound, splits_sections=False) if split.has_splits else split
    planned_sections = []
    for section, outline in zip(found, outlines, strict=True):
        extents = [variable.extent for variable in split.variables(outline)]
        most = _most_lanes(body, section)
        planned_sections.append((section, split_threads(outline, extents, body.bound, plan.loops, model, most)))
    count = max((threads.units for _, threads in planned_sections), default=0)
    return _ThreadElementsPlan(count, grain=model.grain_elements, loops=plan.loops, sections=planned_sections)


def _emit(body: KernelBody, plan: _ThreadElementsPlan, frame: KernelFrame, context: EmissionContext) -> None:
    for section, split in plan.sections:
        _Section(body, plan, context, section, split).emit(frame)


class _Section:
    """Emits the loops of a section."""

    def __init__(
        self,
        body: KernelBody,
        plan: _ThreadElementsPlan,
        context: EmissionContext,
        section: Section,
        split: ThreadSplit,
    ) -> None:
        self._body, self._context, self._section, self._split = body, context, section, split
        self._is_all = split.units == plan.count
        self._indices = indices = IndexValues(context)
        self._vectors = Vectors(context, indices, split.width, split.vectors)
        self._emitter = ElementEmitter(context, body.bindings, indices, plan.loops, loader=self._vectors.load)

    def emit(self, frame: KernelFrame) -> None:
        """Emits the loop over units, each of which is the work of a thread."""
        b, units = self._context.builder, self._split.units
        end = frame.end if self._is_all else b.intrinsic("umin", frame.end, b.int_(units))
        begin, end, step = (self._indices.counter(value, units) for value in (frame.begin, end, frame.step))
        self._context.each(begin, end, self._thread, step=step, name="unit")

    def _thread(self, unit: Value) -> None:
        split, indices = self._split, self._indices
        number = indices.new("unit", split.units, unit)
        row, column = delinearized(number, [split.rows_at_once, split.column.extent])
        indices.bind(split.column, indices.value(column))
        first, rows = indices.value(row), split.row.extent
        if split.steps == 1:
            self._row(first)
            return
        bounds = [first, *(self._context.builder.int_(n) for n in (rows, split.rows_at_once))]
        begin, end, step = (indices.counter(value, rows) for value in bounds)
        self._context.each(begin, end, self._row, step=step, name="row")

    def _row(self, row: Value) -> None:
        """Emits the elements of a thread in a row."""
        split = self._split
        self._indices.bind(split.row, row)
        positions = [split.position(IndexExpr.of(lane)) for lane in range(split.width)]
        self._vectors.store([list(self._section.elements(self._body, self._emitter, p)) for p in positions])


THREAD_ELEMENTS = KernelForm("thread elements", lambda body: body.parallel.has_blocks, _plan, _emit)
