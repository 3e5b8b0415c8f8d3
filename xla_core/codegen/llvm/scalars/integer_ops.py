"""Elementwise ops of integers and pred. Arithmetic wraps, and every result is defined."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.ir.types import type_bits
from xla_core.codegen.llvm.loops.ir_array import as_register
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType

IntegerOp = Callable[..., Value]
"""(builder, element type, operands) -> value; all are registers of the element type."""

INTEGER_OPS: dict[Opcode, IntegerOp] = {}


def _op(*opcodes: Opcode) -> Callable[[IntegerOp], IntegerOp]:
    def register(function: IntegerOp) -> IntegerOp:
        """Registers `function`, which may leave any value in the bits that the element type does not have."""

        def emit(b: IrBuilder, t: ElementType, *operands: Value) -> Value:
            return as_register(b, function(b, t, *operands), t)

        for opcode in opcodes:
            INTEGER_OPS[opcode] = emit
        return function

    return register


_PREDICATES = {"EQ": "eq", "NE": "ne", "LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}


def compare_integers(b: IrBuilder, direction: str, lhs: Value, rhs: Value, *, signed: bool) -> Value:
    """HLO's comparison direction of two integers."""
    predicate = _PREDICATES[direction]
    if direction not in ("EQ", "NE"):
        predicate = ("s" if signed else "u") + predicate
    return b.icmp(predicate, lhs, rhs)


def _unsigned(b: IrBuilder, t: ElementType, x: Value) -> Value:
    return b.wrap(x, t.bit_width, signed=False)


def _extreme(b: IrBuilder, t: ElementType, x: Value, y: Value, name: str) -> Value:
    if t is ElementType.PRED:
        return b.or_(x, y) if name == "max" else b.and_(x, y)
    return b.intrinsic(("s" if t.is_signed else "u") + name, x, y)


_PLAIN: dict[Opcode, IntegerOp] = {
    Opcode.ADD: lambda b, t, x, y: b.or_(x, y) if t is ElementType.PRED else b.add(x, y),
    Opcode.SUBTRACT: lambda b, t, x, y: b.xor(x, y) if t is ElementType.PRED else b.sub(x, y),
    Opcode.MULTIPLY: lambda b, t, x, y: b.and_(x, y) if t is ElementType.PRED else b.mul(x, y),
    Opcode.MAXIMUM: lambda b, t, x, y: _extreme(b, t, x, y, "max"),
    Opcode.MINIMUM: lambda b, t, x, y: _extreme(b, t, x, y, "min"),
    Opcode.AND: lambda b, t, x, y: b.binary("and", x, y),
    Opcode.OR: lambda b, t, x, y: b.binary("or", x, y),
    Opcode.XOR: lambda b, t, x, y: b.binary("xor", x, y),
    Opcode.NOT: lambda b, t, x: b.not_(x),
    Opcode.NEGATE: lambda b, t, x: b.sub(b.int_(0, x.type), x),
    Opcode.POPCNT: lambda b, t, x: b.intrinsic("ctpop", _unsigned(b, t, x)),
}
for _opcode, _function in _PLAIN.items():
    _op(_opcode)(_function)


@_op(Opcode.MULHI)
def _mulhi(b: IrBuilder, t: ElementType, x: Value, y: Value) -> Value:
    product = f"i{2 * type_bits(x.type)}"
    extend = "sext" if t.is_signed else "zext"
    wide = b.mul(b.cast(extend, x, product), b.cast(extend, y, product))
    return b.cast("trunc", b.lshr(wide, t.bit_width), x.type)


@_op(Opcode.DIVIDE)
def _divide(b: IrBuilder, t: ElementType, x: Value, y: Value) -> Value:
    """Divides. x / 0 has all bits set. The most negative number divided by -1 is itself."""
    by_zero = b.icmp("eq", y, b.int_(0, y.type))
    one, ones = b.int_(1, y.type), b.int_(-1, y.type)
    if not t.is_signed:
        return b.select(by_zero, ones, b.udiv(x, b.select(by_zero, one, y)))
    overflow = _overflows(b, t, x, y)
    quotient = b.binary("sdiv", x, b.select(b.or_(by_zero, overflow), one, y))
    return b.select(by_zero, ones, quotient)


@_op(Opcode.REMAINDER)
def _remainder(b: IrBuilder, t: ElementType, x: Value, y: Value) -> Value:
    """Computes the remainder. x rem 0 is x. The most negative number rem -1 is 0."""
    by_zero = b.icmp("eq", y, b.int_(0, y.type))
    one = b.int_(1, y.type)
    if not t.is_signed:
        return b.select(by_zero, x, b.urem(x, b.select(by_zero, one, y)))
    overflow = _overflows(b, t, x, y)
    return b.select(by_zero, x, b.binary("srem", x, b.select(b.or_(by_zero, overflow), one, y)))


def _overflows(b: IrBuilder, t: ElementType, x: Value, y: Value) -> Value:
    least = b.int_(-(1 << t.bit_width - 1), x.type)
    return b.and_(b.icmp("eq", x, least), b.icmp("eq", y, b.int_(-1, y.type)))


@_op(Opcode.POWER)
def _power(b: IrBuilder, t: ElementType, x: Value, y: Value) -> Value:
    """Computes the power by repeated squaring. A negative exponent gives 1 for base 1, 1 or -1 for base -1, else 0."""
    if t is ElementType.PRED:
        return b.or_(x, b.not_(y))
    one, zero = b.int_(1, x.type), b.int_(0, x.type)
    result, square = one, x
    for bit in range(t.bit_width - 1 if t.is_signed else t.bit_width):
        has = b.icmp("ne", b.binary("and", y, b.int_(1 << bit, y.type)), zero)
        result = b.mul(result, b.select(has, square, one))
        square = b.mul(square, square)
    if not t.is_signed:
        return result
    odd = b.icmp("ne", b.binary("and", y, one), zero)
    minus = b.select(odd, b.int_(-1, x.type), one)
    negative = b.select(b.icmp("eq", x, b.int_(-1, x.type)), minus, zero)
    negative = b.select(b.icmp("eq", x, one), one, negative)
    return b.select(b.icmp("slt", y, zero), negative, result)


@_op(Opcode.ABS)
def _abs(b: IrBuilder, t: ElementType, x: Value) -> Value:
    if not t.is_signed:
        return x
    flag = b.bool_(False)  # the most negative number is its own absolute value
    name = f"llvm.abs.{x.type}"
    b.module.declare(name, x.type, [x.type, "i1"])
    return b.emit(x.type, f"call {x.type} @{name}({x}, {flag})")


@_op(Opcode.SIGN)
def _sign(b: IrBuilder, t: ElementType, x: Value) -> Value:
    zero, one = b.int_(0, x.type), b.int_(1, x.type)
    positive = b.select(b.icmp("ne", x, zero), one, zero)
    return b.select(b.icmp("slt", x, zero), b.int_(-1, x.type), positive) if t.is_signed else positive


def _shift(opcode: str) -> IntegerOp:
    """Makes an emitter of shifts. An amount outside of [0, width) gives 0, or copies of the sign bit."""

    def emit(b: IrBuilder, t: ElementType, x: Value, y: Value) -> Value:
        last = b.int_(t.bit_width - 1, y.type)
        inside = b.icmp("ule", y, last)
        if opcode == "ashr":
            return b.binary("ashr", b.wrap(x, t.bit_width, signed=True), b.select(inside, y, last))
        # From a select in place of `umin`, LLVM concludes that NVPTX may take the amount's lowest 32 bits alone.
        shifted = b.binary(opcode, _unsigned(b, t, x), b.intrinsic("umin", y, last))
        return b.select(inside, shifted, b.int_(0, x.type))

    return emit


_op(Opcode.SHIFT_LEFT)(_shift("shl"))
_op(Opcode.SHIFT_RIGHT_ARITHMETIC)(_shift("ashr"))
_op(Opcode.SHIFT_RIGHT_LOGICAL)(_shift("lshr"))


@_op(Opcode.COUNT_LEADING_ZEROS)
def _clz(b: IrBuilder, t: ElementType, x: Value) -> Value:
    name = f"llvm.ctlz.{x.type}"
    b.module.declare(name, x.type, [x.type, "i1"])
    zeros = b.emit(x.type, f"call {x.type} @{name}({_unsigned(b, t, x)}, i1 false)")
    return b.sub(zeros, b.int_(type_bits(x.type) - t.bit_width, x.type))
