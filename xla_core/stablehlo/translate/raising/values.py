"""Types and values of raised instructions. A tuple is a Python tuple of values."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from xla_core.errors import UnimplementedError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.scalar_types import DTYPES
from xla_core.hlo.values.shape import Shape
from xla_core.stablehlo import ir
from xla_core.stablehlo.lower.type_conversion import element_type

Raised = ir.Value | tuple["Raised", ...]
"""A raised instruction: a value, or a tuple of values for a tuple shape."""


@functools.cache
def _elements() -> dict[ElementType, str]:
    return {element_type(name): name for name in DTYPES if name != "index"}


def element_name(element: ElementType) -> str:
    name = _elements().get(element)
    if name is None:
        raise UnimplementedError(f"the element type {element.value} has no counterpart in StableHLO")
    return name


def type_of(shape: Shape) -> ir.Type:
    """Returns the type of a shape. Dynamic dimensions have bounds."""
    if shape.is_tuple:
        return ir.TupleType(tuple(type_of(s) for s in shape.tuple_shapes))
    if shape.is_token:
        return ir.TokenType()
    name = element_name(shape.element_type)
    if not any(shape.dynamic_dimensions):
        return ir.TensorType(shape.dimensions, name)
    pairs = list(zip(shape.dimensions, shape.dynamic_dimensions, strict=True))
    sizes = tuple(ir.DYNAMIC if dynamic else size for size, dynamic in pairs)
    return ir.TensorType(sizes, name, tuple(size if dynamic else None for size, dynamic in pairs))


def leaves(value: Raised) -> Iterator[ir.Value]:
    """Yields the values of a tuple, left to right."""
    if isinstance(value, tuple):
        for element in value:
            yield from leaves(element)
    else:
        yield value


def single(value: Raised) -> ir.Value:
    """Returns a value that must not be a tuple."""
    if isinstance(value, tuple):
        raise UnimplementedError("an operand of tuple shape has no counterpart in StableHLO here")
    return value


def packed(shape: Shape, values: Iterator[ir.Value]) -> Raised:
    if shape.is_tuple:
        return tuple([packed(s, values) for s in shape.tuple_shapes])
    return next(values)
