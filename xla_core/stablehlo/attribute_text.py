"""MLIR's text of attribute values: what backend_config and a composite's attributes hold in HLO."""

from __future__ import annotations

from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.attributes import (
    DenseArray,
    DenseElements,
    EnumAttribute,
    SymbolRef,
    TypedFloat,
    TypedInt,
    Unit,
)

__all__ = ["attribute_text"]


def attribute_text(value: Any) -> str:
    """`{a = 1 : i64, b = "text"}`: keys in order, as MLIR prints a dictionary."""
    if isinstance(value, dict):
        inside = (k if isinstance(v, Unit) else f"{k} = {attribute_text(v)}" for k, v in sorted(value.items()))
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, DenseArray):
        body = ", ".join(_scalar(v) for v in value)
        return f"array<{value.element}: {body}>" if value else f"array<{value.element}>"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(attribute_text, value)) + "]"
    if isinstance(value, DenseElements):
        if value.is_splat:
            return f"dense<{_scalar(value.data.item())}> : {value.type}"
        return f"dense<{_nested(value.tolist())}> : {value.type}"
    if isinstance(value, Unit):
        return "unit"
    if isinstance(value, SymbolRef):
        return f"@{value}"
    if isinstance(value, EnumAttribute):
        return f"#stablehlo<{value.kind} {value}>"
    if isinstance(value, (ir.TensorType, ir.TokenType, ir.TupleType, ir.FunctionType, ir.OpaqueType, ir.ScalarType)):
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\0A") + '"'
    if isinstance(value, bool):
        return _scalar(value)
    if isinstance(value, int):
        return f"{_scalar(value)} : {value.type if isinstance(value, TypedInt) else 'i64'}"
    if isinstance(value, float):
        return f"{_scalar(value)} : {value.type if isinstance(value, TypedFloat) else 'f64'}"
    return str(value)


def _nested(values: Any) -> str:
    return "[" + ", ".join(map(_nested, values)) + "]" if isinstance(values, list) else _scalar(values)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"({value.real:e}, {value.imag:e})"
    if isinstance(value, float):
        return f"{float(value)!r}" if "e" not in repr(float(value)) else f"{float(value):e}"
    return str(int(value)) if isinstance(value, int) else str(value)
