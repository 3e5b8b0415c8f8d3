"""ScatterCode: the code of scatter kernels for one window, and for one element of a window."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.analysis.indexing import Index, delinearized, memory_position
from xla_core.analysis.scatter_windows import ScatterWindows
from xla_core.codegen.llvm.blocks.atomics import combine_atomically
from xla_core.codegen.llvm.elements.element_emitter import ElementEmitter, call_computation
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.hlo.ir.instruction import HloInstruction


def copied_operands(body: KernelBody) -> list[int]:
    """Returns the numbers of the operands that aren't in the buffers of their results."""
    count = len(body.root.operands) // 2
    return [
        number
        for number, operand in enumerate(body.root.operands[:count])
        if (number, body.operand_leaf(operand)) not in body.aliasing
    ]


class ScatterCode:
    """Emits parts of a scatter's kernel."""

    def __init__(self, body: KernelBody, windows: ScatterWindows, emitter: ElementEmitter) -> None:
        self._body, self._windows, self._emitter = body, windows, emitter
        self._computation = windows.scatter.attribute("to_apply")
        parameters = self._computation.parameters[: len(windows.operands)]
        self._types = [p.shape.element_type for p in parameters]

    def copy(self, position: Value) -> None:
        """Copies the elements at a position of the operands that aren't in the results' buffers."""
        emitter, dims = self._emitter, self._windows.dims
        index = delinearized(emitter.indices.new("position", math.prod(dims), position), dims)
        for number in copied_operands(self._body):
            operand, target = self._windows.operands[number], self._body.results[number]
            types = operand.shape.element_type, target.shape.element_type
            emitter.store(target, index, emitter.elemental.convert(emitter.value(operand, index), *types))

    def starts(self, batch: Index) -> list[Value]:
        """Returns the start of a window in each dimension that the indices name, as i64."""
        windows, emitter = self._windows, self._emitter
        element_type, found = windows.indices.shape.element_type, []
        for number in range(len(windows.starts)):
            value = emitter.value(windows.indices, windows.start_place(number, batch))
            assert isinstance(value, Value)
            found.append(emitter.b.resize(value, "i64", signed=element_type.is_signed))
        return found

    def load_starts(self, batch: Index) -> Value:
        """Gives the start of a window to its variables; returns whether the window is inside the operands."""
        b, windows = self._emitter.b, self._windows
        inside = b.bool_(True)
        for (dimension, variable), start in zip(windows.starts.items(), self.starts(batch), strict=True):
            self._emitter.indices.bind(variable, start)
            room = windows.dims[dimension] - windows.sizes[dimension]
            inside = b.and_(inside, b.icmp("ule", start, b.int_(room)))
        return inside

    def update(self, batch: Index, window: Index) -> None:
        """Combines an element of the updates with the element of the result."""
        target = self._windows.target(batch, window)
        self.put(target, self.combined(self.old(target), batch, window))

    def update_atomically(self, batch: Index, window: Index) -> None:
        """Combines an element of the updates with the element of the result, which other threads may be updating."""
        (update,) = self._values(batch, window)
        (result,), target = self._body.results, self._windows.target(batch, window)
        place = self._emitter.indices.value(memory_position(result.shape, target))
        combine_atomically(self._emitter.context, result, place, update, self._computation)

    def old(self, target: Index) -> list[ElementValue]:
        """Returns the elements of the results at an index, in the types of the computation."""
        emitter, found = self._emitter, []
        for result, type_ in zip(self._body.results, self._types, strict=True):
            place = emitter.indices.value(memory_position(result.shape, target))
            old = result.load(emitter.b, place)
            found.append(emitter.elemental.convert(old, result.shape.element_type, type_))
        return found

    def combined(self, old: Sequence[ElementValue], batch: Index, window: Index) -> list[ElementValue]:
        """Returns the computation of `old` and an element of the updates."""
        return call_computation(self._emitter.context, self._computation, [*old, *self._values(batch, window)])

    def put(self, target: Index, values: Sequence[ElementValue]) -> None:
        """Stores elements of the results."""
        for value, result, type_ in zip(values, self._body.results, self._types, strict=True):
            converted = self._emitter.elemental.convert(value, type_, result.shape.element_type)
            self._emitter.store(result, target, converted)

    def _values(self, batch: Index, window: Index) -> list[ElementValue]:
        source = self._windows.source(batch, window)
        return [self._converted(u, source, n) for n, u in enumerate(self._windows.updates)]

    def _converted(self, update: HloInstruction, source: Index, number: int) -> ElementValue:
        value = self._emitter.value(update, source)
        return self._emitter.elemental.convert(value, update.shape.element_type, self._types[number])
