"""Decomposes elementwise ops, elementary functions among them, into simpler ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xla_core.hlo.decompositions.elementwise import ELEMENTWISE
from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization.decompositions import decomposition


@decomposition(Opcode.TAN)
def _tan(i: HloInstruction, b: Builder) -> HloInstruction | None:
    """The quotient of sine and cosine, whose decompositions share most instructions."""
    (x,) = expressions(b, *i.operands)
    is_wide = x.element_type in (ElementType.F32, ElementType.F64)
    return (x.op(Opcode.SINE) / x.op(Opcode.COSINE)).i if is_wide else None


for _opcode, _rule in ELEMENTWISE.items():
    decomposition(_opcode)(_rule)

Formula = Callable[..., "HloExpression | None"]
"""(element type of the operands, operands) -> result."""


def _formula(opcode: Opcode, *, is_complex: bool = False, needs: Sequence[Opcode] = ()) -> Callable[[Formula], Formula]:
    """Registers a formula as the decomposition of an op. It applies to complex numbers only if `is_complex` is set."""

    def register(formula: Formula) -> Formula:
        def rule(i: HloInstruction, b: Builder) -> HloInstruction | None:
            kind = i.operand(-1).shape.element_type
            found = None if kind.is_complex and not is_complex else formula(kind, *expressions(b, *i.operands))
            return None if found is None else found.i

        decomposition(opcode, needs=needs)(rule)
        return formula

    return register


def _has_sign(kind: ElementType) -> bool:
    """Whether the element type has zero and negative numbers."""
    return kind.is_signed or (kind.is_floating and kind.has_zero)


def _of_bits(kind: ElementType, bits: int) -> int:
    """The integer of a type with these bits; bits beyond the type's width are ignored."""
    bits &= (1 << kind.bit_width) - 1
    return bits - (1 << kind.bit_width) if kind.is_signed and bits >> kind.bit_width - 1 else bits


@_formula(Opcode.SUBTRACT, is_complex=True)
def _subtract(kind: ElementType, x: HloExpression, y: HloExpression) -> HloExpression | None:
    return x + -y if kind.has_zero else None


@_formula(Opcode.NEGATE, is_complex=True)
def _negate(kind: ElementType, x: HloExpression) -> HloExpression | None:
    if kind.is_complex:  # multiplying by -1 would give NaN for infinities
        return (-x.op(Opcode.REAL)).op(Opcode.COMPLEX, -x.op(Opcode.IMAG))
    if not kind.has_zero:
        return None
    return x * (_of_bits(kind, -1) if kind.is_integral else -1)


@_formula(Opcode.MINIMUM)
def _minimum(kind: ElementType, x: HloExpression, y: HloExpression) -> HloExpression:
    if kind is ElementType.PRED:
        return x & y
    if kind.is_integral:
        return (x < y).where(x, y)
    if not kind.has_zero:
        smaller = (x < y).where(x, y)
        return x.differs(x).where(x, smaller)
    return -(-x).maximum(-y)


@_formula(Opcode.MAXIMUM)
def _maximum(kind: ElementType, x: HloExpression, y: HloExpression) -> HloExpression:
    if kind is ElementType.PRED:
        return x | y
    larger = (x > y).where(x, y)
    if kind.is_integral:
        return larger
    # The result is NaN if an operand is NaN, and the maximum of 0 and -0 is 0.
    if kind.has_zero:
        larger = (x.equals(y) & x.equals(0)).where(x + y, larger)
    return x.differs(x).where(x, larger)


@_formula(Opcode.ABS)
def _abs(kind: ElementType, x: HloExpression) -> HloExpression:
    return (x > 0).where(x, 0 - x) if _has_sign(kind) else x


@_formula(Opcode.SIGN)
def _sign(kind: ElementType, x: HloExpression) -> HloExpression:
    if not kind.has_zero:  # the result is 1 or NaN
        return x.equals(x).where(1, x)
    if not _has_sign(kind):
        return x.equals(0).where(x, 1)
    return (x > 0).where(1, (x < 0).where(-1, x))


@_formula(Opcode.NOT)
def _not(kind: ElementType, x: HloExpression) -> HloExpression:
    return x.equals(False) if kind is ElementType.PRED else -x + _of_bits(kind, -1)


@_formula(Opcode.OR)
def _or(kind: ElementType, x: HloExpression, y: HloExpression) -> HloExpression:
    return ~(~x & ~y)


@_formula(Opcode.AND)
def _and(kind: ElementType, x: HloExpression, y: HloExpression) -> HloExpression | None:
    return x.where(y, False) if kind is ElementType.PRED else None


@_formula(Opcode.XOR)
def _xor(kind: ElementType, x: HloExpression, y: HloExpression) -> HloExpression:
    return x.differs(y) if kind is ElementType.PRED else (x | y) & ~(x & y)


@_formula(Opcode.SHIFT_RIGHT_ARITHMETIC)
def _shift_right_arithmetic(kind: ElementType, x: HloExpression, n: HloExpression) -> HloExpression:
    """Shifts in the highest bit, for unsigned integers too."""
    negative = x < 0 if kind.is_signed else x >= _of_bits(kind, 1 << kind.bit_width - 1)
    return negative.where(~(~x >> n), x >> n)


@_formula(Opcode.SHIFT_RIGHT_LOGICAL, needs=[Opcode.SHIFT_RIGHT_ARITHMETIC])
def _shift_right_logical(kind: ElementType, x: HloExpression, n: HloExpression) -> HloExpression:
    """Clears the bits that an arithmetic shift fills with the highest one. Counts that are too large give 0."""
    width = kind.bit_width
    highest = x.like(_of_bits(kind, 1 << width - 1))
    filled = highest.op(Opcode.SHIFT_RIGHT_ARITHMETIC, n) << 1
    shifted = x.op(Opcode.SHIFT_RIGHT_ARITHMETIC, n) & ~filled
    fits = n >= 0 if kind.is_signed else n < width
    if kind.is_signed and width <= kind.integer_range[1]:  # else every count is less than the width
        fits &= n < width
    return fits.where(shifted, 0)


@_formula(Opcode.CLAMP)
def _clamp(kind: ElementType, low: HloExpression, x: HloExpression, high: HloExpression) -> HloExpression:
    return x.maximum(low).minimum(high)


@_formula(Opcode.IS_FINITE)
def _is_finite(kind: ElementType, x: HloExpression) -> HloExpression:
    """Tests |x| < infinity, or that x is not NaN if the type has no infinity."""
    return abs(x) < np.inf if kind.has_infinity else x.equals(x)


@_formula(Opcode.POPCNT)
def _popcnt(kind: ElementType, x: HloExpression) -> HloExpression:
    """Adds the counts of adjacent groups of 1, 2, 4, ... bits."""
    shift = 1
    while shift < kind.bit_width:
        groups = range(0, kind.bit_width, 2 * shift)
        mask = _of_bits(kind, sum(((1 << shift) - 1) << k for k in groups))
        x = (x & mask) + ((x >> shift) & mask)
        shift *= 2
    return x


@_formula(Opcode.COUNT_LEADING_ZEROS)
def _clz(kind: ElementType, x: HloExpression) -> HloExpression:
    """Sets all bits below the highest set bit, then counts the bits that are clear."""
    shift = 1
    while shift < kind.bit_width:
        x |= x >> shift
        shift *= 2
    return (~x).op(Opcode.POPCNT)
