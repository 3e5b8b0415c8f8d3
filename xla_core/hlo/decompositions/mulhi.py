"""mulhi: the high half of a product, by products of halves."""

from __future__ import annotations

from xla_core.hlo.decompositions.builder import Builder
from xla_core.hlo.instruction import HloInstruction

__all__ = ["decompose_mulhi"]


def decompose_mulhi(instruction: HloInstruction, b: Builder) -> HloInstruction:
    """Of halves, as if unsigned; then less the other operand for each that is negative. In the integers' own type."""
    x, y = instruction.operands
    half = x.shape.element_type.bit_width // 2
    width, mask = b.constant(half, x.shape), b.constant((1 << half) - 1, x.shape)

    def halves(v: HloInstruction) -> tuple[HloInstruction, HloInstruction]:
        return b.add("shift-right-logical", v, width), b.add("and", v, mask)

    (high_x, low_x), (high_y, low_y) = halves(x), halves(y)
    carry, _ = halves(b.add("multiply", low_x, low_y))
    first, rest = halves(b.add("add", b.add("multiply", high_x, low_y), carry))
    second, _ = halves(b.add("add", b.add("multiply", low_x, high_y), rest))
    result = b.add("add", b.add("multiply", high_x, high_y), b.add("add", first, second))
    if x.shape.element_type.is_signed:
        zero = b.constant(0, x.shape)
        for one, other in ((x, y), (y, x)):
            less = b.add("select", b.compare(one, zero, "LT"), other, zero)
            result = b.add("subtract", result, less)
    return result
