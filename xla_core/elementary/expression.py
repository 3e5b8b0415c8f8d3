"""Operators on the values of an `Arithmetic`, so that a formula reads as it is written on paper.

An `Expression` is a value with its arithmetic. Python numbers are constants of the other operand's kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic

from xla_core.elementary.arithmetic import Arithmetic, V


def _unary(opcode: str) -> Callable[[Expression[V]], Expression[V]]:
    return lambda x: x.op(opcode)


def _binary(opcode: str) -> Callable[[Expression[V], Expression[V] | float], Expression[V]]:
    return lambda x, y: x.op(opcode, y)


def _reflected(opcode: str) -> Callable[[Expression[V], float], Expression[V]]:
    """Makes the operator for a number on the left."""
    return lambda x, number: x.like(number).op(opcode, x)


def _comparison(predicate: str) -> Callable[[Expression[V], Expression[V] | float], Expression[V]]:
    return lambda x, y: Expression(x.m, x.m.fcmp(predicate, x.value, x.coerce(y).value))


class Expression(Generic[V]):
    """A value with arithmetic. Comparisons (`<`, `==` as `.equal`) give i1, `&`, `|` and `~` are bitwise."""

    __slots__ = ("m", "value")

    def __init__(self, m: Arithmetic[V], value: V) -> None:
        self.m = m
        self.value = value

    @property
    def kind(self) -> str:
        return self.m.kind(self.value)

    def like(self, value: float) -> Expression[V]:
        """Makes a constant of this value's kind."""
        return Expression(self.m, self.m.constant(value, self.value))

    def coerce(self, other: Expression[V] | float) -> Expression[V]:
        return other if isinstance(other, Expression) else self.like(other)

    def op(self, opcode: str, *others: Expression[V] | float) -> Expression[V]:
        """Applies an elementwise HLO op with this value as the first operand."""
        return Expression(self.m, self.m.emit(opcode, self.value, *(self.coerce(o).value for o in others)))

    def is_nan(self) -> Expression[V]:
        return self.differs(self)

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __mod__ = _binary("remainder")
    __neg__ = _unary("negate")
    __abs__ = _unary("abs")
    __and__ = _binary("and")
    __or__ = _binary("or")
    __invert__ = _unary("not")
    __lt__ = _comparison("olt")
    __le__ = _comparison("ole")
    __gt__ = _comparison("ogt")
    __ge__ = _comparison("oge")
    equal = _comparison("oeq")
    differs = _comparison("une")
    exp = _unary("exponential")
    log = _unary("log")
    sqrt = _unary("sqrt")
    floor = _unary("floor")
    cos = _unary("cosine")
    cosh = _unary("cosh")
    sign = _unary("sign")
    power = _binary("power")
    maximum = _binary("maximum")
    minimum = _binary("minimum")


def select(condition: Expression[V], on_true: Expression[V] | float, on_false: Expression[V] | float) -> Expression[V]:
    """Selects `on_true` where the condition holds, and else `on_false`. At least one of them must be an expression."""
    if not isinstance(on_true, Expression):
        assert isinstance(on_false, Expression)
        on_true = on_false.like(on_true)
    m = condition.m
    return Expression(m, m.select(condition.value, on_true.value, on_true.coerce(on_false).value))


def polynomial(x: Expression[V], coefficients: Sequence[float]) -> Expression[V]:
    """Evaluates a polynomial by Horner's scheme. The coefficient of the highest power comes first."""
    result = x.like(coefficients[0])
    for c in coefficients[1:]:
        result = result * x + c
    return result


def fitted(t: Expression[V], table: Mapping[str, Sequence[float]]) -> Expression[V]:
    """Computes t P(t) + low + high.

    The table has the coefficients of P, the highest power first, and then low and high, for each kind. For t near 0,
    high dominates the sum, so that the error is hardly more than the rounding of the last addition.
    """
    *rest, low, high = table[t.kind]
    return (polynomial(t, rest) * t + low) + high


def with_mantissa_bits(x: Expression[V], count: int) -> Expression[V]:
    """Rounds a finite float to a mantissa of `count` bits; ties away from 0."""
    m, dropped = x.m, (52 if x.kind == "f64" else 23) - count
    bits = m.iadd(m.bits(x.value), m.integer(1 << (dropped - 1), x.value))
    return Expression(m, m.from_bits(m.and_(bits, m.integer(-1 << dropped, x.value))))
