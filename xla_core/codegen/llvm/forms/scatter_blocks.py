"""scatter on a grid of threads: each thread combines elements of the updates with elements of the result.

There are four ways. Which is right depends on whether several updates may go to one element:

==========  ======================================================================================================
unique      A thread for each element of the updates. No two go to one place.
atomic      The same, by atomics, for computations whose order of operands doesn't matter.
sorted      The same, where updates of one place are neighbours: the thread of the first of them combines them all,
            in order. A pass sorts updates (`scatter-sorter`), so that the result is the same in each run.
in order    A thread for each element of a window, which combines the elements of all updates, in order. This is for
            few updates, and for unsorted updates.
==========  ======================================================================================================

Operands that aren't in their results' buffers are copied before, in a phase of its own.
"""

from __future__ import annotations

import dataclasses
import math

from xla_core.analysis.indexing import IndexExpr, delinearized
from xla_core.analysis.scatter_windows import ScatterWindows
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter
from xla_core.codegen.llvm.elements.registers import parts, unflatten
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.scatter_code import ScatterCode, copied_operands
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.table.opcode import Opcode


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _ScatterPlan(KernelPlan):
    """Attributes: the windows, and what this phase does: copy, or one of the four ways."""

    windows: ScatterWindows
    way: str

    def describe_loops(self) -> str:
        return f"; {self.way}"


def _matches(body: KernelBody) -> bool:
    return (
        body.parallel.has_blocks
        and body.root.opcode == Opcode.SCATTER
        and body.root.operand(0).shape.num_elements > 0
        and not any(0 < s.layout.element_size_in_bits < 8 for s in body.root.shape.leaves() if s.layout)
    )


def _plan(body: KernelBody) -> _ScatterPlan:
    windows = ScatterWindows(body.root, body.parallel)
    window = math.prod(windows.window)
    free = math.prod(n for position, n in enumerate(windows.window) if position not in windows.moved)
    if windows.is_empty:
        phases = []
    elif windows.are_unique:
        phases = [_ScatterPlan(windows.count * window, windows=windows, way="unique")]
    elif windows.commutes(floats=body.abi.atomic_floats):
        phases = [_ScatterPlan(windows.count * window, windows=windows, way="atomic")]
    elif windows.are_sorted and not windows.are_few:
        phases = [_ScatterPlan(windows.count * window, windows=windows, way="sorted")]
    else:
        phases = [_ScatterPlan(free, windows=windows, way="in order")]
    if copied_operands(body) or not phases:
        count = math.prod(windows.dims) if copied_operands(body) else 0
        return _ScatterPlan(count, windows=windows, way="copy", later=phases)
    return phases[0]


def _emit(body: KernelBody, plan: _ScatterPlan, frame: KernelFrame, context: EmissionContext) -> None:
    emit = _Emission(body, plan, context)
    work = {
        "copy": emit.code.copy,
        "unique": emit.update,
        "atomic": emit.update,
        "sorted": emit.segment,
        "in order": emit.all_updates,
    }[plan.way]
    context.each(frame.begin, frame.end, work, step=frame.step, name="unit")


class _Emission:
    """Emits the work of a thread."""

    def __init__(self, body: KernelBody, plan: _ScatterPlan, context: EmissionContext) -> None:
        self._plan, self._windows, self._context, self._b = plan, plan.windows, context, context.builder
        self._indices = IndexValues(context)
        self.code = ScatterCode(body, plan.windows, ElementEmitter(context, body.bindings, self._indices, plan.loops))

    def update(self, unit: Value) -> None:
        """Combines one element of the updates."""
        number, place = self._element(unit)
        batch, window = self._batch(number), delinearized(place, self._windows.window)
        apply = self.code.update if self._plan.way == "unique" else self.code.update_atomically
        self._context.when(self.code.load_starts(batch), lambda: apply(batch, window))

    def segment(self, unit: Value) -> None:
        """Combines an element of the updates and those behind it that go to the same place, if it is their first."""
        b, count = self._b, self._windows.count
        number, place = self._element(unit)
        batch, window = self._batch(number), delinearized(place, self._windows.window)
        first = self._indices.value(number)
        starts = self.code.starts(batch)
        before = self._indices.new("before", count, b.intrinsic("smax", b.sub(first, b.int_(1)), b.int_(0)))
        leads = b.or_(
            b.icmp("eq", first, b.int_(0)), b.not_(self._equal(starts, self.code.starts(self._batch(before))))
        )
        parameters = self._windows.scatter.attribute("to_apply").parameters[: len(self._windows.operands)]
        types = [p.shape.element_type for p in parameters]

        def one(carried: list[Value]) -> tuple[Value, list[Value]]:
            at, *registers = carried
            here = self._batch(self._indices.new("update", count, at))
            elements = self.code.combined(unflatten(registers, types), here, window)
            following = b.add(at, b.int_(1))
            bounded = b.intrinsic("umin", following, b.int_(count - 1))
            next_batch = self._batch(self._indices.new("next", count, bounded))
            again = b.and_(b.icmp("ult", following, b.int_(count)), self._equal(starts, self.code.starts(next_batch)))
            return again, [following, *(r for e in elements for r in parts(e))]

        def combine() -> None:
            target = self._windows.target(batch, window)
            old = [r for element in self.code.old(target) for r in parts(element)]
            _, *registers = self._context.repeat(one, [first, *old], name="segment")
            self.code.put(target, unflatten(registers, types))

        inside = self.code.load_starts(batch)
        self._context.when(b.and_(inside, leads), combine)

    def all_updates(self, unit: Value) -> None:
        """Combines an element of each window, one window after the other."""
        windows, indices = self._windows, self._indices
        free = [n for n in range(len(windows.window)) if n not in windows.moved]
        extents = [windows.window[n] for n in free]
        places = dict(zip(free, delinearized(indices.new("unit", math.prod(extents), unit), extents), strict=True))
        moved = [indices.unbound(f"window{n}", windows.window[n]) for n in windows.moved]
        places |= {n: IndexExpr.of(v) for n, v in zip(windows.moved, moved, strict=True)}
        window = tuple(places[n] for n in range(len(windows.window)))

        def one(number: Value) -> None:
            batch = self._batch(indices.new("update", windows.count, number))
            inside = self.code.load_starts(batch)
            self._context.when(inside, lambda: indices.each_point(moved, lambda: self.code.update(batch, window)))

        self._context.each(self._b.int_(0), self._b.int_(windows.count), one, name="updates")

    def _element(self, unit: Value) -> tuple[IndexExpr, IndexExpr]:
        """The number of the window, and the position within it."""
        window = math.prod(self._windows.window)
        number, place = delinearized(self._indices.new("unit", self._plan.count, unit), (self._windows.count, window))
        return number, place

    def _batch(self, number: IndexExpr) -> tuple[IndexExpr, ...]:
        return delinearized(number, self._windows.batch)

    def _equal(self, left: list[Value], right: list[Value]) -> Value:
        b, equal = self._b, self._b.bool_(True)
        for x, y in zip(left, right, strict=True):
            equal = b.and_(equal, b.icmp("eq", x, y))
        return equal


SCATTER_BLOCKS = KernelForm("scatter by blocks", _matches, _plan, _emit)
