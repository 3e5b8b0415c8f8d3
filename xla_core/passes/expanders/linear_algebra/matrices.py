"""Operations on batches of matrices [batch, rows, columns], vectors [batch, size] and scalars [batch]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from xla_core.hlo.decompositions.expression import HloExpression, expressions
from xla_core.hlo.decompositions.loops import counted_loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

Expression: TypeAlias = HloExpression
Step: TypeAlias = Callable[[Expression, Sequence[Expression]], Sequence[Expression]]
"""(iteration number s32[], values) -> the values after the iteration."""

# -- loops and constants -----------------------------------------------------------------------------------------------


def loop(
    source: HloInstruction,
    count: int,
    values: Sequence[Expression],
    step: Step,
    goes_on: Callable[[Sequence[Expression]], Expression] | None = None,
) -> list[Expression]:
    """Repeats `step` at most `count` times, as long as `goes_on` holds for the values (pred[])."""
    if count < 1:
        return list(values)

    def body(
        b: Builder, turn: HloInstruction, changing: list[HloInstruction], constant: list[HloInstruction]
    ) -> list[HloInstruction]:
        return [after.i for after in step(HloExpression(b, turn), expressions(b, *changing))]

    def test(b: Builder, changing: list[HloInstruction]) -> HloInstruction:
        assert goes_on is not None
        return goes_on(expressions(b, *changing)).i

    b = values[0].b
    after = counted_loop(source, b, count, [v.i for v in values], [], body, None if goes_on is None else test)
    return expressions(b, *after)


def filled(b: Builder, value: complex, element_type: ElementType, dimensions: Sequence[int]) -> Expression:
    return HloExpression(b, b.constant(value, Shape(element_type, tuple(dimensions))))


def zeros_like(x: Expression) -> Expression:
    return filled(x.b, 0, x.element_type, x.shape.dimensions)


def numbers(b: Builder, dimensions: Sequence[int], dimension: int) -> Expression:
    """The index of each element in one dimension, as s32."""
    shape = Shape(ElementType.S32, tuple(dimensions))
    return HloExpression(b, b.add(Opcode.IOTA, shape=shape, iota_dimension=dimension))


def identity(b: Builder, element_type: ElementType, dimensions: Sequence[int]) -> Expression:
    """Matrices with ones on the diagonal."""
    rows, columns = (numbers(b, dimensions, d) for d in (1, 2))
    return rows.equals(columns).where(filled(b, 1, element_type, dimensions), 0)


def real_type(element_type: ElementType) -> ElementType:
    return element_type.component if element_type.is_complex else element_type


def epsilon(element_type: ElementType) -> float:
    """The distance from 1 to the next number."""
    return float(np.finfo(element_type.dtype).eps)


# -- shapes ------------------------------------------------------------------------------------------------------------


def spread(x: Expression, dimensions: Sequence[int], axes: Sequence[int] = (0,)) -> Expression:
    """Repeats an array along the dimensions that are not among `axes`."""
    return HloExpression(x.b, x.b.broadcast(x.i, dimensions, axes))


def along_rows(x: Expression, like: Expression) -> Expression:
    """A vector with an element for each row, in each column of a matrix."""
    return spread(x, like.shape.dimensions, (0, 1))


def along_columns(x: Expression, like: Expression) -> Expression:
    """A vector with an element for each column, in each row of a matrix."""
    return spread(x, like.shape.dimensions, (0, 2))


def conjugate(x: Expression) -> Expression:
    return x.real().op(Opcode.COMPLEX, -x.imag()) if x.element_type.is_complex else x


def transposed(x: Expression) -> Expression:
    return HloExpression(x.b, x.b.transpose(x.i, (0, 2, 1)))


def batched(x: HloInstruction, b: Builder) -> Expression:
    """Matrices in the last two dimensions as a batch of matrices."""
    *batch, rows, columns = x.shape.dimensions
    return HloExpression(b, b.reshape(x, (math.prod(batch), rows, columns)))


def triangle(x: Expression, *, lower: bool) -> Expression:
    """Sets the elements outside a triangle to zero; the triangle includes the diagonal."""
    rows, columns = (numbers(x.b, x.shape.dimensions, d) for d in (1, 2))
    return (rows >= columns if lower else rows <= columns).where(x, 0)


def adjoint(x: Expression) -> Expression:
    return conjugate(transposed(x))


def real_part(x: Expression) -> Expression:
    return x.real() if x.element_type.is_complex else x


def join(dimension: int, *parts: Expression) -> Expression:
    kept = [p.i for p in parts if p.shape.dimensions[dimension]]
    if len(kept) == 1:
        return HloExpression(parts[0].b, kept[0])
    return HloExpression(parts[0].b, parts[0].b.add(Opcode.CONCATENATE, *kept, dimensions=(dimension,)))


def part(x: Expression, dimension: int, start: int, limit: int) -> Expression:
    return HloExpression(x.b, x.b.slice_in_dim(x.i, dimension, start, limit))


def padded(x: Expression, dimension: int, high: int) -> Expression:
    """Adds zeros at the end of a dimension."""
    return HloExpression(x.b, x.b.pad_in_dim(x.i, dimension, 0, high))


def reversed_in(x: Expression, *dimensions: int) -> Expression:
    return HloExpression(x.b, x.b.add(Opcode.REVERSE, x.i, dimensions=dimensions))


# -- elements ----------------------------------------------------------------------------------------------------------


def window(x: Expression, dimension: int, start: Expression, size: int) -> Expression:
    """`size` elements of a dimension, beginning with index `start`, an s32[]."""
    sizes = list(x.shape.dimensions)
    sizes[dimension] = size
    zero = HloExpression(x.b, x.b.constant(0, start.shape))
    starts = [start.i if d == dimension else zero.i for d in range(len(sizes))]
    return HloExpression(x.b, x.b.add(Opcode.DYNAMIC_SLICE, x.i, *starts, dynamic_slice_sizes=tuple(sizes)))


def with_window(x: Expression, dimension: int, start: Expression, value: Expression) -> Expression:
    """Replaces elements of a dimension, beginning with index `start`, an s32[]."""
    zero = HloExpression(x.b, x.b.constant(0, start.shape))
    starts = [start.i if d == dimension else zero.i for d in range(x.shape.rank)]
    return HloExpression(x.b, x.b.add(Opcode.DYNAMIC_UPDATE_SLICE, x.i, value.i, *starts))


def row(x: Expression, number: Expression) -> Expression:
    size, _, columns = x.shape.dimensions
    return window(x, 1, number, 1).reshape((size, columns))


def column(x: Expression, number: Expression) -> Expression:
    size, rows, _ = x.shape.dimensions
    return window(x, 2, number, 1).reshape((size, rows))


def element(x: Expression, number: Expression) -> Expression:
    """An element of each vector."""
    return window(x, 1, number, 1).reshape((x.shape.dimensions[0],))


def with_row(x: Expression, number: Expression, value: Expression) -> Expression:
    size, _, columns = x.shape.dimensions
    return with_window(x, 1, number, value.reshape((size, 1, columns)))


def with_column(x: Expression, number: Expression, value: Expression) -> Expression:
    size, rows, _ = x.shape.dimensions
    return with_window(x, 2, number, value.reshape((size, rows, 1)))


def with_element(x: Expression, number: Expression, value: Expression) -> Expression:
    return with_window(x, 1, number, value.reshape((x.shape.dimensions[0], 1)))


def diagonal(x: Expression) -> Expression:
    """The diagonal of square matrices."""
    rows, columns = (numbers(x.b, x.shape.dimensions, d) for d in (1, 2))
    return total(rows.equals(columns).where(x, 0), 2)


# -- sums and products -------------------------------------------------------------------------------------------------


def total(x: Expression, *dimensions: int) -> Expression:
    return HloExpression(x.b, x.b.reduce(x.i, Opcode.ADD, 0, dimensions))


def largest(x: Expression, *dimensions: int) -> Expression:
    """The maximum; 0 at least."""
    return HloExpression(x.b, x.b.reduce(x.i, Opcode.MAXIMUM, 0, dimensions))


def first_where(holds: Expression, otherwise: Expression) -> Expression:
    """The number of the first element of each vector where a predicate holds, or else `otherwise`, an s32[]."""
    places = numbers(holds.b, holds.shape.dimensions, 1)
    size, count = holds.shape.dimensions
    chosen = holds.where(places, count)
    found = HloExpression(holds.b, holds.b.reduce(chosen.i, Opcode.MINIMUM, count, (1,)))
    return found.equals(count).where(spread(otherwise, (size,), ()), found)


def squares(x: Expression) -> Expression:
    """The squares of absolute values."""
    return x.real() * x.real() + x.imag() * x.imag() if x.element_type.is_complex else x * x


def product(x: Expression, y: Expression) -> Expression:
    """The exact products of matrices [b, i, k] with matrices [b, k, j]."""
    size, rows, _ = x.shape.dimensions
    return HloExpression(
        x.b,
        x.b.add(
            Opcode.DOT,
            x.i,
            y.i,
            shape=x.shape.with_dimensions((size, rows, y.shape.dimensions[2])),
            lhs_batch_dims=(0,),
            rhs_batch_dims=(0,),
            lhs_contracting_dims=(2,),
            rhs_contracting_dims=(1,),
            operand_precision=("highest", "highest"),
        ),
    )


def times(x: Expression, vector: Expression) -> Expression:
    """The products of matrices with vectors."""
    size, rows, columns = x.shape.dimensions
    return product(x, vector.reshape((size, columns, 1))).reshape((size, rows))


def vector_times(vector: Expression, x: Expression) -> Expression:
    """The products of vectors (their transposes, not adjoints) with matrices."""
    size, rows, columns = x.shape.dimensions
    return product(vector.reshape((size, 1, rows)), x).reshape((size, columns))


def outer(x: Expression, y: Expression) -> Expression:
    """The matrices x y^T."""
    (size, rows), (_, columns) = x.shape.dimensions, y.shape.dimensions
    dimensions = (size, rows, columns)
    return spread(x, dimensions, (0, 1)) * spread(y, dimensions, (0, 2))


def scaled(x: Expression, factor: Expression) -> Expression:
    """Vectors times scalars of the same or of the real type."""
    factor = factor.astype(x.element_type)
    return x * spread(factor, x.shape.dimensions)
