"""scatter: combines the windows of the updates with the operand's buffer, one after another.

A window that isn't wholly inside the operand is dropped. Units of work are pieces of the window, so that no two threads
write the same element, and updates of one element are applied in order. Windows that may overlap in part are one unit.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import FusionAccesses, IndexExpr, Variable, delinearized, joined, memory_position
from xla_core.analysis.scatter_windows import ScatterWindows
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.scatter_code import ScatterCode, copied_operands
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.partitioned_loops import PartitionedLoops
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan, Section
from xla_core.codegen.partition import Partition
from xla_core.hlo.table.opcode import Opcode

_BATCH = "scatter updates"
_CHUNK = 256  # elements of a window that a unit updates


def _visit(windows: ScatterWindows, accesses: FusionAccesses, position: IndexExpr) -> None:
    """Adds the accesses of the windows' elements at a position."""
    batch = delinearized(joined(accesses.loops(_BATCH, windows.count)), windows.batch)
    window = delinearized(position, windows.window)
    for number in range(len(windows.starts)):
        accesses.visit(windows.indices, windows.start_place(number, batch))
    for update in windows.updates:
        accesses.visit(update, windows.source(batch, window))
    accesses.values[memory_position(windows.operands[0].shape, windows.target(batch, window))] = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _ScatterPlan(KernelPlan):
    """Attributes: the loops over the window, and how they are divided; None where there are no updates."""

    windows: ScatterWindows
    variables: Sequence[Variable] = ()
    partition: Partition | None = None


def _matches(body: KernelBody) -> bool:
    return body.root.opcode == Opcode.SCATTER and body.root.operand(0).shape.num_elements > 0


def _plan(body: KernelBody) -> _ScatterPlan:
    # Only a scatter in place is divided into units: the operands must be copied before the first update.
    windows, in_place = ScatterWindows(body.root, body.parallel), not copied_operands(body)
    if windows.is_empty:
        return _ScatterPlan(0 if in_place else 1, windows=windows)
    divides = in_place and not windows.moved
    section = Section("scatter window", (math.prod(windows.window),), functools.partial(_visit, windows))
    plan = LoopPlan([section], body.bound)
    variables = plan.variables(section)
    extents = [v.extent for v in variables]
    partition = Partition.into_chunks(extents, body.parallel, _CHUNK) if divides else Partition.whole(extents)
    return _ScatterPlan(partition.count, loops=plan.loops, windows=windows, variables=variables, partition=partition)


def _emit(body: KernelBody, plan: _ScatterPlan, frame: KernelFrame, context: EmissionContext) -> None:
    b, indices = context.builder, IndexValues(context)
    code = ScatterCode(body, plan.windows, ElementEmitter(context, body.bindings, indices, plan.loops))
    loop, _ = context.open_loop(frame.begin, frame.end, frame.step, name="unit")
    if copied_operands(body):
        context.each(b.int_(0), b.int_(math.prod(plan.windows.dims)), code.copy, name="copy")
    if plan.partition is not None:
        _, chunk = PartitionedLoops(context, indices, plan.partition, plan.variables, ()).unit(loop.index)
        first, limit = chunk or (b.int_(0), b.int_(plan.variables[-1].extent))
        base = b.int_(0)
        if chunk is not None and plan.variables[-1].extent % plan.partition.chunk == 0:
            # LLVM then knows how long the loop is.
            base, first, limit = first, base, b.int_(plan.partition.chunk)
        inner = plan.variables[plan.partition.prefix : -1]
        loops = plan.loops(_BATCH, plan.windows.count)
        batch = delinearized(joined(loops), plan.windows.batch)
        window = delinearized(joined(plan.variables), plan.windows.window)

        def last(index: Value) -> None:
            indices.bind(plan.variables[-1], b.add(base, index, "nuw nsw"))
            code.update(batch, window)

        def each() -> None:
            inside = code.load_starts(batch)
            visit = lambda: context.each(first, limit, last, name="window")  # noqa: E731
            context.when(inside, lambda: indices.each_point(inner, visit, name="window"))

        indices.each_point(loops, each, name="update")
    context.close_loop(loop)


SCATTER = KernelForm("scatter", _matches, _plan, _emit, (Opcode.SCATTER,))
