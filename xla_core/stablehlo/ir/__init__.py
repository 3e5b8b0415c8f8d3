"""The op tree: types, attributes, values, ops, regions, modules.

Everything else in `stablehlo` imports this room; it imports none of them. What an op means is not said here but in the
op table.
"""

from __future__ import annotations

from xla_core.stablehlo.ir.op import Block, LazyLocation, Module, Op, Region, Value, new_op, op_names, require_module
from xla_core.stablehlo.ir.types import (
    DYNAMIC,
    FunctionType,
    OpaqueType,
    QuantizedType,
    ScalarType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    type_text,
)

__all__ = [
    "DYNAMIC",
    "Block",
    "FunctionType",
    "LazyLocation",
    "Module",
    "Op",
    "OpaqueType",
    "QuantizedType",
    "Region",
    "ScalarType",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "Value",
    "new_op",
    "op_names",
    "require_module",
    "type_text",
]
