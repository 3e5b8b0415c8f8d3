"""The decomposition of integer powers: multiplies the squares selected by the bits of the exponent."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.POWER)
def _power(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """Powers wrap on overflow. For a negative exponent, bases 1 and -1 give 1 or -1, and all others give 0."""
    x, y = i.operands
    kind = x.shape.element_type
    if kind is ElementType.PRED:
        return b.add(Opcode.OR, x, b.add(Opcode.NOT, y))
    if not kind.is_integral:
        return None
    one, zero = b.constant(1, x.shape), b.constant(0, x.shape)

    def turn(b: Builder, number: HloInstruction, values: Values, given: Values) -> Sequence[HloInstruction]:
        result, square, rest = values
        one = b.constant(1, rest.shape)
        is_factor = b.compare(b.add(Opcode.AND, rest, one), one, "EQ")
        result = b.add(Opcode.SELECT, is_factor, b.add(Opcode.MULTIPLY, result, square), result)
        return result, b.add(Opcode.MULTIPLY, square, square), b.add(Opcode.SHIFT_RIGHT_LOGICAL, rest, one)

    result, _, _ = counted_loop(i, b, kind.bit_width, [one, x, y], [], turn)
    if not kind.is_signed:
        return result
    is_unit = b.compare(b.add(Opcode.ABS, x), one, "EQ")
    return b.add(Opcode.SELECT, b.add(Opcode.OR, is_unit, b.compare(y, zero, "GE")), result, zero)
