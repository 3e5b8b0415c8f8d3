"""Conversions between types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.ptx.types import PtxType
from xla_backend_gpu.emulator.table import ir_floats, rounding
from xla_backend_gpu.emulator.table.definition import define
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]


def _range(type_: PtxType) -> tuple[int, int]:
    signed = type_.is_signed
    return (-(1 << type_.bits - 1) if signed else 0), (1 << type_.bits - signed) - 1


# -- integers ----------------------------------------------------------------------------------------------------------


def _resized(op: Instruction, x: Array) -> Array:
    to, source = op.types
    if op.has("sat"):
        (low, high), (least, most) = _range(to), _range(source)
        x = np.clip(x, np.array(max(low, least), x.dtype), np.array(min(high, most), x.dtype))
    return x.astype(to.dtype)


def _resized_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    to, source = op.types
    if op.has("sat"):
        (low, high), (least, most) = _range(to), _range(source)
        prefix = "s" if source.is_signed else "u"
        if low > least:
            x = b.intrinsic(f"{prefix}max", x, b.int_(low, x.type))
        if high < most:
            x = b.intrinsic(f"{prefix}min", x, b.int_(high, x.type))
    return b.resize(x, to.ir, signed=source.is_signed)


define("cvt.sat?.int8.int8 d, a:U", _resized, _resized_ir)

# -- floats to integers: NaN gives 0, and what is out of range the nearest end of it -----------------------------------

_ROUNDINGS: dict[str, tuple[Callable[[Array], Array], str]] = {
    "rni": (np.rint, "roundeven"),
    "rzi": (np.trunc, "trunc"),
    "rmi": (np.floor, "floor"),
    "rpi": (np.ceil, "ceil"),
}


def _to_integer(op: Instruction, x: Array) -> Array:
    to, source = op.types
    if op.has("ftz") and source.name == "f32":
        x = rounding.flush(x, source)
    rounded = _ROUNDINGS[op.modifiers["irnd"]][0](x.astype(np.float64))
    low, high = _range(to)
    above, below = rounded >= float(high), rounded <= float(low)
    within = np.where(above | below | np.isnan(rounded), 0.0, rounded).astype(to.dtype)
    result = np.where(above, np.array(high, to.dtype), np.where(below, np.array(low, to.dtype), within))
    return result.astype(to.dtype)


def _to_integer_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    to, source = op.types
    if source.bits == 16:
        x = ir_floats.widen(b, source, x, "float")
    if op.has("ftz") and source.name == "f32":
        x = ir_floats.flush(b, source, x)
    rounded = b.intrinsic(_ROUNDINGS[op.modifiers["irnd"]][1], x)
    mangled = {"float": "f32", "double": "f64"}[x.type]
    name = f"llvm.fpto{'si' if to.is_signed else 'ui'}.sat.{to.ir}.{mangled}"
    return b.call(name, to.ir, [rounded])


define("cvt.irnd.ftz?.sat?.int8.scalarfloat d, a:U", _to_integer, _to_integer_ir)

# -- integers to floats ------------------------------------------------------------------------------------------------


def _from_integer(op: Instruction, x: Array) -> Array:
    result = rounding.from_integers(x, op.type, op.modifiers["rnd"])
    return rounding.saturate(result) if op.has("sat") else result


def _from_integer_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    to, source = op.types
    convert = "sitofp" if source.is_signed else "uitofp"
    mode = op.modifiers["rnd"]
    if to.bits >= 32 and mode == "rn":
        result = b.cast(convert, x, to.ir)
    elif source.bits < 64:
        result = ir_floats.narrow(b, to, b.cast(convert, x, "double"), mode)
    else:
        low = b.binary("and", x, b.int_(0xFFFFFFFF))
        high = b.sub(x, low)
        wide = ir_floats.odd_sum(b, b.cast(convert, high, "double"), b.cast("uitofp", low, "double"))
        result = ir_floats.narrow(b, to, wide, mode)
    if not op.has("sat"):
        return result
    one = {16: b.int_(0x3C00 if to.name == "f16" else 0x3F80, "i16")}.get(to.bits)
    zero = b.int_(0, "i16") if one else ir_floats.constant(result.type, 0.0)
    positive = b.icmp("sgt" if source.is_signed else "ne", x, b.int_(0, x.type))
    return b.select(positive, one or ir_floats.constant(result.type, 1.0), zero)


define("cvt.rnd.sat?.to=f16/bf16/f32.int8 d, a:U", _from_integer, _from_integer_ir)
define("cvt.rnd=rn.sat?.f64.int8 d, a:U", _from_integer, _from_integer_ir)

# -- floats ------------------------------------------------------------------------------------------------------------


def _from_float(op: Instruction, x: Array) -> Array:
    to, source = op.types
    if op.has("ftz"):
        x = rounding.flush(x, source) if source.name == "f32" else x
    mode = op.modifiers.get("anyrnd", "rn")
    wide = x.astype(np.float64)
    if mode in _ROUNDINGS:
        wide, mode = _ROUNDINGS[mode][0](wide), "rn"
    if op.has("relu"):
        wide = np.where(wide > 0, wide, np.where(np.isnan(wide), wide, 0.0))
    result = rounding.narrow(wide, to, mode)
    if op.has("ftz") and to.name == "f32":
        result = rounding.flush(result, to)
    if op.has("sat"):
        result = rounding.saturate(result)
    return rounding.canonical_nan(result, to)


def _from_float_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    to, source = op.types
    wide = "double" if "f64" in (to.name, source.name) else "float"
    if op.has("ftz") and source.name == "f32":
        x = ir_floats.flush(b, source, x)
    x = ir_floats.widen(b, source, x, wide)
    mode = op.modifiers.get("anyrnd", "rn")
    zero, one = ir_floats.constant(wide, 0.0), ir_floats.constant(wide, 1.0)
    if mode in _ROUNDINGS:
        x, mode = b.intrinsic(_ROUNDINGS[mode][1], x), "rn"
    if op.has("relu"):
        x = b.select(b.fcmp("ugt", x, zero), x, zero)
    if op.has("sat"):
        x = b.select(b.fcmp("ogt", x, zero), x, zero)
        x = b.select(b.fcmp("olt", x, one), x, one)
    result = ir_floats.narrow(b, to, x, mode)
    return ir_floats.flush(b, to, result) if op.has("ftz") and to.name == "f32" else result


define("cvt.anyrnd?.ftz?.sat?.scalarfloat.scalarfloat d, a:U", _from_float, _from_float_ir)
define("cvt.anyrnd=rn/rz.relu.to=f16/bf16.f32 d, a:U", _from_float, _from_float_ir)


def _paired(op: Instruction, upper: Array, lower: Array) -> Array:
    halves = np.broadcast_arrays(lower, upper)
    return np.stack([_from_float(op, v) for v in halves], axis=-1)


def _paired_ir(b: IrBuilder, op: Instruction, upper: Value, lower: Value) -> Value:
    return ir_floats.pack(b, op.type, [_from_float_ir(b, op, lower), _from_float_ir(b, op, upper)])


define("cvt.anyrnd=rn/rz.relu?.to=f16x2/bf16x2.f32 d, a:U, b:U", _paired, _paired_ir)


def _to_tf32(op: Instruction, x: Array) -> Array:
    """Rounds away the 13 lowest bits, to nearest, ties away from zero. NaN and infinity are unchanged."""
    bits = x.view(np.uint32)
    rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded, np.where(np.isnan(x), np.uint32(0x7FFFFFFF), bits)).astype(np.uint32)


def _to_tf32_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    bits = b.bitcast(x, "i32")
    rounded = b.binary("and", b.add(bits, b.int_(0x1000, "i32")), b.int_(-0x2000, "i32"))
    finite = b.fcmp("one", b.intrinsic("fabs", x), ir_floats.constant("float", float("inf")))
    kept = b.select(b.fcmp("uno", x, x), b.int_(0x7FFFFFFF, "i32"), bits)
    return b.select(finite, rounded, kept)


define("cvt.rna.tf32.f32 d, a:U", _to_tf32, _to_tf32_ir)
