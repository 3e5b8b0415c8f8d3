"""Arithmetic: the operations of which the formulas of elementary functions consist.

A formula is straight-line code on values of kind `f32`, `f64`, `i32`, `i64` or `i1`. An implementation of the abstract
methods decides what a value is, such as an LLVM value or an HLO instruction; an operation that HLO has is `emit` of its
opcode unless the implementation defines it. Each operation rounds once, as in IEEE 754. None may be reordered or fused,
because the formulas are exact only as written.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

V = TypeVar("V")


def _unary(opcode: str) -> Callable[[Arithmetic[V], V], V]:
    return lambda m, x: m.emit(opcode, x)


def _binary(opcode: str) -> Callable[[Arithmetic[V], V, V], V]:
    return lambda m, x, y: m.emit(opcode, x, y)


def _ternary(opcode: str) -> Callable[[Arithmetic[V], V, V, V], V]:
    return lambda m, x, y, z: m.emit(opcode, x, y, z)


def _with_number(opcode: str) -> Callable[[Arithmetic[V], V, V | float], V]:
    """Makes the method of an op whose second operand may be a Python number."""
    return lambda m, x, y: m.emit(opcode, x, m.coerce(y, x))


def _shift(opcode: str) -> Callable[[Arithmetic[V], V, int], V]:
    return lambda m, x, amount: m.emit(opcode, x, m.integer(amount, x)) if amount else x


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

    def coerce(self, value: V | float, like: V) -> V:
        """Makes a Python number a constant of another value's kind; returns any other value as it is."""
        return self.constant(value, like) if isinstance(value, int | float) else value

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

    # Floats. Operands on the right of add, sub, mul and div may be Python numbers.
    add, sub = _with_number("add"), _with_number("subtract")
    mul, div = _with_number("multiply"), _with_number("divide")
    neg, abs, sqrt, floor = _unary("negate"), _unary("abs"), _unary("sqrt"), _unary("floor")
    maximum = _binary("maximum")  # NaN if either operand is NaN

    @abc.abstractmethod
    def with_sign(self, magnitude: V, sign: V) -> V:
        """Returns the magnitude of one value with the sign of another."""

    def with_sign_of(self, size: V, x: V, abs_x: V) -> V:
        """Returns `with_sign(size, x)` for a `size` that isn't negative; it is cheaper where |x| is known."""
        return self.from_bits(self.or_(self.bits(size), self.xor(self.bits(x), self.bits(abs_x))))

    @abc.abstractmethod
    def fcmp(self, predicate: str, x: V, y: V) -> V:
        """Compares floats.

        The predicate is eq, ne, lt, le, gt or ge after an o (false for NaN) or a u (true for NaN). ord and uno test
        only for NaN.
        """

    @abc.abstractmethod
    def icmp(self, predicate: str, x: V, y: V) -> V:
        """Compares signed integers by eq, ne, slt or sge."""

    # Integers. Sums and differences wrap; products and quotients are of unsigned integers, and products must not wrap.
    iadd, isub, imul, udiv = _binary("add"), _binary("subtract"), _binary("multiply"), _binary("divide")
    and_, or_, xor, not_ = _binary("and"), _binary("or"), _binary("xor"), _unary("not")
    select = _ternary("select")  # (condition, value where it holds, value elsewhere)
    clamp = _ternary("clamp")  # (low, x, high) of signed integers
    # Shifts by fewer bits than the value has: to the left, and to the right with zeros or with copies of the sign.
    shl, lshr, ashr = _shift("shift-left"), _shift("shift-right-logical"), _shift("shift-right-arithmetic")

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

    def entry(self, table: Sequence[float], place: V) -> V:
        """Returns the entry at an i32 index of a table of f64 numbers, selected by comparisons."""
        found = self.number(table[0], "f64")
        for index, value in enumerate(table[1:], 1):
            here = self.icmp("eq", place, self.number(index, "i32"))
            found = self.select(here, self.number(value, "f64"), found)
        return found

    # -- what is composed of it --------------------------------------------------------------------------------------

    def polynomial(self, x: V, coefficients: Sequence[float]) -> V:
        """Evaluates a polynomial by Horner's scheme; coefficients start with the lowest degree."""
        total = self.constant(coefficients[-1], x)
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(total, x, self.constant(coefficient, x))
        return total

    def polynomial_by_square(self, x: V, square: V, coefficients: Sequence[float]) -> V:
        """Evaluates a polynomial of x as one of x^2 whose coefficients are a + b x, which don't wait for each other.

        A processor has the result in about half the time. The sum is rounded once more than in Horner's scheme.
        """
        pairs = [coefficients[i : i + 2] for i in range(0, len(coefficients), 2)]
        total, *rest = [self.polynomial(x, pair) for pair in reversed(pairs)]
        for pair in rest:
            total = self.fma(total, square, pair)
        return total

    def two_sum(self, x: V, y: V) -> tuple[V, V]:
        """Returns (rounded sum, its error), both exact."""
        total = self.add(x, y)
        part = self.sub(total, x)
        return total, self.add(self.sub(x, self.sub(total, part)), self.sub(y, part))

    def fast_two_sum(self, x: V, y: V) -> tuple[V, V]:
        """Returns the same as two_sum, for |x| >= |y|."""
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
        return self.select(condition, x, self.coerce(y, x))

    def limit(self, x: V, low: float, high: float) -> V:
        """Clamps a number to two bounds; NaN stays NaN. Processors have an instruction for each of the two steps."""
        x = self.choose(self.greater(x, high), high, x)
        return self.choose(self.less(x, low), low, x)

    def power_of_two(self, exponent: V) -> V:
        """Returns 2^n as a float of n's width, for an integer n in the range of normal numbers.

        Only the low bits of n matter, as many as a float has above its mantissa.
        """
        wide = self.is_wide(exponent)
        biased = self.iadd(exponent, self.integer(1023 if wide else 127, exponent))
        return self.from_bits(self.shl(biased, 52 if wide else 23))

    def nearest(self, x: V, factor: float) -> tuple[V, V]:
        """Returns the whole number nearest to a product as a float, and an integer with the low bits of that number.

        These are 22 bits for f32 and 51 bits for f64, of which `whole` makes the number. The product must be far below
        2^(mantissa bits).
        """
        magic = self._rounding(x)
        shifted = self.fma(x, self.constant(factor, x), magic)
        return self.sub(shifted, magic), self.bits(shifted)

    def whole(self, low_bits: V, x: V) -> V:
        """Returns the number whose low bits `nearest` returned for x."""
        return self.isub(low_bits, self.bits(self._rounding(x)))

    def _rounding(self, x: V) -> V:
        """A number whose sum with a smaller one has no bits below the point: 1.5 * 2^(mantissa bits)."""
        return self.constant(6755399441055744.0 if self.is_wide(x) else 12582912.0, x)
