"""Shape and Layout: the type of a value and its layout in memory. (XLA: xla/shape.h, xla/layout.h.)"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.values.element_type import ElementType

Dimensions = tuple[int, ...]
Shapes = tuple["Shape", ...]
Flags = tuple[bool, ...]
IndexedLeaf = tuple[Dimensions, "Shape"]

INT_MAX = (1 << 31) - 1
"""The largest size that get-dimension-size and set-dimension-size can represent, because sizes are s32."""


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """The physical order of a dense array.

    `minor_to_major` lists the dimensions from the fastest varying one; row-major of rank 3 is (2, 1, 0). `tiles` are
    XLA's: each is a tuple of tile dimensions, applied in turn. `element_size_in_bits` is 0 where elements have their
    natural size; 4 means that s4 elements are packed two a byte.
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...] = ()
    element_size_in_bits: int = 0
    memory_space: int = 0

    @staticmethod
    def row_major(rank: int) -> Layout:
        return _ROW_MAJOR[rank] if rank < len(_ROW_MAJOR) else Layout(tuple(range(rank - 1, -1, -1)))

    @property
    def is_row_major(self) -> bool:
        """Whether the dimensions are in row-major order, whatever the tiles."""
        order = self.minor_to_major
        return order == tuple(range(len(order) - 1, -1, -1))

    @property
    def is_dense_row_major(self) -> bool:
        """Whether the bytes are those of numpy's row-major array: no tiles, elements of their natural size."""
        return self.is_row_major and not self.tiles and not self.element_size_in_bits

    def __str__(self) -> str:
        text = ",".join(map(str, self.minor_to_major))
        extra = "".join("(" + ",".join(map(str, tile)) + ")" for tile in self.tiles)
        extra = "T" + extra if extra else ""
        if self.element_size_in_bits:
            extra += f"E({self.element_size_in_bits})"
        if self.memory_space:
            extra += f"S({self.memory_space})"
        return "{" + text + (":" + extra if extra else "") + "}"


_ROW_MAJOR = [Layout(tuple(range(rank - 1, -1, -1))) for rank in range(12)]


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """An array (element type and dimensions), a tuple of shapes, a token, or opaque.

    `dynamic_dimensions` is empty for a static shape. Otherwise it has a flag for each dimension, and a dimension whose
    flag is set has any size up to its bound in `dimensions`. The bound UNBOUNDED (written `?`) occurs only in programs
    that have not yet been lowered for the sizes of their arguments, never in a module. `layout` None means that no
    layout is decided; equality compares layouts, `compatible` ignores them.
    """

    UNBOUNDED: ClassVar[int] = -1

    element_type: ElementType
    dimensions: tuple[int, ...] = ()
    layout: Layout | None = None
    dynamic_dimensions: tuple[bool, ...] = ()
    tuple_shapes: tuple[Shape, ...] = ()

    @staticmethod
    def array(element_type: ElementType, dimensions: Sequence[int] = ()) -> Shape:
        return Shape(element_type, tuple(dimensions))

    @staticmethod
    def tuple(shapes: Sequence[Shape]) -> Shape:
        return Shape(ElementType.TUPLE, tuple_shapes=tuple(shapes))

    @staticmethod
    def token() -> Shape:
        return Shape(ElementType.TOKEN)

    @staticmethod
    def of(array: np.ndarray) -> Shape:
        """The shape of a numpy array, without a layout."""
        return Shape(ElementType.from_numpy(array.dtype), array.shape)

    @property
    def is_tuple(self) -> bool:
        return self.element_type is ElementType.TUPLE

    @property
    def is_token(self) -> bool:
        return self.element_type is ElementType.TOKEN

    @property
    def is_array(self) -> bool:
        return self.element_type.is_array

    @property
    def is_scalar(self) -> bool:
        return self.is_array and not self.dimensions

    @property
    def is_dynamic(self) -> bool:
        return any(self.dynamic_dimensions) or any(s.is_dynamic for s in self.tuple_shapes)

    @property
    def rank(self) -> int:
        return len(self.dimensions)

    @property
    def num_elements(self) -> int:
        """The number of an array's elements, at its bounds where it is dynamic; 0 for other shapes."""
        return math.prod(self.dimensions) if self.is_array else 0

    @property
    def byte_size(self) -> int:
        """Bytes of the dense, untiled array with unpacked elements; for a tuple, the sum over its leaves."""
        if self.is_tuple:
            return sum(s.byte_size for s in self.tuple_shapes)
        return self.num_elements * self.element_type.byte_width

    @property
    def dtype(self) -> np.dtype:
        return self.element_type.dtype

    @property
    def dynamic_flags(self) -> Flags:
        """A flag for each dimension that says whether it is dynamic."""
        return self.dynamic_dimensions or (False,) * len(self.dimensions)

    def admits(self, sizes: Sequence[int]) -> bool:
        """Whether an array of these sizes has this shape: a dynamic size is at most its bound."""
        return len(sizes) == self.rank and all(
            size <= bound if flag else size == bound
            for size, bound, flag in zip(sizes, self.dimensions, self.dynamic_flags, strict=True)
        )

    def leaves(self) -> Iterator[Shape]:
        """Yields the non-tuple shapes from left to right."""
        if not self.is_tuple:
            yield self
        for shape in self.tuple_shapes:
            yield from shape.leaves()

    def array_leaves(self) -> Shapes:
        """The arrays among the leaves."""
        return tuple(leaf for leaf in self.leaves() if leaf.is_array)

    def indexed_leaves(self, index: Dimensions = ()) -> Iterator[IndexedLeaf]:
        """Yields the leaves with their indices, which start with `index`."""
        if not self.is_tuple:
            yield index, self
        for i, shape in enumerate(self.tuple_shapes):
            yield from shape.indexed_leaves((*index, i))

    @property
    def leaf_count(self) -> int:
        return sum(s.leaf_count for s in self.tuple_shapes) if self.is_tuple else 1

    def leaf_number(self, index: Sequence[int]) -> int:
        """Returns how many leaves are to the left of the one at `index`."""
        number, shape = 0, self
        for i in index:
            number += sum(s.leaf_count for s in shape.tuple_shapes[:i])
            shape = shape.tuple_shapes[i]
        return number

    def subshape(self, index: Sequence[int], what: str = "index") -> Shape:
        """Returns the shape at an index, which errors call `what`.

        Raises:
            InvalidArgumentError: where the shape has no such index.
        """
        shape = self
        for i in index:
            if not 0 <= i < len(shape.tuple_shapes):
                raise InvalidArgumentError(f"{what} {list(index)} is not within {shape.without_layout()}")
            shape = shape.tuple_shapes[i]
        return shape

    def with_layout(self, layout: Layout | None) -> Shape:
        # dataclasses.replace takes more than twice as long, which shows in a compilation.
        return Shape(self.element_type, self.dimensions, layout, self.dynamic_dimensions, self.tuple_shapes)

    def with_default_layout(self) -> Shape:
        """Returns the shape with a row-major layout for every array that has no layout."""
        if self.is_tuple:
            return dataclasses.replace(self, tuple_shapes=tuple(s.with_default_layout() for s in self.tuple_shapes))
        if self.layout is not None or not self.is_array:
            return self
        return dataclasses.replace(self, layout=Layout.row_major(self.rank))

    def without_layout(self) -> Shape:
        if self.is_tuple:
            return dataclasses.replace(self, tuple_shapes=tuple(s.without_layout() for s in self.tuple_shapes))
        return self if self.layout is None else dataclasses.replace(self, layout=None)

    def with_element_type(self, element_type: ElementType) -> Shape:
        return dataclasses.replace(self, element_type=element_type)

    def with_dimensions(self, dimensions: Sequence[int]) -> Shape:
        """Returns a static shape of the same element type, with other dimensions and no layout."""
        return Shape(self.element_type, tuple(dimensions))

    def compatible(self, other: Shape) -> bool:
        """Whether the shapes are equal apart from layouts."""
        if self is other:
            return True
        return (
            self.element_type is other.element_type
            and self.dimensions == other.dimensions
            and any(self.dynamic_dimensions) == any(other.dynamic_dimensions)
            and (self.dynamic_dimensions == other.dynamic_dimensions or not any(self.dynamic_dimensions))
            and len(self.tuple_shapes) == len(other.tuple_shapes)
            and all(a.compatible(b) for a, b in zip(self.tuple_shapes, other.tuple_shapes, strict=True))
        )

    def minor_to_major(self) -> Dimensions:
        """The physical order of the dimensions; row-major where no layout is decided."""
        return (self.layout or Layout.row_major(self.rank)).minor_to_major

    def validate(self) -> None:
        """Raises InvalidArgumentError where dimensions are negative or the layout doesn't fit them."""
        for shape in self.leaves():
            if any(d < 0 for d in shape.dimensions):
                raise InvalidArgumentError(f"shape {shape} has a negative dimension")
            if shape.layout is not None and sorted(shape.layout.minor_to_major) != list(range(shape.rank)):
                raise InvalidArgumentError(f"layout {shape.layout} is not an order of the {shape.rank} dimensions")

    def __str__(self) -> str:
        if self.is_tuple:
            return "(" + ", ".join(map(str, self.tuple_shapes)) + ")"
        if not self.is_array:
            return f"{self.element_type}[]"
        sizes = zip(self.dimensions, self.dynamic_flags, strict=True)
        dims = ",".join("?" if n == Shape.UNBOUNDED else f"<={n}" if d else str(n) for n, d in sizes)
        return f"{self.element_type}[{dims}]{self.layout or ''}"
