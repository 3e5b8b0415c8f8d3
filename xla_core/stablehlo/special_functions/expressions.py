"""Arithmetic on HLO instructions, so that a lowering reads as its formula.

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


def _unary(opcode: Opcode) -> Callable[[Expression], Expression]:
    return lambda x: x.op(opcode)


def _binary(opcode: Opcode, **attributes: str) -> Callable[[Expression, Expression | Number], Expression]:
    return lambda x, y: x.op(opcode, y, **attributes)


def _reflected(opcode: Opcode) -> Callable[[Expression, Number], Expression]:
    """Makes the operator for a number on the left."""
    return lambda x, number: x.like(number).op(opcode, x)


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

    def like(self, value: Number | np.generic) -> Expression:
        """Makes a constant of this expression's shape and element type with `value` in every element."""
        scalar = np.asarray(value).astype(self.element_type.dtype)
        return Expression(self.ctx, self.ctx.constant(scalar, self.shape))

    def op(self, opcode: Opcode, *others: Expression | Number, **attributes: Any) -> Expression:
        """Applies an elementwise op with this expression as the first operand."""
        operands = [self.node, *(self.coerce(o).node for o in others)]
        return Expression(self.ctx, self.ctx.add(opcode, *operands, **attributes))

    def coerce(self, other: Expression | Number) -> Expression:
        """Makes a number an expression of this one's shape and element type."""
        return other if isinstance(other, Expression) else self.like(other)

    def convert(self, element_type: ElementType) -> Expression:
        return Expression(self.ctx, self.ctx.convert(self.node, Shape(element_type)))

    def bitcast(self, element_type: ElementType) -> Expression:
        """Reinterprets the bits as another type of the same width."""
        return self.op(Opcode.BITCAST_CONVERT, shape=self.shape.with_element_type(element_type))

    def is_nan(self) -> Expression:
        return self.differs(self)

    __add__, __radd__ = _binary(Opcode.ADD), _reflected(Opcode.ADD)
    __sub__, __rsub__ = _binary(Opcode.SUBTRACT), _reflected(Opcode.SUBTRACT)
    __mul__, __rmul__ = _binary(Opcode.MULTIPLY), _reflected(Opcode.MULTIPLY)
    __truediv__, __rtruediv__ = _binary(Opcode.DIVIDE), _reflected(Opcode.DIVIDE)
    __mod__ = _binary(Opcode.REMAINDER)
    __neg__ = _unary(Opcode.NEGATE)
    __abs__ = _unary(Opcode.ABS)
    __and__ = _binary(Opcode.AND)
    __or__ = _binary(Opcode.OR)
    __invert__ = _unary(Opcode.NOT)
    __lt__ = _binary(Opcode.COMPARE, direction="LT")
    __le__ = _binary(Opcode.COMPARE, direction="LE")
    __gt__ = _binary(Opcode.COMPARE, direction="GT")
    __ge__ = _binary(Opcode.COMPARE, direction="GE")
    equal = _binary(Opcode.COMPARE, direction="EQ")
    differs = _binary(Opcode.COMPARE, direction="NE")
    exp = _unary(Opcode.EXPONENTIAL)
    log = _unary(Opcode.LOG)
    sqrt = _unary(Opcode.SQRT)
    floor = _unary(Opcode.FLOOR)
    cos = _unary(Opcode.COSINE)
    cosh = _unary(Opcode.COSH)
    sign = _unary(Opcode.SIGN)
    real = _unary(Opcode.REAL)
    imag = _unary(Opcode.IMAG)
    power = _binary(Opcode.POWER)
    maximum = _binary(Opcode.MAXIMUM)
    minimum = _binary(Opcode.MINIMUM)


def wrap(ctx: LoweringContext, *nodes: HloInstruction) -> list[Expression]:
    return [Expression(ctx, node) for node in nodes]


def select(pred: Expression, on_true: Expression | Number, on_false: Expression | Number) -> Expression:
    """Selects `on_true` where `pred` holds, and else `on_false`. At least one of the two must be an expression."""
    if not isinstance(on_true, Expression):
        assert isinstance(on_false, Expression)
        on_true = on_false.like(on_true)
    return pred.op(Opcode.SELECT, on_true, on_true.coerce(on_false))


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
