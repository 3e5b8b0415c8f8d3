"""Comparisons, and selection by a predicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.table import ir_floats, rounding
from xla_backend_gpu.emulator.table.definition import define
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

_ORDERED: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _compared(op: Instruction, x: Array, y: Array) -> Array:
    """Compares. With a NaN operand, a comparison whose name ends in u is true, any other one is false."""
    name = _UNSIGNED.get(op.modifiers["cmp"], op.modifiers["cmp"])
    source = op.types[-1]
    if not source.is_float:
        return np.asarray(_ORDERED[name](x, y))
    if op.has("ftz"):
        x, y = rounding.flush(x, source), rounding.flush(y, source)
    unordered = np.isnan(x) | np.isnan(y)
    if name in ("num", "nan"):
        return unordered if name == "nan" else ~unordered
    result = _ORDERED[name[:2]](x, y)
    return np.asarray(result | unordered if name.endswith("u") else result & ~unordered)


def _compared_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    name = _UNSIGNED.get(op.modifiers["cmp"], op.modifiers["cmp"])
    source = op.types[-1]
    if not source.is_float:
        prefix = "" if name in ("eq", "ne") else "s" if source.is_signed else "u"
        return b.icmp(prefix + name, x, y)
    if source.bits // source.lanes == 16:
        x, y = (ir_floats.widen(b, source, v, "float") for v in (x, y))
    if op.has("ftz"):
        x, y = (ir_floats.flush(b, source, v) for v in (x, y))
    predicate = {"num": "ord", "nan": "uno"}.get(name) or (f"u{name[:2]}" if name.endswith("u") else f"o{name}")
    return b.fcmp(predicate, x, y)


_COMBINED: dict[str, Callable[..., Any]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def _set(op: Instruction, x: Array, y: Array, other: Array | None = None) -> tuple[Array, Array]:
    holds = _compared(op, x, y)
    if other is None:
        return holds, ~holds
    combine = _COMBINED[op.modifiers["bool"]]
    return combine(holds, other), combine(~holds, other)


def _set_ir(b: IrBuilder, op: Instruction, x: Value, y: Value, other: Value | None = None) -> tuple[Value, ...]:
    holds = _compared_ir(b, op, x, y)
    both = (holds,) if op.operands[1] is None else (holds, b.not_(holds))
    if other is None:
        return both
    name = op.modifiers["bool"]
    return tuple(b.binary(name, each, other) for each in both)


for _ftz, _types in (("", "any"), (".ftz", "f32"), ("", "f16"), ("", "bf16")):
    define(f"setp.cmp{_ftz}.{_types} p|q?, a, b", _set, _set_ir)
    define(f"setp.cmp.bool{_ftz}.{_types} p|q?, a, b, c:pred", _set, _set_ir)


def _set_pair(op: Instruction, x: Array, y: Array, other: Array | None = None) -> tuple[Array, Array]:
    """Returns a predicate for each half of packed operands, the lower one first."""
    holds = _compared(op, x, y)
    if other is None:
        return holds[..., 0], holds[..., 1]
    combine = _COMBINED[op.modifiers["bool"]]
    return combine(holds[..., 0], other), combine(holds[..., 1], other)


def _set_pair_ir(b: IrBuilder, op: Instruction, x: Value, y: Value, other: Value | None = None) -> tuple[Value, Value]:
    halves = zip(*(ir_floats.lanes(b, op.types[-1], v) for v in (x, y)), strict=True)
    low, high = (_compared_ir(b, op, *half) for half in halves)
    if other is None:
        return low, high
    name = op.modifiers["bool"]
    return b.binary(name, low, other), b.binary(name, high, other)


for _type in ("f16x2", "bf16x2"):
    define(f"setp.cmp.{_type} p|q?, a, b", _set_pair, _set_pair_ir)
    define(f"setp.cmp.bool.{_type} p|q?, a, b, c:pred", _set_pair, _set_pair_ir)


def _set_value(op: Instruction, x: Array, y: Array) -> Array:
    """Returns all ones (or 1.0) where the comparison holds, else 0."""
    holds, type_ = _compared(op, x, y), op.type
    true = np.array(1, type_.dtype) if type_.is_float else ~np.zeros((), type_.dtype)
    return np.where(holds, true, np.zeros((), type_.dtype))


def _set_value_ir(b: IrBuilder, op: Instruction, x: Value, y: Value) -> Value:
    holds = _compared_ir(b, op, x, y)
    if op.type.is_float:
        return b.select(holds, ir_floats.constant("float", 1.0), ir_floats.constant("float", 0.0))
    return b.cast("sext", holds, op.type.ir)


define("set.cmp.ftz.to=u32/s32/f32.f32 d, a:U, b:U", _set_value, _set_value_ir)
for _types in ("any", "scalarfloat"):
    define(f"set.cmp.to=u32/s32/f32.{_types} d, a:U, b:U", _set_value, _set_value_ir)


define(
    "selp.any d, a, b, c:pred",
    lambda op, x, y, chosen: np.where(chosen, x, y),
    lambda b, op, x, y, chosen: b.select(chosen, x, y),
)
define(
    "slct.any.s32 d, a, b, c:s32",
    lambda op, x, y, sign: np.where(sign >= 0, x, y),
    lambda b, op, x, y, sign: b.select(b.icmp("sge", sign, b.int_(0, "i32")), x, y),
)

# -- kinds of floats ---------------------------------------------------------------------------------------------------

_SMALLEST = {32: 2.0**-126, 64: 2.0**-1022}
_TESTS: dict[str, Callable[[Array, float], Array]] = {
    "finite": lambda x, least: np.isfinite(x),
    "infinite": lambda x, least: np.isinf(x),
    "number": lambda x, least: ~np.isnan(x),
    "notanumber": lambda x, least: np.isnan(x),
    "normal": lambda x, least: np.isfinite(x) & ((np.abs(x) >= least) | (x == 0)),
    "subnormal": lambda x, least: (np.abs(x) < least) & (x != 0),
}
_CLASSES = {  # bits of llvm.is.fpclass
    "finite": 0x1F8,
    "infinite": 0x204,
    "number": 0x3FC,
    "notanumber": 0x003,
    "normal": 0x168,
    "subnormal": 0x090,
}
define(
    f"testp.test={'/'.join(_TESTS)}.float p, a",
    lambda op, x: _TESTS[op.modifiers["test"]](x, _SMALLEST[op.type.bits]),
    lambda b, op, x: b.intrinsic(
        "is.fpclass", x, b.int_(_CLASSES[op.modifiers["test"]], "i32"), suffixes=(x.type,), result="i1"
    ),
)
