"""Expression: a value of an `Arithmetic` with Python's operators, for formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic

from xla_core.elementary.arithmetic import Arithmetic, V
from xla_core.elementary.operators import Operators


class Expression(Operators[float], Generic[V]):
    """A float with its arithmetic. Comparisons give i1."""

    __slots__ = ("m", "value")

    def __init__(self, m: Arithmetic[V], value: V) -> None:
        self.m = m
        self.value = value

    @property
    def kind(self) -> str:
        return self.m.kind(self.value)

    def like(self, other: Expression[V] | float) -> Expression[V]:
        return other if isinstance(other, Expression) else Expression(self.m, self.m.constant(other, self.value))

    def op(self, opcode: str, *others: Expression[V] | float) -> Expression[V]:
        return Expression(self.m, self.m.emit(opcode, self.value, *(self.like(o).value for o in others)))

    def compare(self, direction: str, other: Expression[V] | float) -> Expression[V]:
        predicate = "une" if direction == "NE" else f"o{direction.lower()}"
        return Expression(self.m, self.m.fcmp(predicate, self.value, self.like(other).value))

    def select(self, on_true: Expression[V], on_false: Expression[V]) -> Expression[V]:
        return Expression(self.m, self.m.select(self.value, on_true.value, on_false.value))


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
