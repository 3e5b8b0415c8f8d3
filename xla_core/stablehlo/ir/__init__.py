"""The op tree: types, attributes, values, ops, regions, modules.

The other rooms of `stablehlo` import this one, and it imports none of them. The op table defines what an op means.
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
