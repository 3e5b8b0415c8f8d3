"""select-and-scatter on a grid of threads: each thread computes elements of the result.

A thread combines the sources of the windows that select its element, in the order of the windows, so that the result is
deterministic. Where an element is in several windows, an earlier phase records the element that each window selects, so
that each selection is made once.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import Condition, Index, IndexExpr, Variable, floor_div, linearized, memory_index
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, call_computation
from xla_core.codegen.llvm.elements.registers import parts, unflatten
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.select_and_scatter import selected_element
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import register_type
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.codegen.llvm.loops.ir_array import IrArray
from xla_core.codegen.llvm.target_abi import KernelFrame
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.sizes import ceil_div
from xla_core.wording import counted

_NOTHING = -1  # the position that a window without elements records


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _GatherPlan(KernelPlan):
    """Attributes: whether this phase records the selected elements, and how many windows an element may be in."""

    records: bool = False
    windows: Sequence[int] = ()

    def describe_loops(self) -> str:
        if self.records:
            return "; selects"
        return f"; combines {counted(math.prod(self.windows), 'window')}"


def _matches(body: KernelBody) -> bool:
    return (
        body.parallel.has_blocks
        and body.root.opcode == Opcode.SELECT_AND_SCATTER
        and all(w.base_dilation == w.window_dilation == 1 for w in body.root.attribute("window"))
    )


def _plan(body: KernelBody) -> _GatherPlan:
    windows = [ceil_div(w.size, w.stride) for w in body.root.attribute("window")]
    combines = _GatherPlan(body.root.shape.num_elements, windows=windows)
    if math.prod(windows) == 1:
        return combines
    positions = _positions(body)
    selects = _GatherPlan(positions.num_elements, records=True)
    return dataclasses.replace(selects, scratch_bytes=positions.byte_size, later=(combines,))


def _positions(body: KernelBody) -> Shape:
    """Returns the shape of the array of the positions that the windows select."""
    element_type = ElementType.S32 if body.root.shape.num_elements < 1 << 31 else ElementType.S64
    return Shape.array(element_type, body.root.operand(1).shape.dimensions)


def _emit(body: KernelBody, plan: _GatherPlan, frame: KernelFrame, context: EmissionContext) -> None:
    kernel = _ThreadWork(body, plan, context)
    context.each(frame.begin, frame.end, kernel.record if plan.records else kernel.combine, step=frame.step)


class _ThreadWork:
    """Emits the work of a thread."""

    def __init__(self, body: KernelBody, plan: _GatherPlan, context: EmissionContext) -> None:
        self._body, self._plan, self._context, self._b = body, plan, context, context.builder
        self._indices = IndexValues(context)
        self._emitter = ElementEmitter(context, body.bindings, self._indices, plan.loops)
        self._recorded = None if body.scratch is None else IrArray(body.scratch, _positions(body))

    def record(self, window: Value) -> None:
        """Stores the position of the element that a window selects."""
        assert self._recorded is not None
        shape = self._recorded.shape
        place = memory_index(shape, self._indices.new("window", shape.num_elements, window))
        position = self._b.resize(self._selected(place), register_type(shape.element_type), signed=True)
        self._recorded.store(self._b, window, position)

    def combine(self, element: Value) -> None:
        """Stores an element of the result."""
        root, (result,) = self._body.root, self._body.results
        type_ = root.attribute("scatter").parameters[0].shape.element_type
        convert, init = self._emitter.elemental.convert, root.operand(2)
        index = memory_index(result.shape, self._indices.new("element", result.shape.num_elements, element))
        position = self._indices.value(linearized(index, root.shape.dimensions))
        first = convert(self._emitter.scalar(init), init.shape.element_type, type_)
        variables = [self._indices.unbound(f"window{d}", n) for d, n in enumerate(self._plan.windows)]
        place, conditions = self._windows(index, variables)

        def considered(carried: list[Value]) -> list[Value]:
            """Combines the element of the source with the registers, if its window selects this thread's element."""
            return self._context.choose(
                self._indices.holds(conditions),
                lambda: self._context.choose(
                    self._b.icmp("eq", self._selected(place), position), lambda: combined(carried), lambda: carried
                ),
                lambda: carried,
            )

        def combined(carried: list[Value]) -> list[Value]:
            source = root.operand(1)
            value = convert(self._emitter.value(source, place), source.shape.element_type, type_)
            arguments = [*unflatten(carried, [type_]), value]
            (new,) = call_computation(self._context, root.attribute("scatter"), arguments)
            rounded = convert(new, type_, root.shape.element_type)
            return parts(convert(rounded, root.shape.element_type, type_))

        def over(bound: int, carried: list[Value]) -> list[Value]:
            """Considers the windows in their order."""
            if bound == len(variables):
                return considered(carried)

            def step(value: Value, values: list[Value]) -> list[Value]:
                self._indices.bind(variables[bound], value)
                return over(bound + 1, values)

            zero, count = self._b.int_(0), self._b.int_(variables[bound].extent)
            return self._context.loop(zero, count, step, carried, name="windows")

        total = over(0, parts(first))
        (value,) = unflatten(total, [type_])
        result.store(self._b, element, convert(value, type_, root.shape.element_type))

    def _windows(self, index: Index, variables: Sequence[Variable]) -> tuple[Index, list[Condition]]:
        """Returns the index of a window that an element may be in, and the conditions under which it is.

        The variables count the windows that may be.
        """
        root = self._body.root
        place, conditions = [], []
        sizes = root.operand(1).shape.dimensions
        for expr, variable, w, extent in zip(index, variables, root.attribute("window"), sizes, strict=True):
            padded = expr + w.padding_low
            window = floor_div(padded, w.stride) - (variable.extent - 1) + IndexExpr.of(variable)
            place.append(window)
            conditions += [Condition.of(window, 0, extent - 1), Condition.of(padded - window * w.stride, 0, w.size - 1)]
        return tuple(place), [c for c in conditions if not c.is_true]

    def _selected(self, place: Index) -> Value:
        """The row-major position of the element that a window selects, i64."""
        recorded = self._recorded
        if recorded is not None and not self._plan.records:
            found = recorded.load(self._b, self._indices.value(linearized(place, recorded.shape.dimensions)))
            assert isinstance(found, Value)
            return self._b.resize(found, "i64", signed=True)
        position, any_ = selected_element(self._emitter, self._body.root, place)
        return self._b.select(any_, position, self._b.int_(_NOTHING))


SELECT_AND_SCATTER_BLOCKS = KernelForm("select-and-scatter by blocks", _matches, _plan, _emit)
