"""Arithmetic: the vocabulary that the formulas of elementary functions are written in.

A formula is straight-line code on values whose kind is `f32`, `f64`, `i32`, `i64` or `i1`. Whoever implements the
abstract methods decides what a value is: an LLVM value, an HLO instruction. Each operation rounds once, as IEEE 754
says, and none may be reordered or fused: the formulas are exact only as they are written.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Generic, TypeVar

__all__ = ["Arithmetic", "V"]

V = TypeVar("V")


class Arithmetic(abc.ABC, Generic[V]):
    """Operations on values of one implementation; what can be made of the others is made here."""

    # -- values ------------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def kind(self, x: V) -> str:
        """`f32`, `f64`, `i32`, `i64` or `i1`."""

    @abc.abstractmethod
    def number(self, value: float, kind: str) -> V:
        """A constant of a kind; one of an integer kind has `kind`'s bits."""

    def constant(self, value: float, like: V) -> V:
        """A constant of another value's kind."""
        return self.number(value, self.kind(like))

    def integer(self, value: int, like: V) -> V:
        """An integer constant as wide as a float or integer."""
        return self.number(value, "i64" if self.is_wide(like) else "i32")

    def is_wide(self, x: V) -> bool:
        """Whether a value has 64 bits."""
        return self.kind(x) in ("f64", "i64")

    def coefficients(self, table: dict[str, Sequence[float]], x: V) -> Sequence[float]:
        """The entry of a table for a value's kind."""
        return table[self.kind(x)]

    def _same(self, x: V, y: V | float) -> V:
        return self.constant(y, x) if isinstance(y, int | float) else y

    # -- what an implementation says ---------------------------------------------------------------------------------

    @property
    @abc.abstractmethod
    def has_fma(self) -> bool:
        """Whether `fma` rounds once; then formulas are shorter and more exact."""

    @property
    @abc.abstractmethod
    def has_f64(self) -> bool:
        """Whether f32 functions may be computed in f64."""

    def prefers_f64(self, x: V) -> bool:
        """Whether a function of x, an f32, is better computed in f64."""
        return self.has_f64 and self.kind(x) == "f32"

    @abc.abstractmethod
    def emit(self, opcode: str, *operands: V) -> V:
        """The real function that an HLO opcode names, as the implementation computes it."""

    @abc.abstractmethod
    def fma(self, x: V, y: V, z: V) -> V:
        """The sum x y + z, rounded once with `has_fma`, else twice."""

    @abc.abstractmethod
    def add(self, x: V, y: V | float) -> V:
        """The sum of floats."""

    @abc.abstractmethod
    def sub(self, x: V, y: V | float) -> V:
        """The difference of floats."""

    @abc.abstractmethod
    def mul(self, x: V, y: V | float) -> V:
        """The product of floats."""

    @abc.abstractmethod
    def div(self, x: V, y: V | float) -> V:
        """The quotient of floats."""

    @abc.abstractmethod
    def neg(self, x: V) -> V:
        """The float with the other sign."""

    @abc.abstractmethod
    def abs(self, x: V) -> V:
        """|x|."""

    @abc.abstractmethod
    def sqrt(self, x: V) -> V:
        """The correctly rounded square root."""

    @abc.abstractmethod
    def floor(self, x: V) -> V:
        """The largest whole number that is not larger."""

    @abc.abstractmethod
    def maximum(self, x: V, y: V) -> V:
        """The larger float; NaN where either is."""

    @abc.abstractmethod
    def with_sign(self, magnitude: V, sign: V) -> V:
        """The magnitude with another value's sign."""

    @abc.abstractmethod
    def fcmp(self, predicate: str, x: V, y: V) -> V:
        """Floats compared: eq, ne, lt, le, gt or ge behind an o (false beside NaN) or u (true); ord and uno ask for NaN
        alone.
        """

    @abc.abstractmethod
    def icmp(self, predicate: str, x: V, y: V) -> V:
        """Signed integers compared: eq, ne, slt or sge."""

    @abc.abstractmethod
    def select(self, condition: V, x: V, y: V) -> V:
        """X where the condition holds, else y."""

    @abc.abstractmethod
    def iadd(self, x: V, y: V) -> V:
        """The sum of integers, which wraps."""

    @abc.abstractmethod
    def isub(self, x: V, y: V) -> V:
        """The difference of integers, which wraps."""

    @abc.abstractmethod
    def imul(self, x: V, y: V) -> V:
        """The product of unsigned integers, which must not wrap."""

    @abc.abstractmethod
    def udiv(self, x: V, y: V) -> V:
        """The quotient of unsigned integers."""

    @abc.abstractmethod
    def and_(self, x: V, y: V) -> V:
        """Bitwise and."""

    @abc.abstractmethod
    def or_(self, x: V, y: V) -> V:
        """Bitwise or."""

    @abc.abstractmethod
    def xor(self, x: V, y: V) -> V:
        """Bitwise exclusive or."""

    @abc.abstractmethod
    def not_(self, x: V) -> V:
        """Bitwise not."""

    @abc.abstractmethod
    def shl(self, x: V, amount: int) -> V:
        """A shift to the left, by fewer bits than the value has."""

    @abc.abstractmethod
    def lshr(self, x: V, amount: int) -> V:
        """A logical shift to the right."""

    @abc.abstractmethod
    def ashr(self, x: V, amount: int) -> V:
        """An arithmetic shift to the right."""

    @abc.abstractmethod
    def clamp(self, low: V, x: V, high: V) -> V:
        """The nearest signed integer between two bounds."""

    @abc.abstractmethod
    def funnel_shift(self, high: V, low: V, amount: V) -> V:
        """The high word of the double word (high, low), shifted left by fewer bits than a word has."""

    @abc.abstractmethod
    def bits(self, x: V) -> V:
        """The bits of a float."""

    @abc.abstractmethod
    def from_bits(self, x: V) -> V:
        """The float that has these bits."""

    @abc.abstractmethod
    def extend(self, x: V) -> V:
        """An i32 extended by zeros to an i64."""

    @abc.abstractmethod
    def truncate(self, x: V) -> V:
        """The low half of an i64; an i32 as it is."""

    @abc.abstractmethod
    def to_float(self, x: V, kind: str) -> V:
        """A signed integer as a float."""

    @abc.abstractmethod
    def widen(self, x: V) -> V:
        """An f32 as an f64."""

    @abc.abstractmethod
    def narrow(self, x: V) -> V:
        """An f64 rounded to f32."""

    def window(self, table: Sequence[int], first: int, last: int, place: V, count: int) -> list[V]:
        """`count` i32 words of a table of 32-bit words from a place in [first, last], chosen by comparisons."""
        if last - first <= 6:
            chosen = [self.number(table[first + i], "i32") for i in range(count)]
            for candidate in range(first + 1, last + 1):
                here = self.icmp("sge", place, self.number(candidate, "i32"))
                chosen = [self.select(here, self.number(table[candidate + i], "i32"), c) for i, c in enumerate(chosen)]
            return chosen
        # The table, moved by each bit of the place in turn, from the highest; what can't get into the window is left.
        offset = self.isub(place, self.number(first, "i32"))
        words = [self.number(word, "i32") for word in table[first : last + count]]
        for bit in reversed(range((last - first).bit_length())):
            step, reach = 1 << bit, count + (1 << bit) - 1
            here = self.icmp("ne", self.and_(offset, self.number(step, "i32")), self.number(0, "i32"))
            padded = [*words, *[words[-1]] * (reach + step - len(words))]
            words = [self.select(here, padded[i + step], padded[i]) for i in range(reach)]
        return words

    # -- what is made of it ------------------------------------------------------------------------------------------

    def polynomial(self, x: V, coefficients: Sequence[float]) -> V:
        """Horner's scheme, lowest coefficient first."""
        total = self.constant(coefficients[-1], x)
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(total, x, self.constant(coefficient, x))
        return total

    def two_sum(self, x: V, y: V) -> tuple[V, V]:
        """(rounded sum, its error), exact."""
        total = self.add(x, y)
        part = self.sub(total, x)
        return total, self.add(self.sub(x, self.sub(total, part)), self.sub(y, part))

    def fast_two_sum(self, x: V, y: V) -> tuple[V, V]:
        """As two_sum, where |x| >= |y|."""
        total = self.add(x, y)
        return total, self.sub(y, self.sub(total, x))

    def two_product(self, x: V, y: V) -> tuple[V, V]:
        """(rounded product, its error), exact where nothing overflows."""
        product = self.mul(x, y)
        if self.has_fma:
            return product, self.fma(x, y, self.neg(product))
        (xh, xl), (yh, yl) = self._halves(x), self._halves(y)
        error = self.sub(self.mul(xh, yh), product)
        error = self.add(self.add(error, self.mul(xh, yl)), self.mul(xl, yh))
        return product, self.add(error, self.mul(xl, yl))

    def _halves(self, x: V) -> tuple[V, V]:
        """X as a sum of two numbers of half the bits. (Dekker 1971.)"""
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
        """X where the condition holds, else y. Either may be a number, but not both."""
        if isinstance(x, int | float):
            assert not isinstance(y, int | float)
            return self.select(condition, self.constant(x, y), y)
        return self.select(condition, x, self._same(x, y))

    def limit(self, x: V, low: float, high: float) -> V:
        """The nearest number between two bounds; NaN stays."""
        return self.choose(self.less(x, low), low, self.choose(self.greater(x, high), high, x))

    def power_of_two(self, exponent: V) -> V:
        """2^n of an integer n of the normal range, as the float of its width."""
        wide = self.is_wide(exponent)
        biased = self.iadd(exponent, self.integer(1023 if wide else 127, exponent))
        return self.from_bits(self.shl(biased, 52 if wide else 23))

    def nearest(self, x: V) -> tuple[V, V]:
        """The nearest whole number, as a float and as an integer, of a number far smaller than 2^(mantissa bits)."""
        magic = self.constant(6755399441055744.0 if self.is_wide(x) else 12582912.0, x)
        shifted = self.add(x, magic)
        return self.sub(shifted, magic), self.isub(self.bits(shifted), self.bits(magic))
