"""Values of a program that is written as an expression, such as `(x + 1) - y`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloInstruction,
    Opcode,
    PaddingDimension,
    Shape,
    SliceDimension,
    WindowDimension,
    comparator,
)
from xla_core.passes import Builder

_O = Opcode


class Value:
    """An array of a program. Numbers beside it are arrays of its shape and element type."""

    def __init__(self, builder: Builder, instruction: HloInstruction) -> None:
        self.builder, self.instruction = builder, instruction

    @property
    def shape(self) -> Shape:
        return self.instruction.shape

    @property
    def dimensions(self) -> tuple[int, ...]:
        return self.shape.dimensions

    def op(self, opcode: Opcode, *others: Value | float, shape: Shape | None = None, **attributes: Any) -> Value:
        """The op of this value and others."""
        operands = [o.instruction if isinstance(o, Value) else self.number(o).instruction for o in others]
        return self._of(self.builder.add(opcode, self.instruction, *operands, shape=shape, **attributes))

    def number(self, number: float, dimensions: Sequence[int] | None = None) -> Value:
        """An array of one number, by default of this value's shape."""
        shape = self.shape if dimensions is None else self.shape.with_dimensions(dimensions)
        with np.errstate(all="ignore"):
            return self._of(self.builder.constant(np.asarray(number).astype(shape.dtype), shape.without_layout()))

    def _of(self, instruction: HloInstruction) -> Value:
        return Value(self.builder, instruction)

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def __add__(self, other: Value | float) -> Value:
        return self.op(_O.ADD, other)

    def __radd__(self, number: float) -> Value:
        return self.number(number) + self

    def __sub__(self, other: Value | float) -> Value:
        return self.op(_O.SUBTRACT, other)

    def __rsub__(self, number: float) -> Value:
        return self.number(number) - self

    def __mul__(self, other: Value | float) -> Value:
        return self.op(_O.MULTIPLY, other)

    def __rmul__(self, number: float) -> Value:
        return self.number(number) * self

    def __truediv__(self, other: Value | float) -> Value:
        return self.op(_O.DIVIDE, other)

    def __rtruediv__(self, number: float) -> Value:
        return self.number(number) / self

    def __mod__(self, other: Value | float) -> Value:
        return self.op(_O.REMAINDER, other)

    def __pow__(self, other: Value | float) -> Value:
        return self.op(_O.POWER, other)

    def __neg__(self) -> Value:
        return self.op(_O.NEGATE)

    def __abs__(self) -> Value:
        return self.op(_O.ABS)

    def __and__(self, other: Value | int) -> Value:
        return self.op(_O.AND, other)

    def __or__(self, other: Value | int) -> Value:
        return self.op(_O.OR, other)

    def __xor__(self, other: Value | int) -> Value:
        return self.op(_O.XOR, other)

    def __invert__(self) -> Value:
        return self.op(_O.NOT)

    def __lshift__(self, other: Value | int) -> Value:
        return self.op(_O.SHIFT_LEFT, other)

    def __rshift__(self, other: Value | int) -> Value:
        return self.op(_O.SHIFT_RIGHT_ARITHMETIC, other)

    def logical(self, other: Value | int) -> Value:
        return self.op(_O.SHIFT_RIGHT_LOGICAL, other)

    def max(self, other: Value | float) -> Value:
        return self.op(_O.MAXIMUM, other)

    def min(self, other: Value | float) -> Value:
        return self.op(_O.MINIMUM, other)

    def limit(self, low: Value | float, high: Value | float) -> Value:
        low, high = (n if isinstance(n, Value) else self.number(n) for n in (low, high))
        return low.op(_O.CLAMP, self, high)

    def compare(self, direction: str, other: Value | float) -> Value:
        return self.op(_O.COMPARE, other, direction=direction)

    def choose(self, x: Value | float, y: Value | float) -> Value:
        """The select: x where this is true, else y. One of them is a Value."""
        like = x if isinstance(x, Value) else y
        assert isinstance(like, Value)
        return self.op(_O.SELECT, *(v if isinstance(v, Value) else like.number(v) for v in (x, y)))

    def to(self, element: str) -> Value:
        return self.op(_O.CONVERT, shape=self.shape.without_layout().with_element_type(ElementType(element)))

    def bits(self, element: str) -> Value:
        return self.op(_O.BITCAST_CONVERT, shape=self.shape.with_element_type(ElementType(element)))

    # -- movement ------------------------------------------------------------------------------------------------------

    def turn(self, *permutation: int) -> Value:
        """The transpose; without a permutation, that of a matrix."""
        return self.op(_O.TRANSPOSE, dimensions=permutation or (1, 0))

    def form(self, *dimensions: int) -> Value:
        """The reshape."""
        return self.op(_O.RESHAPE, shape=self.shape.with_dimensions(dimensions))

    def spread(self, dimensions: Sequence[int], at: Sequence[int]) -> Value:
        """The broadcast."""
        return self.op(_O.BROADCAST, shape=self.shape.with_dimensions(dimensions), dimensions=tuple(at))

    def cut(self, start: int, limit: int, stride: int = 1, *, along: int = 0) -> Value:
        """The slice of one dimension."""
        parts = [SliceDimension(0, n) for n in self.dimensions]
        parts[along] = SliceDimension(start, limit, stride)
        return self.op(_O.SLICE, slice=tuple(parts))

    def pad(self, low: int, high: int, interior: int = 0, *, along: int = 0, value: float = 0) -> Value:
        """The pad of one dimension."""
        parts = [PaddingDimension(0, 0) for _ in self.dimensions]
        parts[along] = PaddingDimension(low, high, interior)
        return self.op(_O.PAD, self.number(value, ()), padding=tuple(parts))

    def reverse(self, *dimensions: int) -> Value:
        return self.op(_O.REVERSE, dimensions=dimensions or (0,))

    def join(self, *others: Value, along: int = 0) -> Value:
        """The concatenation."""
        return self.op(_O.CONCATENATE, *others, dimensions=(along,))

    def at(self, *starts: Value | int, sizes: Sequence[int]) -> Value:
        """The dynamic slice."""
        return self.op(_O.DYNAMIC_SLICE, *self._starts(starts), dynamic_slice_sizes=tuple(sizes))

    def put(self, update: Value, *starts: Value | int) -> Value:
        """The dynamic update."""
        return self.op(_O.DYNAMIC_UPDATE_SLICE, update, *self._starts(starts))

    def _starts(self, starts: Sequence[Value | int]) -> list[Value]:
        return [s if isinstance(s, Value) else self._of(self.builder.constant(np.int32(s))) for s in starts]

    def take(self, places: Value) -> Value:
        """The gather of rows."""
        return self.op(
            _O.GATHER,
            places,
            offset_dims=tuple(range(places.shape.rank, places.shape.rank + self.shape.rank - 1)),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            index_vector_dim=places.shape.rank,
            slice_sizes=(1, *self.dimensions[1:]),
        )

    def count(self, dimensions: Sequence[int], along: int = 0) -> Value:
        """The iota of this element type."""
        shape = self.shape.with_dimensions(dimensions)
        return self._of(self.builder.add(_O.IOTA, shape=shape, iota_dimension=along))

    def constant(self, numbers: Any) -> Value:
        """An array of these numbers."""
        array = np.asarray(numbers).astype(self.shape.dtype)
        return self._of(self.builder.constant(array, self.shape.with_dimensions(array.shape)))

    # -- several elements ----------------------------------------------------------------------------------------------

    def fold(self, by: str, start: float, *dimensions: int) -> Value:
        """The reduction."""
        return self._of(self.builder.reduce(self.instruction, Opcode(by), self._cast(start), dimensions))

    def windows(self, by: str, start: float, size: int, stride: int = 1, low: int = 0, high: int = 0) -> Value:
        """The windowed reduction along the first dimension."""
        window = WindowDimension(size=size, stride=stride, padding_low=low, padding_high=high)
        first = self.number(start, ())
        whole = (window, *(WindowDimension() for _ in self.dimensions[1:]))
        body = HloComputation(f"{by}_of_windows")
        scalar = self.shape.with_dimensions(())
        body.set_root(body.add(Opcode(by), body.parameter(0, scalar), body.parameter(1, scalar)))
        self.builder.hlo_module.add_computation(body)
        return self.op(_O.REDUCE_WINDOW, first, window=whole, to_apply=body)

    def dot(self, other: Value, own: int = 1, others: int = 0) -> Value:
        """The product of matrices."""
        return self.op(_O.DOT, other, lhs_contracting_dims=(own,), rhs_contracting_dims=(others,))

    def sort(self, direction: str = "LT", along: int = 0) -> Value:
        body = comparator(direction, self.shape.element_type, module=self.builder.hlo_module)
        return self.op(_O.SORT, dimensions=(along,), is_stable=True, to_apply=body)

    def _cast(self, number: float) -> Any:
        return np.asarray(number).astype(self.shape.dtype)
