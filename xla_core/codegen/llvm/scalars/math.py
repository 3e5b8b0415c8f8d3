"""MathEmitter: the formulas of elementary functions as straight-line LLVM IR, which LLVM vectorizes in loops.

Errors, as the tests measure them: f32 within 2.5 ULP, most within 1.5; f64 within 2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.target_abi import TargetAbi
from xla_core.elementary import FUNCTIONS, Arithmetic

__all__ = ["MathEmitter"]

_KINDS = {"float": "f32", "double": "f64", "i32": "i32", "i64": "i64", "i1": "i1"}
_TYPES = {kind: type_ for type_, kind in _KINDS.items()}
_FEW = 6  # entries; from so few, comparisons choose faster than a load from a table


class MathEmitter(Arithmetic[Value]):
    """Emits elementary functions: the target's own, where it has one, else our formulas."""

    def __init__(self, builder: IrBuilder, abi: TargetAbi) -> None:
        self.b = builder
        self.abi = abi

    def emit(self, opcode: str, *operands: Value) -> Value:
        """The function that an HLO opcode names."""
        own = self.abi.math(self.b, opcode, operands)
        if own is not None:
            return own
        result: Value = self.exactly(FUNCTIONS[opcode], *operands)
        return result

    def exactly(self, formula: Callable[..., Any], *operands: Any) -> Any:
        """The value of a formula, without fast-math flags: reordering would make it inexact."""
        saved, self.b.fast_math = self.b.fast_math, ""
        result = formula(self, *operands)
        self.b.fast_math = saved
        return result

    # -- values ------------------------------------------------------------------------------------------------------

    @property
    def has_fma(self) -> bool:
        return self.abi.has_fma

    @property
    def has_f64(self) -> bool:
        return True

    def kind(self, x: Value) -> str:
        return _KINDS[x.type]

    def number(self, value: float, kind: str) -> Value:
        if kind[0] == "f":
            return self.b.float_(value, _TYPES[kind])
        return self.b.int_(int(value), kind)

    def window(self, table: Sequence[int], first: int, last: int, place: Value, count: int) -> list[Value]:
        if last - first <= _FEW:
            return super().window(table, first, last, place, count)
        b, data = self.b, b"".join(word.to_bytes(4, "little") for word in table)
        pointer = b.module.constant_bytes(data, 64, self.abi.constant_address_space)
        place = self.extend(place)
        return [b.load("i32", b.gep("i32", pointer, b.add(place, b.int_(i))), align=4) for i in range(count)]

    # -- floats ------------------------------------------------------------------------------------------------------

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        if self.abi.has_fma:
            return self.b.intrinsic("fma", x, y, z)
        return self.b.fadd(self.b.fmul(x, y), z)

    def add(self, x: Value, y: Value | float) -> Value:
        return self.b.fadd(x, self._same(x, y))

    def sub(self, x: Value, y: Value | float) -> Value:
        return self.b.fsub(x, self._same(x, y))

    def mul(self, x: Value, y: Value | float) -> Value:
        return self.b.fmul(x, self._same(x, y))

    def div(self, x: Value, y: Value | float) -> Value:
        return self.b.fdiv(x, self._same(x, y))

    def neg(self, x: Value) -> Value:
        return self.b.fneg(x)

    def abs(self, x: Value) -> Value:
        return self.b.intrinsic("fabs", x)

    def sqrt(self, x: Value) -> Value:
        return self.b.intrinsic("sqrt", x)

    def floor(self, x: Value) -> Value:
        return self.b.intrinsic("floor", x)

    def maximum(self, x: Value, y: Value) -> Value:
        return self.b.intrinsic("maximum", x, y)

    def with_sign(self, magnitude: Value, sign: Value) -> Value:
        return self.b.intrinsic("copysign", magnitude, sign)

    def fcmp(self, predicate: str, x: Value, y: Value) -> Value:
        return self.b.fcmp(predicate, x, y)

    # -- integers, bits, conversions ---------------------------------------------------------------------------------

    def icmp(self, predicate: str, x: Value, y: Value) -> Value:
        return self.b.icmp(predicate, x, y)

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.b.select(condition, x, y)

    def iadd(self, x: Value, y: Value) -> Value:
        return self.b.add(x, y)

    def isub(self, x: Value, y: Value) -> Value:
        return self.b.sub(x, y)

    def imul(self, x: Value, y: Value) -> Value:
        return self.b.mul(x, y, "nuw")

    def udiv(self, x: Value, y: Value) -> Value:
        return self.b.udiv(x, y)

    def and_(self, x: Value, y: Value) -> Value:
        return self.b.and_(x, y)

    def or_(self, x: Value, y: Value) -> Value:
        return self.b.or_(x, y)

    def xor(self, x: Value, y: Value) -> Value:
        return self.b.xor(x, y)

    def not_(self, x: Value) -> Value:
        return self.b.not_(x)

    def shl(self, x: Value, amount: int) -> Value:
        return self.b.shl(x, amount)

    def lshr(self, x: Value, amount: int) -> Value:
        return self.b.lshr(x, amount)

    def ashr(self, x: Value, amount: int) -> Value:
        return self.b.ashr(x, amount)

    def clamp(self, low: Value, x: Value, high: Value) -> Value:
        return self.b.clamp(low, x, high)

    def funnel_shift(self, high: Value, low: Value, amount: Value) -> Value:
        return self.b.intrinsic("fshl", high, low, amount)

    def bits(self, x: Value) -> Value:
        return self.b.bitcast(x, "i64" if x.type == "double" else "i32")

    def from_bits(self, x: Value) -> Value:
        return self.b.bitcast(x, "double" if x.type == "i64" else "float")

    def extend(self, x: Value) -> Value:
        return self.b.cast("zext", x, "i64")

    def truncate(self, x: Value) -> Value:
        return self.b.cast("trunc", x, "i32")

    def to_float(self, x: Value, kind: str) -> Value:
        return self.b.cast("sitofp", x, _TYPES[kind])

    def widen(self, x: Value) -> Value:
        return self.b.cast("fpext", x, "double")

    def narrow(self, x: Value) -> Value:
        return self.b.cast("fptrunc", x, "float")
