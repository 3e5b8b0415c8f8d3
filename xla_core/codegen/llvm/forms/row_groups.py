"""Kernels that reduce the rows of an array: sums, extrema, matrix-vector products.

One loop reduces a group of rows at a time. Each row has an accumulator of its own, so that the processor does not wait
for one addition before it begins the next. It also reads several places in memory at once, and an operand that all rows
share, such as the vector of a matrix-vector product, is loaded once a group. The order in which the elements of a row
are combined is the same as without groups.
"""

from __future__ import annotations

import dataclasses

from xla_core.analysis.indexing import IndexExpr, joined, reduced_rows
from xla_core.codegen.llvm.elements.accumulators import reduce_together
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, planned, sections
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait
from xla_core.hlo.opcode import Opcode

_ROWS = 4  # in a group; with 8, rows that are in the cache take longer
_LEAST_COLUMNS = 64  # with shorter rows, the loop is a small part of the work
_MOST_MEMBERS = 16  # with more instructions, the code of a group is long and additions are not what takes the time


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _RowGroupsPlan(KernelPlan):
    """Attributes: the result, the reduction of its rows, and the number of elements of a row."""

    section: Section
    reduction: HloInstruction
    columns: int

    def describe_loops(self) -> str:
        return f"; {self.count} rows of {self.columns} elements in groups of {_ROWS}"


def _reduction(body: KernelBody) -> HloInstruction | None:
    """Returns the only reduction of a kernel that computes little else."""
    found = [i for i in body.members if i.opcode == Opcode.REDUCE]
    costly = body.size > _MOST_MEMBERS or any(Trait.TRANSCENDENTAL in i.op.traits for i in body.members)
    return found[0] if len(found) == 1 and len(body.roots) == 1 and not costly else None


def _plan(body: KernelBody) -> _RowGroupsPlan | None:
    reduction = _reduction(body)
    rows = reduced_rows(reduction) if reduction is not None else None
    if reduction is None or rows is None or rows.elements < _LEAST_COLUMNS:
        return None
    section, *others = sections(body, parts=False)
    if others or section.update is not None or section.shape.num_elements < 2 * _ROWS:
        return None
    outline = planned(section, 0)
    plan = LoopPlan([outline], body.bound)
    row, inner = plan.variables(outline), plan.loops(reduction, rows.elements)
    # Each element of the result needs the element of the reduction at its own index.
    matches = len(row) == 1 and plan.indices(reduction) == [section.index(joined(row))]
    if not matches or len(inner) != 1 or not plan.reads_in_order(inner[0]):
        return None
    return _RowGroupsPlan(
        section.shape.num_elements, loops=plan.loops, section=section, reduction=reduction, columns=rows.elements
    )


def _matches(body: KernelBody) -> bool:
    return _reduction(body) is not None


def _emit(body: KernelBody, plan: _RowGroupsPlan, frame: KernelFrame, context: EmissionContext) -> None:
    b, indices = frame.builder, IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)
    section = plan.section
    rest = b.sub(frame.end, b.urem(b.sub(frame.end, frame.begin), b.int_(_ROWS)))
    for begin, end, rows in ((frame.begin, rest, _ROWS), (rest, frame.end, 1)):
        loop, _ = context.open_loop(begin, end, b.int_(rows), name="rows")
        first = indices.new("row", plan.count, loop.index)
        positions: list[IndexExpr] = [first + number for number in range(rows)]
        reduce_together(emitter, plan.reduction, [section.index(p) for p in positions])
        # All values are computed before the first store, because results may be in the operands' buffers.
        for array, index, value in [e for p in positions for e in section.elements(body, emitter, p)]:
            emitter.store(array, index, value)
        context.close_loop(loop)


ROW_GROUPS = KernelForm("row groups", _matches, _plan, _emit)
