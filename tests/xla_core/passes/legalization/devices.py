"""Devices that have few ops."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import Capabilities

T = ElementType
PRIMITIVES = [name for name, op in OPS.items() if Trait.PRIMITIVE in op.traits]
FUNCTIONS = ("exponential", "log", "sqrt", "sine", "cosine")
MOVEMENT = [name for name in PRIMITIVES if not OPS[name].is_elementwise]
SINGLE = (T.F32, T.S32, T.U32, T.PRED)
DOUBLE = (T.F64, T.S64, T.U64, T.S32, T.PRED)


def device(*types: T, functions: Sequence[str] = (), pairs: T | None = None, narrow: T | None = None) -> Capabilities:
    """The primitive ops of some types, no others; complex numbers and narrow floats are held, and taken apart or converted."""
    made = Capabilities.all_of(types, opcodes=[*PRIMITIVES, *functions])
    if pairs is not None:
        made = made.with_ops(["real", "imag", "complex", *MOVEMENT], [pairs, pairs.component])
    return made if narrow is None else made.with_ops(["convert", "parameter"], [narrow])


DEVICES = {
    "f32": device(*SINGLE),
    "f64": device(*DOUBLE),
    "bf16": device(*SINGLE, narrow=T.BF16),
    "f16": device(*SINGLE, narrow=T.F16),
    "c64": device(*SINGLE, pairs=T.C64),
    "c128": device(*DOUBLE, pairs=T.C128),
}
WITH_FUNCTIONS = {
    "f32": device(*SINGLE, functions=FUNCTIONS),
    "c64": device(*SINGLE, functions=FUNCTIONS, pairs=T.C64),
}
