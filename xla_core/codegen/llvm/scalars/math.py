"""MathEmitter: the formulas of elementary functions as straight-line LLVM IR, which LLVM vectorizes in loops.

Errors, as the tests measure them: f32 within 2.5 ULP, most within 1.5; f64 within 2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.target_abi import TargetAbi
from xla_core.elementary import FUNCTIONS, Arithmetic

_KINDS = {"float": "f32", "double": "f64", "i32": "i32", "i64": "i64", "i1": "i1"}
_TYPES = {kind: type_ for type_, kind in _KINDS.items()}
_FEW = 6  # entries; up to this many, selects are faster than a load from a table


def _builders(method: str) -> Callable[..., Value]:
    """Returns a method of `MathEmitter` that is the builder's method of this name."""
    return lambda self, *operands: getattr(self.b, method)(*operands)


def _intrinsic(name: str) -> Callable[..., Value]:
    return lambda self, *operands: self.b.intrinsic(name, *operands)


def _arithmetic(method: str) -> Callable[..., Value]:
    """Returns a method whose second operand may be a Python number."""
    return lambda self, x, y: getattr(self.b, method)(x, self.coerce(y, x))


class MathEmitter(Arithmetic[Value]):
    """Emits elementary functions: the target's own, where it has one, else our formulas."""

    def __init__(self, builder: IrBuilder, abi: TargetAbi) -> None:
        self.b = builder
        self.abi = abi

    def emit(self, opcode: str, *operands: Value) -> Value:
        """Emits the function that an HLO opcode names."""
        own = self.abi.math(self.b, opcode, operands)
        if own is not None:
            return own
        result: Value = self.exactly(FUNCTIONS[opcode], *operands)
        return result

    def exactly(self, formula: Callable[..., Any], *operands: Any) -> Any:
        """Emits a formula without fast-math flags, because reordering would make it inexact."""
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
        b, pointer = self.b, self._stored(table, np.uint32)
        place = self.extend(place)
        return [b.load("i32", b.gep("i32", pointer, b.add(place, b.int_(i))), align=4) for i in range(count)]

    def entry(self, table: Sequence[float], place: Value) -> Value:
        b, pointer = self.b, self._stored(table, np.float64)
        if not self.abi.parallel.has_blocks:
            return b.load("double", b.gep("double", pointer, self.extend(place)), align=8)
        # A thread of a grid reads memory only for another entry than the first, which few numbers need.
        first, before = self.number(table[0], "f64"), b.block
        with b.if_(self.icmp("ne", place, self.number(0, "i32"))):
            other, within = b.load("double", b.gep("double", pointer, self.extend(place)), align=8), b.block
        return b.phi((first, before), (other, within))

    def _stored(self, table: Sequence[float], dtype: type[np.generic]) -> Value:
        return self.b.module.constant_array(np.array(table, dtype), 64, self.abi.constant_address_space)

    # -- floats ------------------------------------------------------------------------------------------------------

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        if self.abi.has_fma:
            return self.b.intrinsic("fma", x, y, z)
        return self.b.fadd(self.b.fmul(x, y), z)

    add = _arithmetic("fadd")
    sub = _arithmetic("fsub")
    mul = _arithmetic("fmul")
    div = _arithmetic("fdiv")
    neg = _builders("fneg")
    abs = _intrinsic("fabs")
    sqrt = _intrinsic("sqrt")
    floor = _intrinsic("floor")
    with_sign = _intrinsic("copysign")
    fcmp = _builders("fcmp")

    def maximum(self, x: Value, y: Value) -> Value:
        return self.target_or_intrinsic("maximum", x, y)

    def target_or_intrinsic(self, name: str, *operands: Value) -> Value:
        """Emits the target's own code for a function that LLVM has an intrinsic for, or the intrinsic."""
        return self.abi.math(self.b, name, operands) or self.b.intrinsic(name, *operands)

    # -- integers, bits, conversions ---------------------------------------------------------------------------------

    icmp = _builders("icmp")
    select = _builders("select")
    iadd = _builders("add")
    isub = _builders("sub")
    udiv = _builders("udiv")
    and_ = _builders("and_")
    or_ = _builders("or_")
    xor = _builders("xor")
    not_ = _builders("not_")
    shl = _builders("shl")
    lshr = _builders("lshr")
    ashr = _builders("ashr")
    clamp = _builders("clamp")
    funnel_shift = _intrinsic("fshl")

    def imul(self, x: Value, y: Value) -> Value:
        return self.b.mul(x, y, "nuw")

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
