"""Checks that an attribute's value has the Python type of its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from xla_core.hlo.attributes import (
    ConvolutionDimensionNumbers,
    OutputToOperandAlias,
    PaddingDimension,
    SliceDimension,
    WindowDimension,
)
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.literal import Literal
from xla_core.hlo.op_table import Attribute, AttributeKind
from xla_core.hlo.shape import Shape


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
    parts = _PARTS.get(kind)
    return all(
        isinstance(v, _LIST_KINDS[kind]) and (parts is None or all(isinstance(p, parts[1]) for p in parts[0](v)))
        for v in value
    )


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
_PARTS: dict[AttributeKind, tuple[Callable[[Any], Iterable[Any]], type]] = {
    AttributeKind.WINDOW: (
        attrgetter("size", "stride", "padding_low", "padding_high", "base_dilation", "window_dilation"),
        int,
    ),
    AttributeKind.SLICE: (attrgetter("start", "limit", "stride"), int),
    AttributeKind.PADDING: (attrgetter("low", "high", "interior"), int),
    AttributeKind.REPLICA_GROUPS: (iter, int),
    AttributeKind.SOURCE_TARGET_PAIRS: (iter, int),
    AttributeKind.INT_LISTS: (iter, int),
    AttributeKind.DICT: (iter, str),
}
"""For a kind whose items have parts: a function that returns an item's parts, and the type of the parts."""
