"""Expression: an instruction with Python's operators, for lowerings and decompositions that are formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_core.hlo.builder import Builder
from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

Operand: TypeAlias = "Expression | HloInstruction | complex | np.generic"


def _unary(opcode: Opcode) -> Callable[[Expression], Expression]:
    return lambda x: x.op(opcode)


def _binary(opcode: Opcode, **attributes: str) -> Callable[[Expression, Operand], Expression]:
    return lambda x, y: x.op(opcode, y, **attributes)


def _reflected(opcode: Opcode) -> Callable[[Expression, Operand], Expression]:
    """Makes the operator for a number on the left."""
    return lambda x, number: x.like(number).op(opcode, x)


class Expression:
    """An instruction to whose computation the operators add instructions.

    An operand may be a number, which becomes a constant of the type and dimensions of the other operand. A scalar is
    broadcast to the dimensions of the other operand. Comparisons give pred, `&`, `|`, `^` and `~` are bitwise, and `>>`
    shifts in zeros.
    """

    __slots__ = ("b", "i")
    __array_ufunc__ = None  # numpy's scalars leave operators to this class

    def __init__(self, b: Builder, i: HloInstruction) -> None:
        self.b = b
        self.i = i

    @property
    def shape(self) -> Shape:
        return self.i.shape

    @property
    def element_type(self) -> ElementType:
        return self.i.shape.element_type

    def op(self, opcode: Opcode, *others: Operand, **attributes: Any) -> Expression:
        operands = [self.i, *(self.like(other).i for other in others)]
        wide = max((o.shape.dimensions for o in operands), key=len)
        operands = [o if o.shape.rank or not wide else self.b.broadcast(o, wide) for o in operands]
        return Expression(self.b, self.b.add(opcode, *operands, **attributes))

    def like(self, other: Operand) -> Expression:
        """Makes a number a constant of this one's shape and element type; returns anything else as an expression."""
        if isinstance(other, Expression):
            return other
        instruction = (
            other if isinstance(other, HloInstruction) else self.b.constant(other, self.shape.without_layout())
        )
        return Expression(self.b, instruction)

    __add__, __radd__ = _binary(Opcode.ADD), _reflected(Opcode.ADD)
    __sub__, __rsub__ = _binary(Opcode.SUBTRACT), _reflected(Opcode.SUBTRACT)
    __mul__, __rmul__ = _binary(Opcode.MULTIPLY), _reflected(Opcode.MULTIPLY)
    __truediv__, __rtruediv__ = _binary(Opcode.DIVIDE), _reflected(Opcode.DIVIDE)
    __mod__ = _binary(Opcode.REMAINDER)
    __and__, __or__, __xor__ = _binary(Opcode.AND), _binary(Opcode.OR), _binary(Opcode.XOR)
    __lshift__, __rshift__ = _binary(Opcode.SHIFT_LEFT), _binary(Opcode.SHIFT_RIGHT_LOGICAL)
    __neg__, __invert__, __abs__ = _unary(Opcode.NEGATE), _unary(Opcode.NOT), _unary(Opcode.ABS)
    __lt__, __le__ = _binary(Opcode.COMPARE, direction="LT"), _binary(Opcode.COMPARE, direction="LE")
    __gt__, __ge__ = _binary(Opcode.COMPARE, direction="GT"), _binary(Opcode.COMPARE, direction="GE")
    equals, differs = _binary(Opcode.COMPARE, direction="EQ"), _binary(Opcode.COMPARE, direction="NE")
    max, min = _binary(Opcode.MAXIMUM), _binary(Opcode.MINIMUM)
    real, imag, cos, cosh = _unary(Opcode.REAL), _unary(Opcode.IMAG), _unary(Opcode.COSINE), _unary(Opcode.COSH)

    def is_nan(self) -> Expression:
        return self.differs(self)

    def where(self, x: Operand, y: Operand) -> Expression:
        """Selects `x` where this is true, and `y` elsewhere. One of them is an expression."""
        typed = next(v for v in (x, y) if isinstance(v, Expression))
        return self.op(Opcode.SELECT, typed.like(x), typed.like(y))

    def astype(self, element_type: ElementType | type[np.generic]) -> Expression:
        kind = element_type if isinstance(element_type, ElementType) else ElementType.from_numpy(element_type)
        return Expression(self.b, self.b.convert(self.i, self.shape.with_element_type(kind)))

    def bits(self, element_type: ElementType) -> Expression:
        """Reinterprets the bits as another type of the same width."""
        shape = self.shape.without_layout().with_element_type(element_type)
        return Expression(self.b, self.b.add(Opcode.BITCAST_CONVERT, self.i, shape=shape))

    def reshape(self, dimensions: Sequence[int]) -> Expression:
        return Expression(self.b, self.b.reshape(self.i, dimensions))


def expressions(b: Builder, *instructions: HloInstruction) -> list[Expression]:
    return [Expression(b, i) for i in instructions]
