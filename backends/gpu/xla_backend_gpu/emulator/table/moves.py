"""Moves, and conversions between generic addresses and those of a state space."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.ptx.program import Instruction
from xla_backend_gpu.emulator.spaces import WINDOW_BYTES, window
from xla_backend_gpu.emulator.table.definition import define
from xla_core.codegen.llvm import IrBuilder, Value

Array = npt.NDArray[Any]

for _types in ("any", "half", "pred", "b128"):
    define(f"mov.{_types} d, a", lambda op, x: x, lambda b, op, x: x)

# -- generic addresses -------------------------------------------------------------------------------------------------


def _window(op: Instruction) -> int:
    base = window(op.modifiers["space"].partition("::")[0])
    return -base if op.has("to") else base


for _to in ("", ".to"):
    define(
        f"cvta{_to}.space.u64 d, a",
        lambda op, x: x + np.array(_window(op) & (1 << 64) - 1, np.uint64),
        lambda b, op, x: b.add(x, b.int_(_window(op))),
    )


def _lies_in(op: Instruction, x: Array) -> Array:
    space = op.modifiers["space"].partition("::")[0]
    inside = {s: x - np.uint64(window(s)) < np.uint64(WINDOW_BYTES) for s in ("shared", "local")}
    return inside[space] if space in inside else ~(inside["shared"] | inside["local"])


def _lies_in_ir(b: IrBuilder, op: Instruction, x: Value) -> Value:
    space = op.modifiers["space"].partition("::")[0]
    inside = {s: b.icmp("ult", b.sub(x, b.int_(window(s))), b.int_(WINDOW_BYTES)) for s in ("shared", "local")}
    return inside[space] if space in inside else b.not_(b.or_(inside["shared"], inside["local"]))


define("isspacep.space p, a:u64", _lies_in, _lies_in_ir)
