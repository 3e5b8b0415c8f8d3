"""Kernels of a grid of threads, each of which computes a few neighbouring elements of the results.

A thread computes as many elements as make one wide store, of results of one shape. Their indices differ by a constant,
so that what depends on a row only is computed once, and LLVM joins their loads and stores to wide ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.sections import Section, planned, sections
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.codegen.loop_plan import LoopPlan
from xla_core.hlo.op_table import Trait

_WIDE_STORE = 16  # bytes
_UNROLLED_SIZE = 64  # HLO instructions in all copies of the body, at most


def _per_thread(body: KernelBody, section: Section) -> int:
    """How many elements a thread computes: as many as make a wide store, if the body is small."""
    count = section.shape.num_elements
    accumulates = any(Trait.ACCUMULATES in i.op.traits or Trait.SUPERLINEAR in i.op.traits for i in body.members)
    if accumulates or count < body.abi.parallel.units * body.abi.parallel.threads * 2:
        return 1
    widest = max(leaf.element_type.byte_width for root, _ in section.roots for leaf in root.shape.leaves())
    wanted = max(1, _WIDE_STORE // widest)
    while wanted > 1 and (count % wanted or wanted * body.size > _UNROLLED_SIZE):
        wanted //= 2
    return wanted


def _matches(body: KernelBody) -> bool:
    return body.abi.parallel.has_blocks


def _units(body: KernelBody, section: Section) -> int:
    return section.shape.num_elements // _per_thread(body, section)


@dataclasses.dataclass(frozen=True, slots=True)
class _ElementsPlan(KernelPlan):
    """Attributes: the sections."""

    sections: Sequence[Section] = ()

    def describe_loops(self) -> str:
        return "".join(f"; {section.shape.num_elements} elements" for section in self.sections)


def _plan(body: KernelBody) -> _ElementsPlan:
    found = sections(body, parts=False)
    plan = LoopPlan([planned(s, n) for n, s in enumerate(found)], body.bound, splits_sections=False)
    count = max(_units(body, section) for section in found)
    return _ElementsPlan(count, grain=body.abi.parallel.grain_elements, loops=plan.loops, sections=found)


def _emit(body: KernelBody, plan: _ElementsPlan, frame: KernelFrame, context: EmissionContext) -> None:
    for section in plan.sections:
        if _units(body, section):
            _emit_section(body, plan, frame, context, section)


def _emit_section(
    body: KernelBody, plan: _ElementsPlan, frame: KernelFrame, context: EmissionContext, section: Section
) -> None:
    b, units, each = context.builder, _units(body, section), _per_thread(body, section)
    indices = IndexValues(context)
    emitter = ElementEmitter(context, body.bindings, indices, plan.loops)

    def thread(unit: Value) -> None:
        first = indices.new("unit", units, unit) * each
        stores = [s for k in range(each) for s in section.elements(body, emitter, first + k)]
        for array, index, value in stores:  # after all loads: a result may be in an operand's buffer
            emitter.store(array, index, value)

    end = frame.end if units == plan.count else b.intrinsic("umin", frame.end, b.int_(units))
    context.each(frame.begin, end, thread, step=frame.step, name="unit")


ELEMENTS = KernelForm("elements", _matches, _plan, _emit)
