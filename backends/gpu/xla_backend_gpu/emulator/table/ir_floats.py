"""Floating-point arithmetic in LLVM IR as PTX defines it: 16-bit types, subnormal numbers, NaNs, one rounding."""

from __future__ import annotations

from collections.abc import Callable

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_backend_gpu.emulator.table.rounding import NANS
from xla_core.codegen.llvm import IrBuilder, Value

Compute = Callable[..., Value]


def constant(type_: str, value: float) -> Value:
    """Returns a float constant; `value` may be infinite."""
    return IrBuilder.float_(value, type_)


def lanes(b: IrBuilder, type_: PtxType, value: Value) -> list[Value]:
    """Returns the halves of a packed value, the lower one first. A value that is not packed is the only lane."""
    if type_.lanes == 1:
        return [value]
    lane, half = type_.lane, f"i{type_.lane.bits}"
    return [b.bitcast(b.cast("trunc", part, half), lane.ir) for part in (value, b.lshr(value, lane.bits))]


def pack(b: IrBuilder, type_: PtxType, values: list[Value]) -> Value:
    if type_.lanes == 1:
        return values[0]
    bits = type_.lane.bits
    low, high = (b.cast("zext", b.bitcast(v, f"i{bits}"), type_.ir) for v in values)
    return b.or_(low, b.shl(high, bits))


def widen(b: IrBuilder, type_: PtxType, value: Value, wide: str) -> Value:
    """Converts a lane to float or double. The conversion is exact."""
    name = type_.lane.name
    if name == "f16":
        return b.cast("fpext", b.bitcast(value, "half"), wide)
    if name == "bf16":
        value = b.bitcast(b.shl(b.cast("zext", value, "i32"), 16), "float")
    return value if value.type == wide else b.cast("fpext", value, wide)


def narrow(b: IrBuilder, type_: PtxType, value: Value, mode: str = "rn") -> Value:
    """Rounds a float or a double to a lane of a type. A NaN becomes the device's NaN.

    A double that is not an exact result must have been rounded to odd.
    """
    name = type_.lane.name
    wide = value
    if name == "f64":
        return canonical(b, type_, value)
    if name == "f32":
        result = b.cast("fptrunc", value, "float")
    else:
        narrower = _odd_float(b, value) if value.type == "double" else value
        if name == "f16":
            result = b.bitcast(b.cast("fptrunc", narrower, "half"), "i16")
        else:
            bits = b.bitcast(narrower, "i32")
            even = b.binary("and", b.lshr(bits, 16), b.int_(1, "i32"))
            bits = b.add(bits, b.add(even, b.int_(0x7FFF, "i32")))
            result = b.cast("trunc", b.lshr(bits, 16), "i16")
    if mode != "rn":
        result = _directed(b, type_, result, wide, mode)
    return canonical(b, type_, result, wide)


def _odd_float(b: IrBuilder, x: Value) -> Value:
    """Rounds a double to a float, to odd."""
    f = b.cast("fptrunc", x, "float")
    back = b.cast("fpext", f, "double")
    grown = b.fcmp("ogt", b.intrinsic("fabs", back), b.intrinsic("fabs", x))
    bits = b.bitcast(f, "i32")
    odd = b.or_(b.sub(bits, b.cast("zext", grown, "i32")), b.int_(1, "i32"))
    return b.bitcast(b.select(b.fcmp("une", back, x), odd, bits), "float")


def _directed(b: IrBuilder, type_: PtxType, nearest: Value, exact: Value, mode: str) -> Value:
    """Moves a result that was rounded to nearest to its neighbour, if the mode rounds that way."""
    integer = f"i{type_.bits // type_.lanes}"
    back = widen(b, type_, nearest, exact.type)
    bits = b.bitcast(nearest, integer)
    negative = b.icmp("slt", bits, b.int_(0, integer))
    away, towards = b.int_(1, integer), b.int_(-1, integer)
    if mode == "rz":
        wrong = b.fcmp("ogt", b.intrinsic("fabs", back), b.intrinsic("fabs", exact))
        step = towards
    elif mode == "rp":
        wrong = b.fcmp("olt", back, exact)
        step = b.select(negative, towards, away)
    else:
        wrong = b.fcmp("ogt", back, exact)
        step = b.select(negative, away, towards)
    return b.bitcast(b.add(bits, b.select(wrong, step, b.int_(0, integer))), nearest.type)


def canonical(b: IrBuilder, type_: PtxType, result: Value, tested: Value | None = None) -> Value:
    """Replaces a value by the device's NaN where `tested` is NaN."""
    return b.bitcast(_canonical_bits(b, type_, result, tested or result), result.type)


def _canonical_bits(b: IrBuilder, type_: PtxType, result: Value, tested: Value) -> Value:
    """As `canonical`, as an integer."""
    bits, infinity = ("i64", 0x7FF << 52) if tested.type == "double" else ("i32", 0xFF << 23)
    tested_bits = b.bitcast(tested, bits)
    magnitude = b.binary("and", tested_bits, b.int_((1 << int(bits[1:]) - 1) - 1, bits))
    missing = b.icmp("ugt", magnitude, b.int_(infinity, bits))  # not by fcmp: LLVM may drop a choice between two NaNs
    integer = f"i{type_.lane.bits}"
    given = tested_bits if tested is result and bits == integer else b.bitcast(result, integer)
    return b.select(missing, b.int_(NANS[type_.lane.name], integer), given)


def odd_sum(b: IrBuilder, x: Value, y: Value) -> Value:
    """Adds in double, and rounds to odd."""
    s = b.fadd(x, y)
    t = b.fsub(s, x)
    error = b.fadd(b.fsub(x, b.fsub(s, t)), b.fsub(y, t))
    bits = b.bitcast(s, "i64")
    zero = constant("double", 0.0)
    even = b.icmp("eq", b.binary("and", bits, b.int_(1)), b.int_(0))
    finite = b.fcmp("one", b.intrinsic("fabs", s), constant("double", float("inf")))
    inexact = b.and_(b.and_(b.fcmp("one", error, zero), finite), even)
    inward = b.xor(b.fcmp("olt", error, zero), b.icmp("slt", bits, b.int_(0)))
    step = b.select(inward, b.int_(-1), b.int_(1))
    return b.bitcast(b.add(bits, b.select(inexact, step, b.int_(0))), "double")


def flush(b: IrBuilder, type_: PtxType, value: Value) -> Value:
    """Replaces a subnormal float by a zero of the same sign."""
    small = b.fcmp("olt", b.intrinsic("fabs", value), constant("float", 2.0**-126))
    return b.select(small, b.intrinsic("copysign", constant("float", 0.0), value), value)


def on_floats(compute: Compute, wide: str = "float", *, keep_nan: bool = False) -> Compute:
    """Makes the IR implementation of an instruction on floats of any type from one on `float` and `double`.

    `compute` gets the builder, the instruction and its operands; those of 16 bits are converted to `wide` before. This
    function applies `.ftz` and `.sat`, and replaces NaNs by the device's NaN unless `keep_nan`.
    """

    def of_lane(b: IrBuilder, op: Instruction, *values: Value) -> Value:
        type_ = op.type
        if type_.lane.bits == 16:
            result = compute(b, op, *(widen(b, type_, v, wide) for v in values))
            return narrow(b, type_, _saturated(b, op, result))
        if op.has("ftz"):
            values = tuple(flush(b, type_, v) for v in values)
        result = compute(b, op, *values)
        if op.has("ftz"):
            result = flush(b, type_, result)
        result = _saturated(b, op, result)
        return result if keep_nan else _canonical_bits(b, type_, result, result)

    def ir(b: IrBuilder, op: Instruction, *values: Value) -> Value:
        columns = zip(*(lanes(b, op.type, v) for v in values), strict=True)
        return pack(b, op.type, [of_lane(b, op, *column) for column in columns])

    return ir


def _saturated(b: IrBuilder, op: Instruction, value: Value) -> Value:
    if not op.has("sat"):
        return value
    zero, one = constant(value.type, 0.0), constant(value.type, 1.0)
    low = b.select(b.fcmp("ogt", value, zero), value, zero)
    return b.select(b.fcmp("olt", low, one), low, one)


def computed_in(name: str) -> Compute:
    """Makes a `compute` for `on_floats` of a function of C's library on doubles. Its result is rounded to the type."""

    def compute(b: IrBuilder, op: Instruction, x: Value) -> Value:
        wide = x if x.type == "double" else b.cast("fpext", x, "double")
        result = b.call(name, "double", [wide])
        return result if x.type == "double" else b.cast("fptrunc", result, "float")

    return compute
