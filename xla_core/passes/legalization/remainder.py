"""The decomposition of remainder. For floats it is a long division of mantissas, some bits per iteration."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.decompositions.hlo_arithmetic import HloArithmetic
from xla_core.hlo.decompositions.loops import Values, counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.decompositions import decomposition
from xla_core.sizes import ceil_div


@decomposition(Opcode.REMAINDER)
def _remainder(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """`x - trunc(x / y) * y` without rounding: floats by their mantissas, integers by a quotient."""
    x, y = i.operands
    kind = x.shape.element_type
    if kind.is_integral:
        return b.add(Opcode.SUBTRACT, x, b.add(Opcode.MULTIPLY, b.add(Opcode.DIVIDE, x, y), y))
    if not kind.is_floating:
        return None
    computed = x.shape.with_element_type(kind if kind is ElementType.F64 else ElementType.F32)
    return b.convert(_of_floats(i, b, b.convert(x, computed), b.convert(y, computed)), i.shape)


def _of_floats(i: HloInstruction, b: Builder, x: HloInstruction, y: HloInstruction) -> HloInstruction:
    m = HloArithmetic(b, x.shape)
    mantissa_bits, width, largest = (52, 64, 2046) if m.is_wide(x) else (23, 32, 254)
    step = width - 2 - mantissa_bits  # bits that a mantissa may be shifted by

    def parts(v: HloInstruction) -> tuple[HloInstruction, HloInstruction]:
        """(mantissa, exponent) of a float as integers. For zero, infinity and NaN, they are those of 1."""
        number = m.and_(m.greater(m.abs(v), 0.0), m.less(m.abs(v), float("inf")))
        bits = m.bits(m.choose(number, m.abs(v), 1.0))
        exponent = m.lshr(bits, mantissa_bits)
        fraction = m.and_(bits, m.integer((1 << mantissa_bits) - 1, v))
        denormal = m.icmp("eq", exponent, m.integer(0, v))
        mantissa = m.select(denormal, fraction, m.or_(fraction, m.integer(1 << mantissa_bits, v)))
        return mantissa, m.select(denormal, m.integer(1, v), exponent)

    (above, high), (below, low) = parts(x), parts(y)
    left = b.add(Opcode.CLAMP, m.integer(0, x), m.isub(high, low), m.integer(largest, x))

    def turn(b: Builder, number: HloInstruction, values: Values, given: Values) -> Sequence[HloInstruction]:
        rest, left = values
        shift = b.add(Opcode.MINIMUM, left, b.constant(step, left.shape))
        return [
            b.add(Opcode.REMAINDER, b.add(Opcode.SHIFT_LEFT, rest, shift), given[0]),
            b.add(Opcode.SUBTRACT, left, shift),
        ]

    rest, _ = counted_loop(i, b, ceil_div(largest, step), [above, left], [below], turn)
    # The scale 2^(exponent - bias - mantissa bits) is applied as two normal factors; no product is rounded.
    exponent = m.isub(low, m.integer((1023 if m.is_wide(x) else 127) + mantissa_bits, x))
    half = m.ashr(exponent, 1)
    result = m.mul(m.to_float(rest, m.kind(x)), m.power_of_two(half))
    result = m.mul(result, m.power_of_two(m.isub(exponent, half)))
    result = m.select(m.fcmp("olt", m.abs(x), m.abs(y)), x, m.with_sign(result, x))
    result = m.select(m.equal(x, 0.0), x, result)
    defined = m.and_(m.and_(m.less(m.abs(x), float("inf")), m.fcmp("ord", y, y)), m.fcmp("une", y, m.constant(0.0, y)))
    return m.choose(defined, result, float("nan"))
