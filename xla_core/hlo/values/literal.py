"""Literal: a constant value on the host. (XLA: xla/literal.h.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.checks import require
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape


class Literal:
    """An array, or a tuple of literals, with its shape.

    It is immutable: the array is a read-only view. A splat may be a stride-0 view, so that a constant of any size takes
    the memory of one element.
    """

    __slots__ = ("array", "elements", "shape")

    def __init__(self, value: npt.ArrayLike | Sequence[Literal], shape: Shape | None = None) -> None:
        self.elements: tuple[Literal, ...] = ()
        self.array: np.ndarray
        self.shape: Shape
        if (
            isinstance(value, (tuple, list))
            and (shape is None or shape.is_tuple)
            and all(isinstance(v, Literal) for v in value)
        ):
            self.elements = tuple(value)
            self.shape = Shape.tuple([e.shape for e in self.elements])
            self.array = np.empty(0)
            return
        if shape is not None:
            require("shape", shape, Shape, "a Shape or None")
        array = np.asarray(value)
        if shape is not None and (array.dtype != shape.dtype or array.shape != shape.dimensions):
            if array.shape != shape.dimensions:
                raise InvalidArgumentError(f"an array of shape {array.shape} is not a literal of {shape}")
            array = _converted(array, shape.element_type)
        view = array.view()
        view.flags.writeable = False
        self.array = view
        self.shape = Shape.of(view) if shape is None else shape

    @staticmethod
    def splat(value: npt.ArrayLike, shape: Shape) -> Literal:
        """Makes an array whose elements are all `value`. It takes the memory of one element."""
        require("shape", shape, Shape, "a Shape")
        return Literal(np.broadcast_to(_converted(np.asarray(value), shape.element_type), shape.dimensions), shape)

    @staticmethod
    def of_value(value: Any, shape: Shape | None = None) -> Literal:
        """Makes a literal of a value in the evaluator's form (see `value`)."""
        if not isinstance(value, tuple):
            return Literal(value, shape)
        shapes = [None] * len(value) if shape is None else shape.tuple_shapes
        return Literal([Literal.of_value(v, s) for v, s in zip(value, shapes, strict=True)], shape)

    @property
    def value(self) -> Any:
        """The value in the evaluator's form: the array, or a tuple of the elements' values."""
        return tuple(e.value for e in self.elements) if self.shape.is_tuple else self.array

    @property
    def is_splat(self) -> bool:
        """Whether the array holds a single element, or repeats one by strides of 0."""
        return self.array.size == 1 or all(
            s == 0 for s, d in zip(self.array.strides, self.array.shape, strict=True) if d != 1
        )

    def item(self) -> complex:
        """Returns the single element as a Python number."""
        value: complex = self.array.reshape(-1)[0].item()
        return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal) or self.shape != other.shape:
            return False
        if self.shape.is_tuple:
            return self.elements == other.elements
        if self.is_splat and other.is_splat and self.array.size:
            return self.array.reshape(-1)[:1].tobytes() == other.array.reshape(-1)[:1].tobytes()
        return self.array.tobytes() == other.array.tobytes()

    def __hash__(self) -> int:
        flat, size = self.array.flat, self.array.size
        some = tuple(flat[i].tobytes() for i in (0, size // 2, size - 1)) if size else ()
        return hash((self.shape, some, self.elements))

    def __repr__(self) -> str:
        return f"Literal({self.shape}, {self.elements or self.array})"


def _converted(array: np.ndarray, kind: ElementType) -> np.ndarray:
    """Returns the numbers as those of `kind`. Negative integers may stand for the bits of unsigned ones.

    Raises:
        InvalidArgumentError: a number would change its value, because an integer type doesn't have it.
    """
    if kind.is_integral and array.dtype.kind in "iufO" and array.size:
        if array.dtype.kind == "f" and not (np.isfinite(array) & (array == np.trunc(array))).all():
            raise InvalidArgumentError(f"{kind.value} has whole numbers only")
        least, greatest = -(1 << (kind.bit_width - 1)), kind.integer_range[1]
        for value in (int(array.min()), int(array.max())):
            if not least <= value <= greatest:
                raise InvalidArgumentError(f"{value} is not a value of {kind.value}, which has {kind.integer_range}")
    return array.astype(kind.dtype)
