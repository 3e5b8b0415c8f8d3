"""StableHLO: its op tree, readers, op table, verifier, and the lowering to HLO."""

from __future__ import annotations

from xla_core.stablehlo.ir import Block, FunctionType, Module, Op, Region, TensorType, TokenType, TupleType, Value

__all__ = ["Block", "FunctionType", "Module", "Op", "Region", "TensorType", "TokenType", "TupleType", "Value"]
