"""Arithmetic: the operations of which the formulas of elementary functions consist.

A formula is straight-line code on values of kind `f32`, `f64`, `i32`, `i64` or `i1`. An implementation of the abstract
methods decides what a value is, such as an LLVM value or an HLO instruction; an operation that HLO has is `emit` of its
opcode unless the implementation defines it. Each operation rounds once, as in IEEE 754. None may be reordered or fused,
because the formulas are exact only as written.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Generic, TypeVar

V = TypeVar("V")


class Arithmetic(abc.ABC, Generic[V]):
    """The operations of an implementation, and further operations that are composed of them."""

    # -- values ------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def kind(self, x: V) -> str:
        """The kind of a value: `f32`, `f64`, `i32`, `i64` or `i1`."""

    @abc.abstractmethod
    def number(self, value: float, kind: str) -> V:
        """Makes a constant of a kind. For an integer kind, `value` wraps to the kind's width."""

    def constant(self, value: float, like: V) -> V:
        """Makes a constant of another value's kind."""
        return self.number(value, self.kind(like))

    def integer(self, value: int, like: V) -> V:
        """Makes an integer constant as wide as a float or integer value."""
        return self.number(value, "i64" if self.is_wide(like) else "i32")

    def is_wide(self, x: V) -> bool:
        """Whether a value has 64 bits."""
        return self.kind(x) in ("f64", "i64")

    def coefficients(self, table: dict[str, Sequence[float]], x: V) -> Sequence[float]:
        """Returns the entry of a table for a value's kind."""
        return table[self.kind(x)]

    def _same(self, x: V, y: V | float) -> V:
        return self.constant(y, x) if isinstance(y, int | float) else y

    # -- what an implementation defines ------------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def has_fma(self) -> bool:
        """Whether `fma` rounds once, which allows shorter and more accurate formulas."""

    @property
    @abc.abstractmethod
    def has_f64(self) -> bool:
        """Whether f32 functions may be computed in f64."""

    def prefers_f64(self, x: V) -> bool:
        """Whether a function of x, an f32 value, should be computed in f64."""
        return self.has_f64 and self.kind(x) == "f32"

    @abc.abstractmethod
    def emit(self, opcode: str, *operands: V) -> V:
        """Emits an elementwise HLO op, or the function of its opcode in the way of the implementation."""

    @abc.abstractmethod
    def fma(self, x: V, y: V, z: V) -> V:
        """Returns x y + z, rounded once if `has_fma`, else twice."""

    def add(self, x: V, y: V | float) -> V:
        """The sum of floats."""
        return self.emit("add", x, self._same(x, y))

    def sub(self, x: V, y: V | float) -> V:
        """The difference of floats."""
        return self.emit("subtract", x, self._same(x, y))

    def mul(self, x: V, y: V | float) -> V:
        """The product of floats."""
        return self.emit("multiply", x, self._same(x, y))

    def div(self, x: V, y: V | float) -> V:
        """The quotient of floats."""
        return self.emit("divide", x, self._same(x, y))

    def neg(self, x: V) -> V:
        """Returns -x."""
        return self.emit("negate", x)

    def abs(self, x: V) -> V:
        """|x|."""
        return self.emit("abs", x)

    def sqrt(self, x: V) -> V:
        """Returns the correctly rounded square root."""
        return self.emit("sqrt", x)

    def floor(self, x: V) -> V:
        """Returns the largest whole number that is not above x."""
        return self.emit("floor", x)

    def maximum(self, x: V, y: V) -> V:
        """Returns the larger float; NaN if either is NaN."""
        return self.emit("maximum", x, y)

    @abc.abstractmethod
    def with_sign(self, magnitude: V, sign: V) -> V:
        """Returns the magnitude of one value with the sign of another."""

    @abc.abstractmethod
    def fcmp(self, predicate: str, x: V, y: V) -> V:
        """Compares floats.

        The predicate is eq, ne, lt, le, gt or ge after an o (false for NaN) or a u (true for NaN). ord and uno test
        only for NaN.
        """

    @abc.abstractmethod
    def icmp(self, predicate: str, x: V, y: V) -> V:
        """Compares signed integers by eq, ne, slt or sge."""

    def select(self, condition: V, x: V, y: V) -> V:
        """Returns x where the condition holds, else y."""
        return self.emit("select", condition, x, y)

    def iadd(self, x: V, y: V) -> V:
        """Returns the sum of integers, which wraps."""
        return self.emit("add", x, y)

    def isub(self, x: V, y: V) -> V:
        """Returns the difference of integers, which wraps."""
        return self.emit("subtract", x, y)

    def imul(self, x: V, y: V) -> V:
        """Returns the product of unsigned integers, which must not wrap."""
        return self.emit("multiply", x, y)

    def udiv(self, x: V, y: V) -> V:
        """Returns the quotient of unsigned integers."""
        return self.emit("divide", x, y)

    def and_(self, x: V, y: V) -> V:
        """Bitwise and."""
        return self.emit("and", x, y)

    def or_(self, x: V, y: V) -> V:
        """Bitwise or."""
        return self.emit("or", x, y)

    def xor(self, x: V, y: V) -> V:
        """Bitwise exclusive or."""
        return self.emit("xor", x, y)

    def not_(self, x: V) -> V:
        """Bitwise not."""
        return self.emit("not", x)

    def shl(self, x: V, amount: int) -> V:
        """Shifts to the left by fewer bits than the value has."""
        return self.emit("shift-left", x, self.integer(amount, x)) if amount else x

    def lshr(self, x: V, amount: int) -> V:
        """Shifts to the right and fills with zeros."""
        return self.emit("shift-right-logical", x, self.integer(amount, x)) if amount else x

    def ashr(self, x: V, amount: int) -> V:
        """Shifts to the right and fills with the sign."""
        return self.emit("shift-right-arithmetic", x, self.integer(amount, x)) if amount else x

    def clamp(self, low: V, x: V, high: V) -> V:
        """Clamps a signed integer to two bounds."""
        return self.emit("clamp", low, x, high)

    @abc.abstractmethod
    def funnel_shift(self, high: V, low: V, amount: V) -> V:
        """Returns the high word of the double word (high, low) shifted left by fewer bits than a word has."""

    @abc.abstractmethod
    def bits(self, x: V) -> V:
        """The bits of a float."""

    @abc.abstractmethod
    def from_bits(self, x: V) -> V:
        """Returns the float that has these bits."""

    @abc.abstractmethod
    def extend(self, x: V) -> V:
        """Zero-extends an i32 to an i64."""

    @abc.abstractmethod
    def truncate(self, x: V) -> V:
        """Returns the low half of an i64, or an i32 unchanged."""

    @abc.abstractmethod
    def to_float(self, x: V, kind: str) -> V:
        """Converts a signed integer to a float."""

    @abc.abstractmethod
    def widen(self, x: V) -> V:
        """Converts an f32 to f64."""

    @abc.abstractmethod
    def narrow(self, x: V) -> V:
        """Rounds an f64 to f32."""

    def window(self, table: Sequence[int], first: int, last: int, place: V, count: int) -> list[V]:
        """Returns `count` consecutive words of a table of 32-bit words, from an index in [first, last].

        The words are i32 values, selected by comparisons and bit tests.
        """
        if last - first <= 6:
            chosen = [self.number(table[first + i], "i32") for i in range(count)]
            for candidate in range(first + 1, last + 1):
                here = self.icmp("sge", place, self.number(candidate, "i32"))
                chosen = [self.select(here, self.number(table[candidate + i], "i32"), c) for i, c in enumerate(chosen)]
            return chosen
        # Shift the table by each bit of the place, highest bit first. Words that can't reach the window are dropped.
        offset = self.isub(place, self.number(first, "i32"))
        words = [self.number(word, "i32") for word in table[first : last + count]]
        for bit in reversed(range((last - first).bit_length())):
            step, reach = 1 << bit, count + (1 << bit) - 1
            here = self.icmp("ne", self.and_(offset, self.number(step, "i32")), self.number(0, "i32"))
            padded = [*words, *[words[-1]] * (reach + step - len(words))]
            words = [self.select(here, padded[i + step], padded[i]) for i in range(reach)]
        return words

    # -- what is composed of it --------------------------------------------------------------------------------------

    def polynomial(self, x: V, coefficients: Sequence[float]) -> V:
        """Evaluates a polynomial by Horner's scheme; coefficients start with the lowest degree."""
        total = self.constant(coefficients[-1], x)
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(total, x, self.constant(coefficient, x))
        return total

    def two_sum(self, x: V, y: V) -> tuple[V, V]:
        """Returns (rounded sum, its error), both exact."""
        total = self.add(x, y)
        part = self.sub(total, x)
        return total, self.add(self.sub(x, self.sub(total, part)), self.sub(y, part))

    def fast_two_sum(self, x: V, y: V) -> tuple[V, V]:
        """Returns what two_sum does, for |x| >= |y|."""
        total = self.add(x, y)
        return total, self.sub(y, self.sub(total, x))

    def two_product(self, x: V, y: V) -> tuple[V, V]:
        """Returns (rounded product, its error), exact unless something overflows."""
        product = self.mul(x, y)
        if self.has_fma:
            return product, self.fma(x, y, self.neg(product))
        (xh, xl), (yh, yl) = self._halves(x), self._halves(y)
        error = self.sub(self.mul(xh, yh), product)
        error = self.add(self.add(error, self.mul(xh, yl)), self.mul(xl, yh))
        return product, self.add(error, self.mul(xl, yl))

    def _halves(self, x: V) -> tuple[V, V]:
        """Splits x into a sum of two numbers of half the bits. (Dekker 1971.)"""
        scaled = self.mul(x, 134217729.0 if self.is_wide(x) else 4097.0)
        high = self.sub(scaled, self.sub(scaled, x))
        return high, self.sub(x, high)

    def less(self, x: V, y: float) -> V:
        """Whether x < y; false for NaN."""
        return self.fcmp("olt", x, self.constant(y, x))

    def greater(self, x: V, y: float) -> V:
        """Whether x > y; false for NaN."""
        return self.fcmp("ogt", x, self.constant(y, x))

    def equal(self, x: V, y: float) -> V:
        """Whether x == y."""
        return self.fcmp("oeq", x, self.constant(y, x))

    def choose(self, condition: V, x: V | float, y: V | float) -> V:
        """Returns x where the condition holds, else y. One of x and y may be a Python number."""
        if isinstance(x, int | float):
            assert not isinstance(y, int | float)
            return self.select(condition, self.constant(x, y), y)
        return self.select(condition, x, self._same(x, y))

    def limit(self, x: V, low: float, high: float) -> V:
        """Clamps a number to two bounds; NaN stays NaN."""
        return self.choose(self.less(x, low), low, self.choose(self.greater(x, high), high, x))

    def power_of_two(self, exponent: V) -> V:
        """Returns 2^n as a float of n's width, for an integer n in the range of normal numbers."""
        wide = self.is_wide(exponent)
        biased = self.iadd(exponent, self.integer(1023 if wide else 127, exponent))
        return self.from_bits(self.shl(biased, 52 if wide else 23))

    def nearest(self, x: V) -> tuple[V, V]:
        """Returns the nearest whole number as a float and as an integer; |x| must be far below 2^(mantissa bits)."""
        magic = self.constant(6755399441055744.0 if self.is_wide(x) else 12582912.0, x)
        shifted = self.add(x, magic)
        return self.sub(shifted, magic), self.isub(self.bits(shifted), self.bits(magic))
