"""Arithmetic on HLO instructions, so that a decomposition reads as its formula.

`Expression` wraps an instruction; operators and functions append to the computation that the context adds to. Python
numbers are constants of the other operand's element type, broadcast to its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.hlo.element_type import ElementType
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape
from xla_core.stablehlo.lower.context import LoweringContext

__all__ = ["Expression", "Number", "fitted", "in_float32", "polynomial", "select", "wrap"]

Number = int | float | complex


class Expression:
    """An instruction with arithmetic. Comparisons (`<`, `==` as `.equal`) give pred, `&`, `|` and `~` are bitwise."""

    __slots__ = ("ctx", "node")

    def __init__(self, ctx: LoweringContext, node: HloInstruction) -> None:
        self.ctx = ctx
        self.node = node

    @property
    def shape(self) -> Shape:
        return self.node.shape

    @property
    def element_type(self) -> ElementType:
        return self.node.shape.element_type

    # -- making others -----------------------------------------------------------------------------------------------

    def like(self, value: Number | np.generic) -> Expression:
        """Makes a constant of this expression's shape and element type with `value` in every element."""
        scalar = np.asarray(value).astype(self.element_type.dtype)
        return Expression(self.ctx, self.ctx.constant(scalar, self.shape))

    def op(self, opcode: Opcode, *others: Expression | Number, **attributes: Any) -> Expression:
        """Applies an elementwise op with this expression as the first operand."""
        operands = [self.node, *(self._coerce(o).node for o in others)]
        return Expression(self.ctx, self.ctx.add(opcode, *operands, **attributes))

    def _coerce(self, other: Expression | Number) -> Expression:
        return other if isinstance(other, Expression) else self.like(other)

    def convert(self, element_type: ElementType) -> Expression:
        return Expression(self.ctx, self.ctx.convert(self.node, Shape(element_type)))

    def bitcast(self, element_type: ElementType) -> Expression:
        """Reinterprets the bits as another type of the same width."""
        shape = self.shape.with_element_type(element_type)
        return Expression(self.ctx, self.ctx.add(Opcode.BITCAST_CONVERT, self.node, shape=shape))

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def __add__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.ADD, other)

    def __radd__(self, other: Number) -> Expression:
        return self.like(other).op(Opcode.ADD, self)

    def __sub__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.SUBTRACT, other)

    def __rsub__(self, other: Number) -> Expression:
        return self.like(other).op(Opcode.SUBTRACT, self)

    def __mul__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.MULTIPLY, other)

    def __rmul__(self, other: Number) -> Expression:
        return self.like(other).op(Opcode.MULTIPLY, self)

    def __truediv__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.DIVIDE, other)

    def __rtruediv__(self, other: Number) -> Expression:
        return self.like(other).op(Opcode.DIVIDE, self)

    def __mod__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.REMAINDER, other)

    def __neg__(self) -> Expression:
        return self.op(Opcode.NEGATE)

    def __abs__(self) -> Expression:
        return self.op(Opcode.ABS)

    def __and__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.AND, other)

    def __or__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.OR, other)

    def __xor__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.XOR, other)

    def __invert__(self) -> Expression:
        return self.op(Opcode.NOT)

    def __lshift__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.SHIFT_LEFT, other)

    def __rshift__(self, other: Expression | Number) -> Expression:
        """Shifts right: logically for unsigned types, arithmetically for signed types."""
        return self.op(
            Opcode.SHIFT_RIGHT_ARITHMETIC if self.element_type.is_signed else Opcode.SHIFT_RIGHT_LOGICAL, other
        )

    # -- comparison --------------------------------------------------------------------------------------------------

    def __lt__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="LT")

    def __le__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="LE")

    def __gt__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="GT")

    def __ge__(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="GE")

    def equal(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="EQ")

    def differs(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.COMPARE, other, direction="NE")

    def is_nan(self) -> Expression:
        return self.differs(self)

    # -- functions ---------------------------------------------------------------------------------------------------

    def exp(self) -> Expression:
        return self.op(Opcode.EXPONENTIAL)

    def log(self) -> Expression:
        return self.op(Opcode.LOG)

    def log1p(self) -> Expression:
        return self.op(Opcode.LOG_PLUS_ONE)

    def sqrt(self) -> Expression:
        return self.op(Opcode.SQRT)

    def floor(self) -> Expression:
        return self.op(Opcode.FLOOR)

    def sin(self) -> Expression:
        return self.op(Opcode.SINE)

    def cos(self) -> Expression:
        return self.op(Opcode.COSINE)

    def cosh(self) -> Expression:
        return self.op(Opcode.COSH)

    def sign(self) -> Expression:
        return self.op(Opcode.SIGN)

    def real(self) -> Expression:
        return self.op(Opcode.REAL)

    def imag(self) -> Expression:
        return self.op(Opcode.IMAG)

    def power(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.POWER, other)

    def maximum(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.MAXIMUM, other)

    def minimum(self, other: Expression | Number) -> Expression:
        return self.op(Opcode.MINIMUM, other)


def wrap(ctx: LoweringContext, *nodes: HloInstruction) -> list[Expression]:
    return [Expression(ctx, node) for node in nodes]


def select(pred: Expression, on_true: Expression | Number, on_false: Expression | Number) -> Expression:
    """Selects `on_true` where `pred` holds, and else `on_false`. At least one of the two must be an expression."""
    if not isinstance(on_true, Expression):
        assert isinstance(on_false, Expression)
        on_true = on_false.like(on_true)
    return pred.op(Opcode.SELECT, on_true, on_true._coerce(on_false))


def polynomial(x: Expression, coefficients: Sequence[float]) -> Expression:
    """Evaluates a polynomial by Horner's scheme. The coefficient of the highest power comes first."""
    result = x.like(coefficients[0])
    for c in coefficients[1:]:
        result = result * x + c
    return result


def in_float32(function: Callable[..., Expression], *operands: Expression) -> Expression:
    """Applies a function for f32 or f64; operands of other types are converted to f32, and the result back."""
    narrow = operands[0].element_type
    if narrow in (ElementType.F32, ElementType.F64):
        return function(*operands)
    return function(*(o.convert(ElementType.F32) for o in operands)).convert(narrow)


def fitted(t: Expression, table: Mapping[ElementType, Sequence[float]]) -> Expression:
    """Computes t P(t) + low + high.

    The table has the coefficients of P, the highest power first, and then low and high, for each element type. For t
    near 0, high dominates the sum, so that the error is hardly more than the rounding of the last addition.
    """
    *rest, low, high = table[t.element_type]
    return (polynomial(t, rest) * t + low) + high
