"""Kernels that store one element of each result in each iteration of their loops.

The loops of a section run over the results in memory order: one loop if all places in memory are affine functions of
the position, else the loops that `LoopPlan` splits it into. The outermost ones are divided over threads. Results of
different dimensions have loops of their own, one after another.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import IndexExpr, Variable
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, planned, sections
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.partitioned_loops import PartitionedLoops
from xla_core.codegen.llvm.loops.transposition import Tile, load_element
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan
from xla_core.codegen.partition import Partition

_MOST_SEGMENTS = 16  # of the loops of a kernel
_SEGMENTS_SIZE = 256  # HLO instructions in the bodies of all segments, at most
_REPEATED = 4  # the elements of a kernel for each step of a reduction that its units compute again, at least


@dataclasses.dataclass(frozen=True, slots=True)
class _Nest:
    """The loops of one section."""

    section: Section
    variables: Sequence[Variable]
    partition: Partition
    cuts: Sequence[Sequence[int]]

    def __str__(self) -> str:
        texts = []
        for position, variable in enumerate(self.variables):
            cuts = f" (cut at {', '.join(map(str, self.cuts[position]))})" if self.cuts[position] else ""
            across = self.partition.across
            tiled = " (tiled)" if across >= 0 and position in (across, len(self.variables) - 1) else ""
            texts.append(f"{variable.extent}{cuts}{tiled}")
        chunks = f", rows in {self.partition.chunks} chunks" if self.partition.chunks > 1 else ""
        return f"loops {' x '.join(texts)}{chunks}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _LoopKernelPlan(KernelPlan):
    """Attributes: the loops of each section."""

    nests: Sequence[_Nest]

    def describe_loops(self) -> str:
        return "".join(f"; {nest}" for nest in self.nests)


def _plan(body: KernelBody) -> _LoopKernelPlan:
    found = sections(body, parts=True)
    outlines = [planned(section, number) for number, section in enumerate(found)]
    plan = LoopPlan(outlines, body.bound)
    # With segments, values that are computed once a row would be computed once a segment.
    copies = 1 if body.inner_reductions else min(_MOST_SEGMENTS, _SEGMENTS_SIZE // body.size)
    nests = []
    for section, outline in zip(found, outlines, strict=True):
        variables = plan.variables(outline)
        across = plan.across(outline) if len(variables) > 1 else -1
        partition = _partition(body, plan, variables, across)
        first = 0 if partition.is_position else partition.prefix
        positions = range(first, len(variables)) if partition.across < 0 else ()
        nests.append(_Nest(section, variables, partition, plan.cuts(outline, positions, copies)))
    largest = max((nest.partition for nest in nests), key=lambda p: p.count)
    return _LoopKernelPlan(largest.count, grain=largest.grain, loops=plan.loops, nests=nests)


def _partition(body: KernelBody, plan: LoopPlan, variables: Sequence[Variable], across: int) -> Partition:
    """Divides the loops among units, unless the reductions that each unit would repeat cost more than the divided work.

    A reduction in the outer loops only is computed once in each of their iterations, and by each unit.
    """
    extents = [v.extent for v in variables]
    if len(extents) == 1:
        return Partition.into_elements(extents[0], body.parallel)
    freely = Partition.into_tiles(extents, across) if across >= 0 else Partition.into_rows(extents, body.parallel)
    most = math.prod(extents) / _REPEATED
    levels = []
    for member, index in ((i, at) for i in body.inner_reductions for at in plan.indices(i)):
        used = {variable for expr in index for variable in expr.variables}
        level = max((p + 1 for p, v in enumerate(variables) if v in used), default=0)
        result, source = (next(i.shape.leaves()).num_elements for i in (member, member.operand(0)))
        again = (freely.count - math.prod(extents[:level])) * (source // max(result, 1))
        if 0 < level < len(variables) and again > most:
            levels.append(level)
    return Partition.into_rows(extents, body.parallel, min(levels)) if levels else freely


def _emit(body: KernelBody, plan: _LoopKernelPlan, frame: KernelFrame, context: EmissionContext) -> None:
    indices = IndexValues(context)
    plain = ElementEmitter(context, body.bindings, indices, plan.loops)
    for nest in plan.nests:

        def element(position: IndexExpr, tile: Tile | None, section: Section = nest.section) -> None:
            emitter = plain
            if tile is not None:
                loader = functools.partial(load_element, context, indices, tile)
                emitter = ElementEmitter(context, body.bindings, indices, plan.loops, loader=loader)
            # All values are computed before the first store, because results may be in the operands' buffers.
            for array, index, value in list(section.elements(body, emitter, position)):
                emitter.store(array, index, value)

        if nest.partition.count:
            begin, end = _share(context, frame, nest.partition, plan)
            loops = PartitionedLoops(context, indices, nest.partition, nest.variables, nest.cuts)
            loops.emit(begin, end, frame.step, element)


def _share(
    context: EmissionContext, frame: KernelFrame, partition: Partition, plan: _LoopKernelPlan
) -> tuple[Value, Value]:
    """Returns the units [begin, end) of a section, in proportion to those of the kernel that this call works on."""
    b = context.builder
    if partition.count != plan.count:
        count, total = b.int_(partition.count), b.int_(plan.count)
        begin, end = (b.udiv(b.mul(bound, count, "nuw"), total) for bound in (frame.begin, frame.end))
        return begin, end
    is_divided = frame.step.integer == 1 and frame.begin.integer is None
    if is_divided and len(partition.extents) == 1 and plan.count % plan.grain == 0:
        # They are multiples of the grain. LLVM sees that in the masks, and writes no loop for the rest of a vector.
        mask = b.int_(-(plan.grain & -plan.grain))
        return b.and_(frame.begin, mask), b.and_(frame.end, mask)
    return frame.begin, frame.end


LOOP = KernelForm("loop", lambda body: True, _plan, _emit)
