"""Kernels that reduce rows by teams of cooperating threads, and compute values that depend on the reductions.

Softmax and layer normalization are examples: their kernels reduce each row several times, and write a row. A team of
threads works on a row. If the elements of a row are neighbours in memory, the threads of a team are neighbours too. If
a row is a column of a matrix, neighbouring threads work on neighbouring columns. Each thread computes the same few
elements of the row at every stage, so that it keeps them in registers: every element is read and computed once. If a
row is too long for the registers, each stage is a loop of its own, which computes the elements anew.

A kernel may also reduce the columns of these rows, as the gradient of a layer normalization does. A block then takes
the rows of a part one after another, and each of its threads keeps the reductions of its columns in registers.
"""

from __future__ import annotations

from xla_core.codegen.llvm.blocks.team import Team
from xla_core.codegen.llvm.forms.column_code import ColumnCode
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm
from xla_core.codegen.llvm.forms.row_code import RowCode
from xla_core.codegen.llvm.forms.row_plan import TeamsPlan, plan_teams
from xla_core.codegen.llvm.forms.team_rows import bind_row
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.table.opcode import Opcode


def _matches(body: KernelBody) -> bool:
    return body.parallel.has_blocks and any(i.opcode == Opcode.REDUCE for i in body.members)


def _emit(body: KernelBody, plan: TeamsPlan, frame: KernelFrame, context: EmissionContext) -> None:
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="rows")
    team, kernel = Team(context, plan.layout, plan.shared_bytes), plan.kernel
    rows = RowCode(body, plan, context, team)
    if kernel.parts is not None:
        ColumnCode(body, plan, context, kernel.parts, team, rows).emit(loop.index)
    else:
        _, is_row = bind_row(context.builder, rows.indices, kernel.rows, team, plan.layout, loop.index)
        rows.reduce()
        rows.store(is_row)
    if plan.shared_bytes or plan.column_bytes:
        context.barrier_before_next()
    context.close_loop(loop)


ROW_TEAMS = KernelForm("row teams", _matches, plan_teams, _emit)
