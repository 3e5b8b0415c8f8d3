"""StableHLO: its op tree, readers, op table, verifier, and the lowering to HLO."""

from __future__ import annotations

from xla_core.stablehlo.ir import Block, FunctionType, Module, Op, Region, TensorType, TokenType, TupleType, Value
from xla_core.stablehlo.parser import parse_text, split_modules

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
    "parse_text",
    "split_modules",
]
