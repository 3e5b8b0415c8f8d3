"""StableHLO: its op tree, readers, op table, verifier, and the lowering to HLO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.stablehlo import ops as _ops
from xla_core.stablehlo.attributes import DenseElements
from xla_core.stablehlo.bytecode import parse_bytecode
from xla_core.stablehlo.ir import (
    Block,
    FunctionType,
    Module,
    Op,
    QuantizedType,
    Region,
    TensorType,
    TokenType,
    TupleType,
    Value,
)
from xla_core.stablehlo.lowering import lower
from xla_core.stablehlo.op_table import OPS, OpDef
from xla_core.stablehlo.parser import parse_text, split_modules
from xla_core.stablehlo.polymorphism import PolymorphicProgram, source_lines
from xla_core.stablehlo.refine import refine
from xla_core.stablehlo.verifier import verify

if TYPE_CHECKING:
    from xla_core.hlo.module import HloModule

__all__ = [
    "OPS",
    "Block",
    "DenseElements",
    "FunctionType",
    "Module",
    "Op",
    "OpDef",
    "PolymorphicProgram",
    "QuantizedType",
    "Region",
    "TensorType",
    "TokenType",
    "TupleType",
    "Value",
    "lower",
    "parse_bytecode",
    "parse_text",
    "read",
    "refine",
    "split_modules",
    "to_hlo",
    "verify",
]


def read(source: str | bytes, file: str = "") -> Module:
    """Reads StableHLO text or bytecode, and verifies it. Raises XlaError with the place that is wrong."""
    module = parse_text(source, file) if isinstance(source, str) else parse_bytecode(source, file)
    with source_lines(module):
        verify(module)
    return module


def to_hlo(source: str | bytes, file: str = "") -> HloModule:
    """Reads StableHLO text or bytecode, verifies it, and lowers it to HLO.

    Raises XlaError with the place that is wrong.
    """
    module = read(source, file)
    with source_lines(module):
        return lower(module)


del _ops  # imported for the op table that it fills
