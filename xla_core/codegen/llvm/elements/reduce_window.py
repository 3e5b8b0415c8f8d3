"""reduce-window, element by element: a loop over each window. Padding has the initial value."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xla_core.codegen.llvm.elements.fused import FusedIrEmitter, generator
from xla_core.codegen.llvm.elements.reductions import Reducer
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit, Index, merge_digits
from xla_core.codegen.llvm.loops.ir_array import ElementValue
from xla_core.hlo.attributes import Window, WindowDimension
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode


def window_position(
    context: EmissionContext, window: WindowDimension, size: int, output: Digit, tap: Digit
) -> tuple[Digit, Value]:
    """Returns (the operand's index along one dimension, whether it is inside the operand's `size` elements).

    `output` is the number of the window, `tap` the index within it.
    """
    b, w = context.builder, window
    with context.hoisted(max(output.level, tap.level)):
        level = b.level
        start = b.mul(output.value, b.int_(w.stride), "nuw nsw")
        place = b.add(start, b.mul(tap.value, b.int_(w.window_dilation), "nuw nsw"), "nuw nsw")
        place = b.add(place, b.int_(-w.padding_low), "nsw")
        inside = b.bool_(True)
        if w.base_dilation > 1:
            step = b.int_(w.base_dilation)
            inside = b.and_(b.icmp("sge", place, b.int_(0)), b.icmp("eq", b.urem(place, step), b.int_(0)))
            place = b.udiv(place, step)
        last = (output.extent - 1) * w.stride + w.dilated_size - 1 - w.padding_low
        if w.padding_low > 0 or last >= size or w.base_dilation > 1:
            inside = b.and_(inside, b.icmp("ult", place, b.int_(size)))
    return Digit(place, size, level), inside


class WindowForm:
    """How the windows of a reduce-window or select-and-scatter lie over the operand."""

    def __init__(self, instruction: HloInstruction) -> None:
        self.instruction = instruction
        self.window: Window = instruction.attribute("window")
        self.dims = instruction.operand(0).shape.dimensions
        self.operands = list(instruction.operands[: max(1, len(instruction.operands) // 2)])

    def is_trivial(self, dimension: int) -> bool:
        """Returns whether windows along a dimension have one element each, and begin at each index."""
        return self.window[dimension].is_trivial

    def position(self, f: FusedIrEmitter, dimension: int, output: Digit, tap: Digit) -> tuple[Digit, Value]:
        """Returns (the operand's index along a dimension, whether it is inside the operand)."""
        if self.is_trivial(dimension):
            return output, f.b.bool_(True)
        return window_position(f.context, self.window[dimension], self.dims[dimension], output, tap)

    def elements(self, f: FusedIrEmitter, reducer: Reducer, places: Sequence[Digit], inside: Value) -> list[Value]:
        """Returns the registers of the element at an index of the padded operands."""
        if not self.operands:  # only padding
            return reducer.start()
        index = Index(self.dims, places)
        return f.context.choose(
            inside, lambda: reducer.enter([f.value(o, index) for o in self.operands]), reducer.start
        )


@generator(Opcode.REDUCE_WINDOW)
def _reduce_window(f: FusedIrEmitter, instruction: HloInstruction, index: Index) -> list[ElementValue]:
    form, reducer, b = WindowForm(instruction), Reducer(f, instruction), f.b
    if not instruction.operand(0).shape.num_elements:
        form.operands = []
    outputs = [index.component(b, d) for d in range(len(form.dims))]

    def over(places: list[Digit], inside: Value, carried: list[Value]) -> list[Value]:
        dimension = len(places)
        if dimension == len(form.dims):
            return reducer.combine(carried, form.elements(f, reducer, places, inside))

        def step(digits: list[Digit], values: list[Value]) -> Sequence[Value]:
            place, fits = form.position(f, dimension, outputs[dimension], merge_digits(b, digits))
            return over([*places, place], b.and_(inside, fits), values)

        size = form.window[dimension].size
        if size == 1 or size * math.prod(w.size for w in form.window) <= 64:  # few elements: straight-line code
            values = carried
            for tap in range(size):
                values = list(step([Digit(b.int_(tap), size, 0)], values))
            return values
        return f.context.nest(("window", instruction, dimension), size, step, carried, name="window")

    return reducer.leave(over([], b.bool_(True), reducer.start()))
