"""What elementwise ops mean for floats. Operands and results are all f32 or all f64."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.llvm.builder import IrBuilder, Value
from xla_core.codegen.llvm.math import MATH, MathEmitter
from xla_core.codegen.llvm.types import type_bits

__all__ = ["FLOAT_OPS", "reduce_precision"]

FloatOp = Callable[..., Value]
"""(math emitter, operands) -> value."""

FLOAT_OPS: dict[str, FloatOp] = {
    "add": lambda m, x, y: m.b.fadd(x, y),
    "subtract": lambda m, x, y: m.b.fsub(x, y),
    "multiply": lambda m, x, y: m.b.fmul(x, y),
    "divide": lambda m, x, y: m.b.fdiv(x, y),
    "remainder": lambda m, x, y: m.b.emit(x.type, f"frem {x}, {y.name}"),
    "maximum": lambda m, x, y: m.b.intrinsic("maximum", x, y),
    "minimum": lambda m, x, y: m.b.intrinsic("minimum", x, y),
    "negate": lambda m, x: m.b.fneg(x),
    "abs": lambda m, x: m.b.intrinsic("fabs", x),
    "floor": lambda m, x: m.b.intrinsic("floor", x),
    "ceil": lambda m, x: m.b.intrinsic("ceil", x),
    "round-nearest-even": lambda m, x: m.b.intrinsic("roundeven", x),
    "round-nearest-afz": lambda m, x: m.b.intrinsic("round", x),
    "sqrt": lambda m, x: m.b.intrinsic("sqrt", x),
}


def _math(name: str) -> FloatOp:
    return lambda m, *operands: m.emit(name, *operands)


for _name in MATH:
    FLOAT_OPS[_name] = _math(_name)


def _sign(m: MathEmitter, x: Value) -> Value:
    """+-1 with x's sign; zero keeps its own, NaN stays."""
    b = m.b
    one = b.intrinsic("copysign", b.like(1.0, x), x)
    return b.select(b.fcmp("une", x, b.like(0.0, x)), b.select(b.fcmp("uno", x, x), x, one), x)


FLOAT_OPS["sign"] = _sign


def reduce_precision(b: IrBuilder, x: Value, exponent_bits: int, mantissa_bits: int) -> Value:
    """X rounded to a format of so many bits: ties to even, too large to infinity, too small to zero; NaN stays
    where there is a mantissa to hold it.
    """
    width = type_bits(x.type)
    own_mantissa = 52 if width == 64 else 23
    own_exponent = width - 1 - own_mantissa
    type_ = f"i{width}"
    bits = b.bitcast(x, type_)
    sign_mask = 1 << width - 1
    if mantissa_bits < own_mantissa:
        shift = own_mantissa - mantissa_bits
        last = b.binary("and", b.lshr(bits, shift), b.int_(1, type_))
        bits = b.add(bits, b.add(last, b.int_((1 << shift - 1) - 1, type_)))
        bits = b.binary("and", bits, b.int_(-(1 << shift), type_))
    if exponent_bits < own_exponent:
        own_bias, bias = (1 << own_exponent - 1) - 1, (1 << exponent_bits - 1) - 1
        field = ((1 << own_exponent) - 1) << own_mantissa
        exponent = b.binary("and", bits, b.int_(field, type_))
        sign = b.binary("and", bits, b.int_(-sign_mask, type_))
        over = b.icmp("ugt", exponent, b.int_((own_bias + bias) << own_mantissa, type_))
        under = b.icmp("ule", exponent, b.int_((own_bias - bias) << own_mantissa, type_))
        bits = b.select(over, b.or_(sign, b.int_(field, type_)), bits)
        bits = b.select(under, sign, bits)
    nan = x if mantissa_bits else b.intrinsic("copysign", b.like(float("inf"), x), x)
    return b.select(b.fcmp("uno", x, x), nan, b.bitcast(bits, x.type))
