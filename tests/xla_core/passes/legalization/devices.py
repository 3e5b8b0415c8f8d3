"""Devices that have few ops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.hlo.evaluation.environment import Value
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

T = ElementType
PRIMITIVES = [name for name, op in OPS.items() if Trait.PRIMITIVE in op.traits]
FUNCTIONS = ("exponential", "log", "sqrt", "sine", "cosine")
MOVEMENT = [name for name in PRIMITIVES if not OPS[name].is_elementwise]
SINGLE = (T.F32, T.S32, T.U32, T.PRED)
SIMPLE = Capabilities.all_of([*SINGLE, T.F64], opcodes=PRIMITIVES)
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


def legal(module: HloModule, capabilities: Capabilities = SIMPLE) -> HloModule:
    """Legalizes a module, which then has only instructions that the device supports."""
    legalize(module, capabilities.check)
    verify(module)
    assert not unsupported_instructions(module, capabilities.check)
    return module


def rewritten(text: str, *arguments: np.ndarray, capabilities: Capabilities = SIMPLE) -> list[tuple[Value, Value]]:
    """The results of a program as it is, each with that of the program for the device."""
    before = evaluate(parse_hlo(text), *arguments)
    after = evaluate(legal(parse_hlo(text), capabilities), *arguments)
    return list(zip(before, after, strict=True))
