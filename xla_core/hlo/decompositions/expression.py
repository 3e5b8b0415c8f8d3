"""Expression: an instruction with Python's operators, for decompositions that are formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_core.hlo.builder import Builder
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

Operand: TypeAlias = "Expression | HloInstruction | complex | np.generic"


class Expression:
    """An instruction to whose computation the operators add instructions.

    An operand may be a number, which becomes a constant of the type of the other operand. A scalar is broadcast to the
    dimensions of the other operand. `>>` shifts in zeros.
    """

    __slots__ = ("b", "i")
    __array_ufunc__ = None  # numpy's scalars leave operators to this class

    def __init__(self, b: Builder, i: HloInstruction) -> None:
        self.b = b
        self.i = i

    @property
    def shape(self) -> Shape:
        return self.i.shape

    def op(self, opcode: Opcode, *others: Operand, **attributes: Any) -> Expression:
        """Adds an op with this operand and others."""
        operands = [self.i, *(self._of(other) for other in others)]
        wide = max((o.shape.dimensions for o in operands), key=len)
        operands = [o if o.shape.rank or not wide else self.b.broadcast(o, wide) for o in operands]
        return Expression(self.b, self.b.add(opcode, *operands, **attributes))

    def _of(self, other: Operand) -> HloInstruction:
        if isinstance(other, Expression):
            return other.i
        return other if isinstance(other, HloInstruction) else self.b.constant(other, self.shape.without_layout())

    def __add__(self, other: Operand) -> Expression:
        return self.op(Opcode.ADD, other)

    def __sub__(self, other: Operand) -> Expression:
        return self.op(Opcode.SUBTRACT, other)

    def __rsub__(self, other: Operand) -> Expression:
        return Expression(self.b, self._of(other)) - self

    def __mul__(self, other: Operand) -> Expression:
        return self.op(Opcode.MULTIPLY, other)

    def __truediv__(self, other: Operand) -> Expression:
        return self.op(Opcode.DIVIDE, other)

    def __mod__(self, other: Operand) -> Expression:
        return self.op(Opcode.REMAINDER, other)

    def __and__(self, other: Operand) -> Expression:
        return self.op(Opcode.AND, other)

    def __or__(self, other: Operand) -> Expression:
        return self.op(Opcode.OR, other)

    def __xor__(self, other: Operand) -> Expression:
        return self.op(Opcode.XOR, other)

    def __lshift__(self, other: Operand) -> Expression:
        return self.op(Opcode.SHIFT_LEFT, other)

    def __rshift__(self, other: Operand) -> Expression:
        return self.op(Opcode.SHIFT_RIGHT_LOGICAL, other)

    def __invert__(self) -> Expression:
        return self.op(Opcode.NOT)

    def __neg__(self) -> Expression:
        return self.op(Opcode.NEGATE)

    def __abs__(self) -> Expression:
        return self.op(Opcode.ABS)

    def __lt__(self, other: Operand) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="LT")

    def __le__(self, other: Operand) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="LE")

    def __gt__(self, other: Operand) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="GT")

    def __ge__(self, other: Operand) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="GE")

    def equals(self, other: Operand) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="EQ")

    def differs(self, other: Operand) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="NE")

    def max(self, other: Operand) -> Expression:
        return self.op(Opcode.MAXIMUM, other)

    def min(self, other: Operand) -> Expression:
        return self.op(Opcode.MINIMUM, other)

    def where(self, x: Operand, y: Operand) -> Expression:
        """`x` where this is true, and `y` elsewhere. One of them is an expression."""
        typed = next(v for v in (x, y) if isinstance(v, Expression))
        return self.op(Opcode.SELECT, typed._of(x), typed._of(y))

    def astype(self, element_type: ElementType | type[np.generic]) -> Expression:
        """The value converted to a type."""
        kind = element_type if isinstance(element_type, ElementType) else ElementType.from_numpy(element_type)
        return Expression(self.b, self.b.convert(self.i, self.shape.with_element_type(kind)))

    def bits(self, element_type: ElementType) -> Expression:
        """The bits, as a type of the same width."""
        shape = self.shape.without_layout().with_element_type(element_type)
        return Expression(self.b, self.b.add(Opcode.BITCAST_CONVERT, self.i, shape=shape))

    def reshape(self, dimensions: Sequence[int]) -> Expression:
        return Expression(self.b, self.b.reshape(self.i, dimensions))


def expressions(b: Builder, *instructions: HloInstruction) -> list[Expression]:
    return [Expression(b, i) for i in instructions]
