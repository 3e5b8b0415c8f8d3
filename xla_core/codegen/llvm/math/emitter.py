"""MathEmitter: elementary functions of f32 and f64 values, and the vocabulary that they are written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xla_core.codegen.llvm.builder import IrBuilder, Value
from xla_core.codegen.llvm.target_abi import TargetAbi

__all__ = ["MATH", "MathEmitter", "MathFunction", "math_function"]

MathFunction = Callable[..., Value]
"""(math emitter, operands, all f32 or all f64) -> value of that type."""

MATH: dict[str, MathFunction] = {}
"""HLO opcode -> our implementation."""


def math_function(*opcodes: str) -> Callable[[MathFunction], MathFunction]:
    """Registers the implementation of some opcodes."""

    def register(function: MathFunction) -> MathFunction:
        for opcode in opcodes:
            MATH[opcode] = function
        return function

    return register


class MathEmitter:
    """Emits elementary functions where its builder stands; the target's own come first."""

    def __init__(self, builder: IrBuilder, abi: TargetAbi) -> None:
        self.b = builder
        self.abi = abi

    def emit(self, name: str, *operands: Value) -> Value:
        """The function that an HLO opcode names."""
        own = self.abi.math(self.b, name, operands)
        if own is not None:
            return own
        saved, self.b.fast_math = self.b.fast_math, ""  # the formulas are exact only in their own order
        result = MATH[name](self, *operands)
        self.b.fast_math = saved
        return result

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def constant(self, value: float, like: Value) -> Value:
        """A constant of another value's type."""
        return self.b.like(value, like)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """The sum x y + z, rounded once where the target has that in one instruction."""
        if self.abi.has_fma:
            return self.b.intrinsic("fma", x, y, z)
        return self.b.fadd(self.b.fmul(x, y), z)

    def add(self, x: Value, y: Value | float) -> Value:
        """The sum."""
        return self.b.fadd(x, self._same(x, y))

    def sub(self, x: Value, y: Value | float) -> Value:
        """The difference."""
        return self.b.fsub(x, self._same(x, y))

    def mul(self, x: Value, y: Value | float) -> Value:
        """The product."""
        return self.b.fmul(x, self._same(x, y))

    def div(self, x: Value, y: Value | float) -> Value:
        """The quotient."""
        return self.b.fdiv(x, self._same(x, y))

    def _same(self, x: Value, y: Value | float) -> Value:
        return y if isinstance(y, Value) else self.b.like(y, x)

    def abs(self, x: Value) -> Value:
        """|x|."""
        return self.b.intrinsic("fabs", x)

    def sqrt(self, x: Value) -> Value:
        """The square root."""
        return self.b.intrinsic("sqrt", x)

    def with_sign(self, magnitude: Value, sign: Value) -> Value:
        """The magnitude with another value's sign."""
        return self.b.intrinsic("copysign", magnitude, sign)

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Horner's scheme, lowest coefficient first."""
        total = self.b.like(coefficients[-1], x)
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(total, x, self.b.like(coefficient, x))
        return total

    def two_sum(self, x: Value, y: Value) -> tuple[Value, Value]:
        """(rounded sum, its error), exact."""
        total = self.b.fadd(x, y)
        part = self.b.fsub(total, x)
        return total, self.b.fadd(self.b.fsub(x, self.b.fsub(total, part)), self.b.fsub(y, part))

    def fast_two_sum(self, x: Value, y: Value) -> tuple[Value, Value]:
        """As two_sum, where |x| >= |y|."""
        total = self.b.fadd(x, y)
        return total, self.b.fsub(y, self.b.fsub(total, x))

    def two_product(self, x: Value, y: Value) -> tuple[Value, Value]:
        """(rounded product, its error), exact where nothing overflows."""
        b = self.b
        product = b.fmul(x, y)
        if self.abi.has_fma:
            return product, b.intrinsic("fma", x, y, b.fneg(product))
        (xh, xl), (yh, yl) = self._halves(x), self._halves(y)
        error = b.fsub(b.fmul(xh, yh), product)
        error = b.fadd(b.fadd(error, b.fmul(xh, yl)), b.fmul(xl, yh))
        return product, b.fadd(error, b.fmul(xl, yl))

    def _halves(self, x: Value) -> tuple[Value, Value]:
        """X as a sum of two numbers of half the bits. (Dekker 1971.)"""
        scaled = self.mul(x, 134217729.0 if x.type == "double" else 4097.0)
        high = self.b.fsub(scaled, self.b.fsub(scaled, x))
        return high, self.b.fsub(x, high)

    # -- comparison and bits -----------------------------------------------------------------------------------------

    def less(self, x: Value, y: float) -> Value:
        """Whether x < y; false for NaN."""
        return self.b.fcmp("olt", x, self.b.like(y, x))

    def greater(self, x: Value, y: float) -> Value:
        """Whether x > y; false for NaN."""
        return self.b.fcmp("ogt", x, self.b.like(y, x))

    def equal(self, x: Value, y: float) -> Value:
        """Whether x == y."""
        return self.b.fcmp("oeq", x, self.b.like(y, x))

    def choose(self, condition: Value, x: Value | float, y: Value | float) -> Value:
        """One of two: x where the condition holds, else y. At least one is a value."""
        like = x if isinstance(x, Value) else y
        assert isinstance(like, Value)
        return self.b.select(condition, self._same(like, x), self._same(like, y))

    def limit(self, x: Value, low: float, high: float) -> Value:
        """The nearest number between two bounds; NaN stays."""
        return self.choose(self.less(x, low), low, self.choose(self.greater(x, high), high, x))

    def bits(self, x: Value) -> Value:
        """The bits of a float."""
        return self.b.bitcast(x, "i64" if x.type == "double" else "i32")

    def integer(self, value: int, like: Value) -> Value:
        """An integer constant as wide as a float or integer."""
        wide = like.type in ("double", "i64")
        return self.b.int_(value, "i64" if wide else "i32")

    def power_of_two(self, exponent: Value) -> Value:
        """2^n of an integer n of the normal range, as the float of its width."""
        wide = exponent.type == "i64"
        biased = self.b.add(exponent, self.integer(1023 if wide else 127, exponent))
        return self.b.bitcast(self.b.shl(biased, 52 if wide else 23), "double" if wide else "float")

    def nearest(self, x: Value) -> tuple[Value, Value]:
        """(the nearest whole number, as a float, as an integer) of a number far below the type's precision."""
        magic = self.b.like(6755399441055744.0 if x.type == "double" else 12582912.0, x)
        shifted = self.b.fadd(x, magic)
        return self.b.fsub(shifted, magic), self.b.sub(self.bits(shifted), self.bits(magic))

    def in_f64(self, name: str, *operands: Value) -> Value:
        """A function of f32 operands by the f64 one, rounded."""
        wide = [self.b.cast("fpext", x, "double") for x in operands]
        return self.b.cast("fptrunc", MATH[name](self, *wide), "float")
