"""Checks the value of an attribute against its entry in the op table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_core.stablehlo import ir
from xla_core.stablehlo.table.op_table import Attribute, Kind

_MOST_INTS = 1 << 20


def attribute_problem(name: str, attribute: Attribute, value: Any) -> str | None:
    """Returns what is wrong with the value, in MLIR's words, or None."""
    if _accepts(attribute, value):
        return None
    return f"attribute '{name}' failed to satisfy constraint: {_constraint(attribute)}"


def _constraint(attribute: Attribute) -> str:
    text = attribute.says or attribute.kind.value
    if attribute.minimum is not None:
        text += " whose value is " + {0: "non-negative", 1: "positive"}.get(
            attribute.minimum, f">= {attribute.minimum}"
        )
    if attribute.cases and attribute.kind is not Kind.PRECISIONS and not attribute.says:
        text += f": {', '.join(attribute.cases)}"
    if attribute.classes and not attribute.says:
        text += f": {' or '.join(c.__name__ for c in attribute.classes)}"
    return text


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def are_ints(value: Any, element: str) -> bool:
    """Tells whether the value is a dense array of `element`, or the rank-1 tensor that older releases wrote instead.

    The size of a tensor is limited to the size that an op can use, because a small file can hold a splat of any size.
    """
    if isinstance(value, ir.DenseElements):
        return value.type.element == element and value.type.rank == 1 and value.size <= _MOST_INTS
    is_list = isinstance(value, (tuple, list)) and getattr(value, "element", "") == element
    return is_list and all(isinstance(v, int) for v in value)


def _accepts(attribute: Attribute, value: Any) -> bool:
    kind = attribute.kind
    if kind in (Kind.INT, Kind.INT32):
        width = "i64" if kind is Kind.INT else "i32"
        return (
            _is_int(value)
            and getattr(value, "type", "i64") == width
            and (attribute.minimum is None or value >= attribute.minimum)
        )
    if kind is Kind.CASE_NUMBER:
        return isinstance(value, ir.TypedInt) and value.type == "i32" and 0 <= value < len(attribute.cases)
    if kind is Kind.ENUM:
        return isinstance(value, ir.EnumAttribute) and value in attribute.cases
    if kind is Kind.PRECISIONS:
        return isinstance(value, (tuple, list)) and all(
            isinstance(v, ir.EnumAttribute) and v in attribute.cases for v in value
        )
    if kind is Kind.STRUCT:
        is_wide = not isinstance(value, ir.DenseElements) or value.type.element == "i64"
        return isinstance(value, attribute.classes) and is_wide
    return _CHECKS[kind](value)


_CHECKS: dict[Kind, Callable[[Any], bool]] = {
    Kind.INTS: lambda v: are_ints(v, "i64"),
    Kind.INT32S: lambda v: are_ints(v, "i32"),
    Kind.BOOL: lambda v: isinstance(v, bool) or not isinstance(v, (int, float, str, tuple, dict)),
    Kind.FLOAT: lambda v: isinstance(v, (int, float)),
    Kind.STRING: lambda v: isinstance(v, str),
    Kind.BOOLS: lambda v: are_ints(v, "i1"),
    Kind.ELEMENTS: lambda v: isinstance(v, ir.DenseElements) and v.type.element == "i64" and v.size <= _MOST_INTS,
    Kind.CONSTANT: lambda v: isinstance(v, ir.DenseElements),
    Kind.SYMBOL: lambda v: isinstance(v, (ir.SymbolRef, str)),
    Kind.SYMBOLS: lambda v: isinstance(v, (tuple, list)) and all(isinstance(s, ir.SymbolRef) for s in v),
    Kind.DICTIONARY: lambda v: isinstance(v, dict),
    Kind.STRING_OR_DICTIONARY: lambda v: isinstance(v, (str, dict)),
    Kind.ARRAY: lambda v: isinstance(v, (tuple, list)),
    Kind.UNIT: lambda v: True,
    Kind.ANY: lambda v: True,
}
