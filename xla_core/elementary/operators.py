"""Operators: Python's operators as elementwise HLO ops, so that a formula reads as it is written on paper."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar

N = TypeVar("N")
S = TypeVar("S", bound="Operators[Any]")


def _unary(opcode: str) -> Callable[[S], S]:
    return lambda x: x.op(opcode)


def _binary(opcode: str) -> Callable[[S, Any], S]:
    return lambda x, y: x.op(opcode, y)


def _reflected(opcode: str) -> Callable[[S, Any], S]:
    """Makes the operator for a number on the left."""
    return lambda x, number: x.like(number).op(opcode, x)


def _comparison(direction: str) -> Callable[[S, Any], S]:
    return lambda x, y: x.compare(direction, y)


class Operators(ABC, Generic[N]):
    """A value whose operators apply elementwise HLO ops. The other operand may also be an N, such as a number.

    Comparisons (`==` is `equals`, `!=` is `differs`) give a boolean. `&`, `|`, `^` and `~` are bitwise.
    """

    __slots__ = ()

    @abstractmethod
    def op(self, opcode: str, *others: Self | N) -> Self:
        """Applies an elementwise HLO op with this value as the first operand."""

    @abstractmethod
    def like(self, other: Self | N) -> Self:
        """Makes a number a constant of this value's type; returns a value of this class as it is."""

    @abstractmethod
    def compare(self, direction: str, other: Self | N) -> Self:
        """Compares in a direction of HLO, such as LT."""

    @abstractmethod
    def select(self, on_true: Self, on_false: Self) -> Self:
        """Selects `on_true` where this boolean holds, and else `on_false`."""

    def where(self, on_true: Self | N, on_false: Self | N) -> Self:
        """Like `select`, where one of the two may be a number."""
        typed = next(v for v in (on_true, on_false) if isinstance(v, type(self)))
        return self.select(typed.like(on_true), typed.like(on_false))

    def is_nan(self) -> Self:
        return self.differs(self)

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __mod__ = _binary("remainder")
    __and__, __or__, __xor__, __invert__ = _binary("and"), _binary("or"), _binary("xor"), _unary("not")
    __neg__, __abs__ = _unary("negate"), _unary("abs")
    __lt__, __le__, __gt__, __ge__ = _comparison("LT"), _comparison("LE"), _comparison("GT"), _comparison("GE")
    equals, differs = _comparison("EQ"), _comparison("NE")
    maximum, minimum, power = _binary("maximum"), _binary("minimum"), _binary("power")
    exp, log, sqrt, floor, sign = _unary("exponential"), _unary("log"), _unary("sqrt"), _unary("floor"), _unary("sign")
    cos, cosh = _unary("cosine"), _unary("cosh")
