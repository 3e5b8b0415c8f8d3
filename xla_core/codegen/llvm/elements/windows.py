"""Where an element of a window lies: for reduce-window, select-and-scatter and convolution."""

from __future__ import annotations

from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.context import EmissionContext
from xla_core.codegen.llvm.loops.index import Digit
from xla_core.hlo.attributes import WindowDimension

__all__ = ["window_position"]


def window_position(
    context: EmissionContext, window: WindowDimension, size: int, output: Digit, tap: Digit
) -> tuple[Digit, Value]:
    """(the operand's index along one dimension, whether it is inside the operand's `size` elements).

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
