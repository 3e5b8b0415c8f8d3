"""Elementwise ops of floats. All operands and results are f32, or all are f64."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.scalars.math import MathEmitter
from xla_core.elementary import FUNCTIONS
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

FloatOp = Callable[..., Value]
"""(math emitter, operands) -> value."""


def _remainder(m: MathEmitter, x: Value, y: Value) -> Value:
    """LLVM calls fmod, or expands the remainder inexactly on targets without one; these have code of their own."""
    own = m.abi.math(m.b, Opcode.REMAINDER, (x, y))
    return own or m.b.emit(x.type, f"frem {x}, {y.name}")


ARITHMETIC_OPS: dict[Opcode, FloatOp] = {
    Opcode.ADD: lambda m, x, y: m.b.fadd(x, y),
    Opcode.SUBTRACT: lambda m, x, y: m.b.fsub(x, y),
    Opcode.MULTIPLY: lambda m, x, y: m.b.fmul(x, y),
    Opcode.DIVIDE: lambda m, x, y: m.b.fdiv(x, y),
    Opcode.SQRT: lambda m, x: m.b.intrinsic(Opcode.SQRT, x),
}
"""Ops that are one instruction on most processors. A NaN is an operand's, or the one that the processor makes."""

FLOAT_OPS: dict[Opcode, FloatOp] = {
    **ARITHMETIC_OPS,
    Opcode.REMAINDER: _remainder,
    # LLVM tests the first operand for NaN. A reduction passes the element second, which is there before the total.
    Opcode.MAXIMUM: lambda m, x, y: m.target_or_intrinsic(Opcode.MAXIMUM, y, x),
    Opcode.MINIMUM: lambda m, x, y: m.target_or_intrinsic(Opcode.MINIMUM, y, x),
    Opcode.NEGATE: lambda m, x: m.b.fneg(x),
    Opcode.ABS: lambda m, x: m.b.intrinsic("fabs", x),
    Opcode.FLOOR: lambda m, x: m.b.intrinsic(Opcode.FLOOR, x),
    Opcode.CEIL: lambda m, x: m.b.intrinsic(Opcode.CEIL, x),
    Opcode.ROUND_NEAREST_EVEN: lambda m, x: m.b.intrinsic("roundeven", x),
    Opcode.ROUND_NEAREST_AFZ: lambda m, x: m.b.intrinsic("round", x),
}


def _math(name: str) -> FloatOp:
    return lambda m, *operands: m.emit(name, *operands)


for _name in FUNCTIONS:
    FLOAT_OPS.setdefault(Opcode(_name), _math(_name))


def _sign(m: MathEmitter, x: Value) -> Value:
    """Returns 1 with the sign of x, or x itself if it is zero or NaN."""
    b = m.b
    one = b.intrinsic("copysign", b.like(1.0, x), x)
    return b.select(b.fcmp("une", x, b.like(0.0, x)), b.select(b.fcmp("uno", x, x), x, one), x)


FLOAT_OPS[Opcode.SIGN] = _sign


def reduce_precision(
    b: IrBuilder, x: Value, element_type: ElementType, exponent_bits: int, mantissa_bits: int
) -> Value:
    """Rounds x, a float of at least 16 bits, to a format with fewer bits, ties to even.

    Values too large for the format become infinity, values too small zero, and NaN infinity if the format has no
    mantissa. The rounding is of the bits of x's own type, so that a denormal is rounded at its own last place.
    """
    own_exponent, own_mantissa = element_type.exponent_bits, element_type.mantissa_bits
    width = 1 + own_exponent + own_mantissa
    type_ = f"i{width}"
    before = bits = b.bitcast(x, type_)
    sign_mask, field = 1 << width - 1, ((1 << own_exponent) - 1) << own_mantissa
    sign = b.binary("and", bits, b.int_(-sign_mask, type_))
    if mantissa_bits < own_mantissa:
        shift = own_mantissa - mantissa_bits
        last = b.binary("and", b.lshr(bits, shift), b.int_(1, type_))
        bits = b.add(bits, b.add(last, b.int_((1 << shift - 1) - 1, type_)))
        bits = b.binary("and", bits, b.int_(-(1 << shift), type_))
    if exponent_bits < own_exponent:
        own_bias, bias = (1 << own_exponent - 1) - 1, (1 << exponent_bits - 1) - 1
        exponent = b.binary("and", bits, b.int_(field, type_))
        over = b.icmp("ugt", exponent, b.int_((own_bias + bias) << own_mantissa, type_))
        under = b.icmp("ule", exponent, b.int_((own_bias - bias) << own_mantissa, type_))
        bits = b.select(over, b.or_(sign, b.int_(field, type_)), bits)
        bits = b.select(under, sign, bits)
    is_nan = b.icmp("ugt", b.binary("and", before, b.int_(sign_mask - 1, type_)), b.int_(field, type_))
    nan = before if mantissa_bits else b.or_(sign, b.int_(field, type_))
    return b.bitcast(b.select(is_nan, nan, bits), x.type)
