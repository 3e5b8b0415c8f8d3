"""Integer arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table.definition import define
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]


def plain(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    """Makes the numpy implementation of an instruction from a function of its operands."""
    return lambda op, *values: ufunc(*values)


def binary(opcode: str) -> Callable[..., Value]:
    """Makes the IR implementation of an instruction from an LLVM instruction of two operands."""
    return lambda b, op, x, y: b.binary(opcode, x, y)


def chosen(predicate: str) -> Callable[..., Value]:
    """Makes an IR implementation that chooses the first operand if the comparison with the second one, `lt` or `gt`,
    holds.

    Without optimization, LLVM takes longer to compile its intrinsics for minima and maxima.
    """
    return lambda b, op, x, y: b.select(b.icmp(f"{'s' if op.type.is_signed else 'u'}{predicate}", x, y), x, y)


def _clamped(value: Array, bits: int) -> Array:
    return np.clip(value, -(1 << bits - 1), (1 << bits - 1) - 1)


define("add.int d, a, b", plain(np.add), lambda b, op, x, y: b.add(x, y))
define("sub.int d, a, b", plain(np.subtract), lambda b, op, x, y: b.sub(x, y))
define(
    "add.sat.s32 d, a, b",
    lambda op, x, y: _clamped(x.astype(np.int64) + y, 32).astype(np.int32),
    lambda b, op, x, y: b.intrinsic("sadd.sat", x, y),
)
define(
    "sub.sat.s32 d, a, b",
    lambda op, x, y: _clamped(x.astype(np.int64) - y, 32).astype(np.int32),
    lambda b, op, x, y: b.intrinsic("ssub.sat", x, y),
)

# -- products ----------------------------------------------------------------------------------------------------------


def _high(op: Instruction, x: Array, y: Array) -> Array:
    """Returns the upper half of a product. For 64 bits, it is a sum of products of 32-bit halves."""
    bits = op.type.bits
    if bits < 64:
        wide = np.dtype(f"{x.dtype.kind}{x.dtype.itemsize * 2}")
        return np.asarray(x.astype(wide) * y.astype(wide) >> np.array(bits, wide)).astype(x.dtype)
    a, c = np.broadcast_arrays(x.view(np.uint64), y.view(np.uint64))
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, c0, c1 = a & low, a >> half, c & low, c >> half
    middle = (a0 * c0 >> half) + (a1 * c0 & low) + (a0 * c1 & low)
    high = a1 * c1 + (a1 * c0 >> half) + (a0 * c1 >> half) + (middle >> half)
    if op.type.is_signed:
        high = high - np.where(x < 0, c, 0).astype(np.uint64) - np.where(y < 0, a, 0).astype(np.uint64)
    return np.asarray(high).view(x.dtype)


def _high_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    bits = op.type.bits
    product = _wide_ir(b, op, x, y)
    return b.cast("trunc", b.lshr(product, bits), f"i{bits}")


def _wide(op: Instruction, x: Array, y: Array) -> Array:
    wide = np.dtype(f"{x.dtype.kind}{x.dtype.itemsize * 2}")
    return np.asarray(x.astype(wide) * y.astype(wide))


def _wide_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    extend = "sext" if op.type.is_signed else "zext"
    wide = f"i{2 * op.type.bits}"
    return b.mul(b.cast(extend, x, wide), b.cast(extend, y, wide))


def _product(op: Instruction, x: Array, y: Array) -> Array:
    return _high(op, x, y) if op.modifiers["part"] == "hi" else np.multiply(x, y)


def _product_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    return _high_ir(b, op, x, y) if op.modifiers["part"] == "hi" else b.mul(x, y)


define("mul.part.int d, a, b", _product, _product_ir)
define("mul.wide.short d:W, a, b", _wide, _wide_ir)
define(
    "mad.part.int d, a, b, c",
    lambda op, x, y, z: _product(op, x, y) + z,
    lambda b, op, x, y, z: b.add(_product_ir(b, op, x, y), z),
)
define(
    "mad.wide.short d:W, a, b, c:W",
    lambda op, x, y, z: _wide(op, x, y) + z,
    lambda b, op, x, y, z: b.add(_wide_ir(b, op, x, y), z),
)

# -- quotients: of zero, the device's software gives all ones, and the remainder is the dividend -----------------------


def _divided(op: Instruction, x: Array, y: Array) -> tuple[Array, Array]:
    """Returns the quotient, rounded towards zero, and the remainder. The least integer divided by -1 is itself."""
    zero = np.zeros((), x.dtype)
    by_zero = y == 0
    safe = np.where(by_zero, np.ones((), x.dtype), y)
    if op.type.is_signed:
        minus = safe == -1
        safe = np.where(minus, np.ones((), x.dtype), safe)
        remainder = np.fmod(x, safe)
        quotient = np.where(minus, zero - x, (x - remainder) // safe)
    else:
        quotient = x // safe
        remainder = x - quotient * safe
    return np.where(by_zero, ~zero, quotient), np.where(by_zero, x, remainder)


def _division_ir(opcode: str) -> Callable[..., Value]:
    def ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
        is_quotient, one = opcode == "div", b.int_(1, x.type)
        by_zero = b.icmp("eq", y, b.int_(0, x.type))
        special = b.icmp("eq", y, b.int_(-1, x.type)) if op.type.is_signed else by_zero
        safe = b.select(b.or_(by_zero, special), one, y)
        result = b.binary(("s" if op.type.is_signed else "u") + opcode, x, safe)
        if op.type.is_signed:
            result = b.select(special, b.sub(b.int_(0, x.type), x) if is_quotient else b.int_(0, x.type), result)
        return b.select(by_zero, b.int_(-1, x.type) if is_quotient else x, result)

    return ir


define("div.int d, a, b", lambda op, x, y: _divided(op, x, y)[0], _division_ir("div"))
define("rem.int d, a, b", lambda op, x, y: _divided(op, x, y)[1], _division_ir("rem"))

# -- the rest ----------------------------------------------------------------------------------------------------------

define(
    "abs.signed d, a",
    plain(np.abs),
    lambda b, op, x: b.select(b.icmp("slt", x, b.int_(0, x.type)), b.sub(b.int_(0, x.type), x), x),
)
define("neg.signed d, a", plain(np.negative), lambda b, op, x: b.sub(b.int_(0, x.type), x))
define("min.int d, a, b", plain(np.minimum), chosen("lt"))
define("max.int d, a, b", plain(np.maximum), chosen("gt"))
define(
    "sad.int d:T, a, b, c",
    lambda op, x, y, z: z + (np.maximum(x, y) - np.minimum(x, y)),
    lambda b, op, x, y, z: b.add(z, b.sub(chosen("gt")(b, op, x, y), chosen("lt")(b, op, x, y))),
)
