"""Signature: the argument shapes and static values of one compilation of a program."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.host_array import as_host_array


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    """The shapes of the arguments, without layouts, and (number, value) of the static arguments.

    A value is an int or a bool, or nested tuples of them.
    """

    shapes: tuple[Shape, ...]
    values: tuple[tuple[int, Any], ...] = ()

    @staticmethod
    def of(shapes: Sequence[Shape], values: Mapping[int, np.ndarray] | None = None) -> Signature:
        frozen = ((number, _frozen(value.tolist())) for number, value in sorted((values or {}).items()))
        return Signature(tuple(shape.without_layout() for shape in shapes), tuple(frozen))

    @property
    def key(self) -> tuple[Any, ...]:
        """The sizes of each argument, then the values. The key is unique among the signatures of one program."""
        return (*[shape.dimensions for shape in self.shapes], *self.values)

    def __str__(self) -> str:
        values = dict(self.values)
        texts = [f"{shape} = {values[i]}" if i in values else str(shape) for i, shape in enumerate(self.shapes)]
        return f"({', '.join(texts)})"


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def shape_of(argument: Any, element_type: ElementType) -> Shape:
    """Returns the shape of an argument, which may be given as a Shape, or as a tuple of sizes of `element_type`."""
    if isinstance(argument, Shape):
        return argument.without_layout()
    if isinstance(argument, Buffer):
        return argument.shape.without_layout()
    if isinstance(argument, tuple):
        return Shape(element_type, sizes_of(argument))
    return Shape.of(as_host_array(argument, element_type.dtype))


def sizes_of(given: Sequence[int]) -> tuple[int, ...]:
    """Converts sizes from a caller to integers.

    Raises:
        InvalidArgumentError: for negative sizes, and for values that are not integers.
    """
    try:
        sizes = tuple(operator.index(n) for n in given)
    except TypeError:
        raise InvalidArgumentError(f"an argument's shape must be a Shape or its sizes, not {given!r}") from None
    if any(n < 0 for n in sizes):
        raise InvalidArgumentError(f"the sizes {list(sizes)} of an argument must not be negative")
    return sizes
