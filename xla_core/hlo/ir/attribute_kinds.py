"""Checks that an attribute's value has the Python type of its kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.table.attributes import (
    ConvolutionDimensionNumbers,
    OutputToOperandAlias,
    PaddingDimension,
    SliceDimension,
    WindowDimension,
)
from xla_core.hlo.table.op_table import Attribute, AttributeKind
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape


def is_of_kind(attribute: Attribute, value: Any) -> bool:
    """Whether the attribute may have this value. Its default is always allowed."""
    if value is attribute.default:
        return True
    kind = attribute.kind
    if kind is AttributeKind.ENUM and attribute.values:
        return value in attribute.values
    if kind in _SCALAR_KINDS:
        return isinstance(value, _SCALAR_KINDS[kind]) and not (
            isinstance(value, bool) and kind is not AttributeKind.BOOL
        )
    if not isinstance(value, (tuple, list)):
        return False
    part = _PARTS.get(kind)
    return all(
        isinstance(item, _LIST_KINDS[kind]) and (part is None or all(isinstance(p, part) for p in _parts(item)))
        for item in value
    )


def _parts(item: Any) -> Iterable[Any]:
    """Returns the elements of a tuple, or the fields of a structure."""
    return item if isinstance(item, tuple) else [getattr(item, name) for name in item.__dataclass_fields__]


_SCALAR_KINDS: dict[AttributeKind, type | tuple[type, ...]] = {
    AttributeKind.BOOL: bool,
    AttributeKind.INT: int,
    AttributeKind.OPERAND_TEXT: int,
    AttributeKind.FLOAT: (float, int),
    AttributeKind.STRING: str,
    AttributeKind.ENUM: str,
    AttributeKind.SHARDING: str,
    AttributeKind.BACKEND_CONFIG: str,
    AttributeKind.BRACED: str,
    AttributeKind.COMPUTATION: HloComputation,
    AttributeKind.DIM_LABELS: ConvolutionDimensionNumbers,
    AttributeKind.SHAPE: Shape,
    AttributeKind.LITERAL: Literal,
}
_LIST_KINDS: dict[AttributeKind, type] = {
    AttributeKind.INTS: int,
    AttributeKind.BOOLS: bool,
    AttributeKind.ENUMS: str,
    AttributeKind.COMPUTATIONS: HloComputation,
    AttributeKind.WINDOW: WindowDimension,
    AttributeKind.SLICE: SliceDimension,
    AttributeKind.PADDING: PaddingDimension,
    AttributeKind.REPLICA_GROUPS: tuple,
    AttributeKind.SOURCE_TARGET_PAIRS: tuple,
    AttributeKind.INT_LISTS: tuple,
    AttributeKind.OUTPUT_TO_OPERAND_ALIASING: OutputToOperandAlias,
    AttributeKind.SHAPES: Shape,
    AttributeKind.DICT: tuple,
}
_PARTS: dict[AttributeKind, type] = {
    AttributeKind.WINDOW: int,
    AttributeKind.SLICE: int,
    AttributeKind.PADDING: int,
    AttributeKind.REPLICA_GROUPS: int,
    AttributeKind.SOURCE_TARGET_PAIRS: int,
    AttributeKind.INT_LISTS: int,
    AttributeKind.DICT: str,
}
"""The type of the parts of a list's items."""
