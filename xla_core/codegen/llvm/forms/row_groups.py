"""Kernels that reduce the rows of an array: sums, extrema, matrix-vector products.

One loop reduces a group of rows at a time. Each row has an accumulator of its own, so that the processor does not wait
for one addition before it begins the next. It also reads several places in memory at once, and an operand that all rows
share, such as the vector of a matrix-vector product, is loaded once a group. The order in which the elements of a row
are combined is the same as without groups.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.analysis.indexing import IndexExpr, joined, reduced_rows
from xla_core.codegen.llvm.elements.accumulators import reduce_together
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, planned, sections
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.traversal import reachable
from xla_core.wording import counted

_ROWS = 4  # in a group; with 8, rows that are in the cache take longer
_MOST_REDUCTIONS = 4  # in a kernel; with three or four, half as many rows fill the registers
_LEAST_COLUMNS = 64  # with shorter rows, the loop is a small part of the work
_MOST_MEMBERS = 16  # with more instructions, the code of a group is long and additions are not what takes the time


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _RowGroupsPlan(KernelPlan):
    """Attributes: the results, the reductions of their rows, the elements of a row, and the rows of a group."""

    section: Section
    reductions: Sequence[HloInstruction]
    columns: int
    rows: int

    def describe_loops(self) -> str:
        return f"; {counted(self.count, 'row')} of {self.columns} elements in groups of {self.rows}"


def _reductions(body: KernelBody) -> list[HloInstruction]:
    """Returns the reductions of a kernel that computes little else, or none if one of them needs another."""
    found = [i for i in body.members if i.opcode == Opcode.REDUCE]
    costly = body.size > _MOST_MEMBERS or any(Trait.TRANSCENDENTAL in i.op.traits for i in body.members)
    if costly or not 1 <= len(found) <= _MOST_REDUCTIONS:
        return []
    needed = reachable([o for i in found for o in i.operands], lambda i: () if i in body.bound else i.operands)
    return [] if any(i in found for i in needed) else found


def _plan(body: KernelBody) -> _RowGroupsPlan | None:
    reductions = _reductions(body)
    lengths = {rows.elements if (rows := reduced_rows(i)) is not None else 0 for i in reductions}
    if len(lengths) != 1 or min(lengths) < _LEAST_COLUMNS:
        return None
    (columns,) = lengths
    section, *others = sections(body, parts=False)
    if others or section.update is not None or section.shape.num_elements < 2 * _ROWS:
        return None
    outline = planned(section, 0)
    plan = LoopPlan([outline], body.bound)
    row = plan.variables(outline)
    # Each element of the results needs the elements of the reductions at its own index.
    if len(row) != 1 or any(plan.indices(i) != [section.index(joined(row))] for i in reductions):
        return None
    inner = [plan.loops(i, columns) for i in reductions]
    if any(len(loops) != 1 or not plan.reads_in_order(loops[0]) for loops in inner):
        return None
    group = _ROWS if len(reductions) <= 2 else _ROWS // 2
    return _RowGroupsPlan(
        section.shape.num_elements,
        grain=group,
        loops=plan.loops,
        section=section,
        reductions=reductions,
        columns=columns,
        rows=group,
    )


def _matches(body: KernelBody) -> bool:
    return not body.parallel.has_blocks and bool(_reductions(body))


def _emit(body: KernelBody, plan: _RowGroupsPlan, frame: KernelFrame, context: EmissionContext) -> None:
    b, indices = frame.builder, IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
    section = plan.section
    loops = [(frame.begin, frame.end, plan.rows)]
    if frame.step.integer != 1:  # the rows of this call aren't neighbours, so there are no groups
        loops = [(frame.begin, frame.end, 1)]
    elif plan.count % plan.rows:
        rest = b.sub(frame.end, b.urem(frame.end, b.int_(plan.rows)))
        loops = [(frame.begin, rest, plan.rows), (rest, frame.end, 1)]
    for begin, end, rows in loops:
        loop, _ = context.open_loop(begin, end, b.int_(rows) if rows > 1 else frame.step, name="rows")
        first = indices.new("row", plan.count, loop.index)
        positions: list[IndexExpr] = [first + number for number in range(rows)]
        reduce_together(emitter, plan.reductions, [section.index(p) for p in positions])
        # All values are computed before the first store, because results may be in the operands' buffers.
        for array, index, value in [e for p in positions for e in section.elements(body, emitter, p)]:
            emitter.store(array, index, value)
        context.close_loop(loop)


ROW_GROUPS = KernelForm("row groups", _matches, _plan, _emit)
