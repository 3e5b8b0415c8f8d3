"""Approximate functions, computed in double precision and rounded. A device's results may differ in their last bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table import rounding
from xla_backend_gpu.emulator.table.definition import define
from xla_backend_gpu.emulator.table.floats import on_arrays
from xla_backend_gpu.emulator.table.ir_floats import canonical, computed_in, constant, on_floats
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]


def _in_double(function: Callable[..., Array]) -> Callable[..., Array]:
    def compute(op: Instruction, *values: Array) -> Array:
        wide = function(*(v.astype(np.float64) for v in values))
        return rounding.narrow(wide, op.type) if op.type.bits < 64 else wide

    return on_arrays(compute)


def _double(b: IrBuilder, x: Value) -> Value:
    return b.cast("fpext", x, "double")


def _single(b: IrBuilder, x: Value, like: Value) -> Value:
    return b.cast("fptrunc", x, like.type)


def _quotient_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    return b.fdiv(x, y)


def _reciprocal_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    return b.fdiv(constant(x.type, 1.0), x)


def _root_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    return b.intrinsic("sqrt", x)


def _reciprocal_root_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    root = b.intrinsic("sqrt", _double(b, x))
    return _single(b, b.fdiv(constant("double", 1.0), root), x)


_FUNCTIONS: tuple[tuple[str, Callable[..., Array], Callable[..., Value]], ...] = (
    ("div.kind=approx/full.ftz?.f32 d, a, b", np.divide, on_floats(_quotient_ir)),
    ("rcp.approx.ftz?.f32 d, a", np.reciprocal, on_floats(_reciprocal_ir)),
    ("sqrt.approx.ftz?.f32 d, a", np.sqrt, on_floats(_root_ir)),
    ("rsqrt.approx.ftz?.f32 d, a", lambda x: 1.0 / np.sqrt(x), on_floats(_reciprocal_root_ir)),
    ("sin.approx.ftz?.f32 d, a", np.sin, on_floats(computed_in("sin"))),
    ("cos.approx.ftz?.f32 d, a", np.cos, on_floats(computed_in("cos"))),
    ("lg2.approx.ftz?.f32 d, a", np.log2, on_floats(computed_in("log2"))),
    ("ex2.approx.ftz?.f32 d, a", np.exp2, on_floats(computed_in("exp2"))),
    ("ex2.approx.ftz?.half d, a", np.exp2, on_floats(computed_in("exp2"), "double")),
    ("tanh.approx.f32 d, a", np.tanh, on_floats(computed_in("tanh"))),
    ("tanh.approx.half d, a", np.tanh, on_floats(computed_in("tanh"), "double")),
)
for _syntax, _numpy, _ir in _FUNCTIONS:
    define(_syntax, _in_double(_numpy), _ir)


def _upper_word(x: Array) -> Array:
    """Keeps the upper 32 bits of a double. The approximate functions of f64 read and write only these."""
    return (x.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)


def _upper_word_ir(b: IrBuilder, x: Value) -> Value:
    return b.bitcast(b.binary("and", b.bitcast(x, "i64"), b.int_(-(1 << 32))), "double")


def _smallest_normal(b: IrBuilder, x: Value) -> Value:
    small = b.fcmp("olt", b.intrinsic("fabs", x), constant("double", 2.0**-1022))
    return b.select(small, b.intrinsic("copysign", constant("double", 0.0), x), x)


def _coarse(function: Callable[[Array], Array]) -> Callable[..., Array]:
    return on_arrays(lambda op, x: _upper_word(function(rounding.flush(_upper_word(x), op.type))))


def _coarse_ir(function: Callable[[IrBuilder, Value], Value]) -> Callable[..., Value]:
    def ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
        result = function(b, _smallest_normal(b, _upper_word_ir(b, x)))
        return canonical(b, op.type, _upper_word_ir(b, result))

    return ir


define(
    "rcp.approx.ftz.f64 d, a",
    _coarse(np.reciprocal),
    _coarse_ir(lambda b, x: b.fdiv(constant("double", 1.0), x)),
)
define(
    "rsqrt.approx.ftz?.f64 d, a",
    _coarse(lambda x: 1.0 / np.sqrt(x)),
    _coarse_ir(lambda b, x: b.fdiv(constant("double", 1.0), b.intrinsic("sqrt", x))),
)
