"""Floating-point instructions with correctly rounded results, and those that only move a value or change its sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table import ir_floats, rounding
from xla_backend_gpu.emulator.table.definition import define
from xla_backend_gpu.emulator.table.ir_floats import on_floats
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]


def on_arrays(compute: Callable[..., Array], *, keep_nan: bool = False) -> Callable[..., Array]:
    """Makes the numpy implementation of an instruction: `compute` with `.ftz`, `.sat` and the device's NaN."""

    def numpy(op: Instruction, *values: Array) -> Array:
        if op.has("ftz"):
            values = tuple(rounding.flush(v, op.type) for v in values)
        result = compute(op, *values)
        if op.has("ftz"):
            result = rounding.flush(result, op.type)
        if op.has("sat"):
            result = rounding.saturate(result)
        return result if keep_nan else rounding.canonical_nan(result, op.type)

    return numpy


def _mode(op: Instruction) -> str:
    return op.modifiers.get("rnd", "rn")


def _sum(op: Instruction, x: Array, y: Array) -> Array:
    if _mode(op) == "rn":
        return np.add(x, y)
    return rounding.narrow(rounding.odd_sum(x.astype(np.float64), y.astype(np.float64)), op.type, _mode(op))


def _product(op: Instruction, x: Array, y: Array) -> Array:
    if _mode(op) == "rn":
        return np.multiply(x, y)
    return rounding.narrow(x.astype(np.float64) * y.astype(np.float64), op.type, _mode(op))


def _sum_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    if _mode(op) == "rn":
        return b.fadd(x, y)
    exact = ir_floats.odd_sum(b, b.cast("fpext", x, "double"), b.cast("fpext", y, "double"))
    return ir_floats.narrow(b, op.type, exact, _mode(op))


def _product_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    if _mode(op) == "rn":
        return b.fmul(x, y)
    exact = b.fmul(b.cast("fpext", x, "double"), b.cast("fpext", y, "double"))
    return ir_floats.narrow(b, op.type, exact, _mode(op))


def _fma(op: Instruction, x: Array, y: Array, z: Array) -> Array:
    result = rounding.fma(x, y, z, op.type, _mode(op))
    return np.where((result > 0) | np.isnan(result), result, np.zeros_like(result)) if op.has("relu") else result


def _fma_ir(b: IrBuilder, op: Instruction, x: Value, y: Value, z: Value) -> Value:
    """Uses the host's fma if that rounds only once. Otherwise it adds the addend to the exact double product and rounds
    to odd.
    """
    if op.type.bits // op.type.lanes == 16:
        result = ir_floats.odd_sum(b, b.fmul(x, y), z)
        zero = ir_floats.constant("double", 0.0)
        return b.select(b.fcmp("ugt", result, zero), result, zero) if op.has("relu") else result
    if _mode(op) == "rn":
        return b.intrinsic("fma", x, y, z)
    x, y, z = (b.cast("fpext", v, "double") for v in (x, y, z))
    return ir_floats.narrow(b, op.type, ir_floats.odd_sum(b, b.fmul(x, y), z), _mode(op))


for _operation, _numpy, _ir in (
    ("add", _sum, _sum_ir),
    (
        "sub",
        lambda op, x, y: np.subtract(x, y) if _mode(op) == "rn" else _sum(op, x, -y),
        lambda b, op, x, y: b.fsub(x, y) if _mode(op) == "rn" else _sum_ir(b, op, x, b.fneg(y)),
    ),
    ("mul", _product, _product_ir),
):
    define(f"{_operation}.rnd?.ftz?.sat?.f32 d, a, b", on_arrays(_numpy), on_floats(_ir))
    define(f"{_operation}.rnd?.ftz?.f32x2 d, a, b", on_arrays(_numpy), on_floats(_ir))
    define(f"{_operation}.rn?.f64 d, a, b", on_arrays(_numpy), on_floats(_ir))
    define(f"{_operation}.rn?.sat?.half d, a, b", on_arrays(_numpy), on_floats(_ir))
for _name in ("fma", "mad"):
    define(f"{_name}.rnd.ftz?.sat?.f32 d, a, b, c", on_arrays(_fma), on_floats(_fma_ir))
    define(f"{_name}.rnd.ftz?.f32x2 d, a, b, c", on_arrays(_fma), on_floats(_fma_ir))
    define(f"{_name}.rn.f64 d, a, b, c", on_arrays(_fma), on_floats(_fma_ir))
define("fma.rn.sat?.relu?.half d, a, b, c", on_arrays(_fma), on_floats(_fma_ir, "double"))

# -- quotients and roots -----------------------------------------------------------------------------------------------


def _one(x: Array) -> Array:
    return np.ones_like(x)


def _reciprocal_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    return b.fdiv(ir_floats.constant(x.type, 1.0), x)


for _types in ("f32", "f64"):
    _ftz = ".ftz?" if _types == "f32" else ""
    define(
        f"div.rn{_ftz}.{_types} d, a, b", on_arrays(lambda op, x, y: x / y), on_floats(lambda b, op, x, y: b.fdiv(x, y))
    )
    define(f"rcp.rn{_ftz}.{_types} d, a", on_arrays(lambda op, x: _one(x) / x), on_floats(_reciprocal_ir))
    define(
        f"sqrt.rn{_ftz}.{_types} d, a",
        on_arrays(lambda op, x: np.sqrt(x)),
        on_floats(lambda b, op, x: b.intrinsic("sqrt", x)),
    )

# -- signs -------------------------------------------------------------------------------------------------------------


def _cleared_sign(b: IrBuilder, op: Instruction, x: Value) -> Value:
    return b.intrinsic("fabs", x)


define("abs.ftz?.f32 d, a", on_arrays(lambda op, x: np.abs(x), keep_nan=True), on_floats(_cleared_sign, keep_nan=True))
define("abs.f64 d, a", on_arrays(lambda op, x: np.abs(x), keep_nan=True), on_floats(_cleared_sign, keep_nan=True))
define(
    "neg.ftz?.f32 d, a",
    on_arrays(lambda op, x: np.negative(x), keep_nan=True),
    on_floats(lambda b, op, x: b.fneg(x), keep_nan=True),
)
define("neg.f64 d, a", lambda op, x: np.negative(x), lambda b, op, x: b.fneg(x))


def _sign_bits(b: IrBuilder, op: Instruction) -> int:
    return 0x80008000 if op.type.lanes == 2 else 0x8000


define(
    "abs.half d, a",
    lambda op, x: np.abs(x),
    lambda b, op, x: b.binary("and", x, b.int_(~_sign_bits(b, op), x.type)),
)
define(
    "neg.half d, a",
    lambda op, x: np.negative(x),
    lambda b, op, x: b.xor(x, b.int_(_sign_bits(b, op), x.type)),
)
define(
    "copysign.float d, a, b",
    lambda op, x, y: np.copysign(y, x),
    lambda b, op, x, y: b.intrinsic("copysign", y, x),
)

# -- extremes: -0 is below +0; a NaN is ignored, or with .NaN the result -----------------------------------------------


def _extreme(least: bool) -> Callable[..., Array]:
    def numpy(op: Instruction, x: Array, y: Array, *rest: Array) -> Array:
        if rest:
            return numpy(op, numpy(op, x, y), *rest)
        below = (x < y) | ((x == y) & np.signbit(x))
        result = np.where(below == least, x, y)
        missing_x, missing_y = np.isnan(x), np.isnan(y)
        if op.has("NaN"):
            return np.where(missing_x, x, np.where(missing_y, y, result))
        return np.where(missing_x, y, np.where(missing_y, x, result))

    return numpy


def _extreme_ir(name: str) -> Callable[..., Value]:
    def ir(b: IrBuilder, op: Instruction, x: Value, y: Value, *rest: Value) -> Value:
        result = b.intrinsic(name if op.has("NaN") else f"{name}num", x, y)
        return ir(b, op, result, *rest) if rest else result

    return ir


for _name, _least in (("min", True), ("max", False)):
    for _syntax in (".ftz?.NaN?.f32 d, a, b", ".ftz?.NaN?.f32 d, a, b, c", ".f64 d, a, b", ".NaN?.half d, a, b"):
        define(
            f"{_name}{_syntax}",
            on_arrays(_extreme(_least)),
            on_floats(_extreme_ir("minimum" if _least else "maximum")),
        )
