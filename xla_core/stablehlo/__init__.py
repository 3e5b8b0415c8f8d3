"""StableHLO: its op tree, readers, op table, verifier, and the lowering to HLO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.stablehlo import ops as _ops
from xla_core.stablehlo.bytecode import parse_bytecode
from xla_core.stablehlo.ir import Block, FunctionType, Module, Op, Region, TensorType, TokenType, TupleType, Value
from xla_core.stablehlo.lowering import lower
from xla_core.stablehlo.parser import parse_text, split_modules
from xla_core.stablehlo.refine import refine
from xla_core.stablehlo.verifier import verify

if TYPE_CHECKING:
    from xla_core.hlo.module import HloModule

__all__ = [
    "Block",
    "FunctionType",
    "Module",
    "Op",
    "Region",
    "TensorType",
    "TokenType",
    "TupleType",
    "Value",
    "lower",
    "parse_bytecode",
    "parse_text",
    "refine",
    "split_modules",
    "to_hlo",
    "verify",
]


def to_hlo(source: str | bytes, file: str = "") -> HloModule:
    """Reads StableHLO text or bytecode, verifies it, and lowers it to HLO.

    Raises XlaError with the place that is wrong.
    """
    module = parse_text(source, file) if isinstance(source, str) else parse_bytecode(source, file)
    verify(module)
    return lower(module)


del _ops  # imported for the op table that it fills
