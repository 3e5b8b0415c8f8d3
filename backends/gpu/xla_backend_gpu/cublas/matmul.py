"""Matmul: a product as cuBLASLt takes it, as data: column-major matrices, and what is computed of each element.

cuBLASLt computes D = epilogue(alpha op(A) op(B) + beta C + bias), where the bias has an element for each row of D. The
results of dots are row-major as a rule, so D is the transposed result, and A is the right operand of the dot.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from xla_core.hlo import ElementType, Shape

Epilogue = Literal["DEFAULT", "RELU", "BIAS", "RELU_BIAS", "GELU", "GELU_BIAS"]
"""What is computed of each element, by the library's names."""

ComputeType = Literal["f32", "tf32", "f64", "s32"]
"""How sums are computed: the type of the sums; "tf32" rounds operands of f32 first."""

_F8 = (ElementType.F8E4M3FN, ElementType.F8E5M2)
_NARROW = (ElementType.BF16, ElementType.F16)
_TN_MULTIPLE = {ElementType.S8: 4, ElementType.F8E4M3FN: 16, ElementType.F8E5M2: 16}
"""The types whose terms must be neighbours in memory in both operands, and what sizes must be a multiple of."""

_MOST = 2**31 - 1


class MatmulConfig(BaseModel):
    """The `backend_config` of a call: the dimensions of the dot, and the rest of the computation.

    Attributes:
        lhs_batch_dims, rhs_batch_dims, lhs_contracting_dims, rhs_contracting_dims: those of the dot.
        alpha: the factor of the product.
        beta: the factor of the third operand, which has the shape of the result; 0 if there is none.
        epilogue: what is computed of each element. A bias is the last operand.
        compute_type: how sums are computed.
        workspace_bytes: the scratch memory that the call gets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lhs_batch_dims: tuple[int, ...] = ()
    rhs_batch_dims: tuple[int, ...] = ()
    lhs_contracting_dims: tuple[int, ...]
    rhs_contracting_dims: tuple[int, ...]
    alpha: float = 1.0
    beta: float = 0.0
    epilogue: Epilogue = "DEFAULT"
    compute_type: ComputeType
    workspace_bytes: int = Field(default=0, ge=0)

    @property
    def dot_attributes(self) -> dict[str, Any]:
        """The attributes of the dot."""
        return {name: getattr(self, name) for name in _DIMENSIONS}

    @property
    def has_bias(self) -> bool:
        return "BIAS" in self.epilogue


_DIMENSIONS = ("lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims")


@dataclasses.dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix, or one for each product of a batch, in column-major order.

    Attributes:
        rows, columns: as they are in memory; the product uses the transposed matrix if `transposed`.
        leading: how many elements are from a column to the next.
        batch_stride: how many elements are from a matrix to the next.
    """

    element_type: ElementType
    rows: int
    columns: int
    leading: int
    batch_stride: int = 0
    transposed: bool = False

    def byte_size(self, batch: int) -> int:
        """Returns the bytes from the first element to the end of the last one."""
        last = (batch - 1) * self.batch_stride + (self.columns - 1) * self.leading + self.rows
        return last * self.element_type.byte_width


@dataclasses.dataclass(frozen=True, slots=True)
class Matmul:
    """A product of matrices, or a batch of them.

    Attributes:
        a, b, c, d: the matrices; there is no C if `beta` is 0.
        swapped: whether A is the dot's right operand.
        config: see `MatmulConfig`.
    """

    a: Matrix
    b: Matrix
    c: Matrix | None
    d: Matrix
    batch: int
    swapped: bool
    config: MatmulConfig

    @property
    def depth(self) -> int:
        """The terms of each sum."""
        return self.b.columns if self.b.transposed else self.b.rows

    @property
    def multiplications(self) -> int:
        return self.batch * self.d.rows * self.d.columns * self.depth

    @property
    def scale_type(self) -> ElementType:
        """The type of alpha and beta."""
        return {"f64": ElementType.F64, "s32": ElementType.S32}.get(self.config.compute_type, ElementType.F32)

    def __str__(self) -> str:
        names = [m.element_type.value for m in (self.a, self.b, self.d)]
        sizes = f"{self.d.rows} x {self.d.columns} x {self.depth}"
        letters = "".join("T" if m.transposed else "N" for m in (self.a, self.b))
        parts = [f"{self.batch} products of {sizes}" if self.batch > 1 else sizes]
        parts += [f"{names[0]} by {names[1]} to {names[2]}", letters, self.config.compute_type]
        if self.config.epilogue != "DEFAULT":
            parts.append(self.config.epilogue)
        return ", ".join(parts)


@dataclasses.dataclass(frozen=True, slots=True)
class _Axis:
    """Several dimensions as one: its size, and its strides in the result, the left and the right operand."""

    size: int
    result: int
    lhs: int
    rhs: int


def matmul_of(config: MatmulConfig, lhs: Shape, rhs: Shape, result: Shape) -> Matmul | None:
    """Returns the product of a call's operands, or None if their layouts or types aren't what cuBLASLt takes."""
    if not _has_types(config, lhs.element_type, rhs.element_type, result.element_type):
        return None
    axes = _axes(config, lhs, rhs, result)
    if axes is None or not all(0 < axis.size <= _MOST for axis in axes):
        return None
    batch, left, right, terms = axes
    from_lhs = _operand(lhs.element_type, (left.size, left.lhs), (terms.size, terms.lhs), batch.lhs)
    from_rhs = _operand(rhs.element_type, (right.size, right.rhs), (terms.size, terms.rhs), batch.rhs)
    if from_lhs is None or from_rhs is None:
        return None
    for swapped in (True, False):
        rows, columns = (right, left) if swapped else (left, right)
        leading = _leading((rows.size, rows.result), (columns.size, columns.result))
        if leading is not None:
            d = Matrix(result.element_type, rows.size, columns.size, leading, batch.result)
            a, b = (from_rhs, from_lhs) if swapped else (from_lhs, from_rhs)
            b = dataclasses.replace(b, transposed=not b.transposed)
            made = Matmul(a, b, d if config.beta else None, d, batch.size, swapped, config)
            return made if _has_alignment(made) else None
    return None


def bias_dimensions(matmul: Matmul, lhs_rank: int, result_rank: int) -> tuple[int, ...]:
    """Returns the dimensions of the dot's result that its bias has."""
    config = matmul.config
    first_right = lhs_rank - len(config.lhs_contracting_dims)
    if matmul.swapped:
        return tuple(range(first_right, result_rank))
    return tuple(range(len(config.lhs_batch_dims), first_right))


def is_vector(shape: Shape) -> bool:
    """Whether the elements of an array are neighbours in the order of its indices, as those of a bias must be."""
    strides = _strides(shape)
    joined = None if strides is None else _joined(shape.dimensions, strides, strides, strides)
    return joined is not None and (joined.size == 1 or joined.result == 1)


def _has_types(config: MatmulConfig, lhs: ElementType, rhs: ElementType, result: ElementType) -> bool:
    """Whether the library multiplies these types with such sums, and computes such an epilogue of them."""
    sums = {"f32": ElementType.F32, "tf32": ElementType.F32, "f64": ElementType.F64, "s32": ElementType.S32}
    if lhs in _F8 and rhs in _F8:
        if ElementType.F8E4M3FN not in (lhs, rhs) or config.compute_type != "f32":
            return False
        return result in _NARROW or (result is ElementType.F32 and not config.has_bias)
    if lhs is not rhs:
        return False
    if lhs in _NARROW:
        return config.compute_type == "f32" and result in (lhs, ElementType.F32)
    if lhs is ElementType.S8:
        plain = config.epilogue == "DEFAULT" and config.alpha == 1.0 and config.beta in (0.0, 1.0)
        return plain and config.compute_type == "s32" and result is ElementType.S32
    has_type = lhs in (ElementType.F32, ElementType.F64) and sums[config.compute_type] is lhs
    return has_type and result is lhs and not (lhs is ElementType.F64 and "GELU" in config.epilogue)


def _has_alignment(matmul: Matmul) -> bool:
    """Whether a product of 8-bit operands has the form that their kernels demand."""
    multiple = _TN_MULTIPLE.get(matmul.a.element_type, 1)
    if multiple == 1:
        return True
    matrices = (matmul.a, matmul.b, matmul.d)
    numbers = [matmul.d.rows, matmul.depth, *(n for m in matrices for n in (m.leading, m.batch_stride))]
    if matmul.a.element_type in _F8:
        numbers.append(matmul.d.columns)
    return matmul.a.transposed and not matmul.b.transposed and not any(n % multiple for n in numbers)


def _axes(config: MatmulConfig, lhs: Shape, rhs: Shape, result: Shape) -> tuple[_Axis, _Axis, _Axis, _Axis] | None:
    """Returns the batch, the free dimensions of the left and of the right operand, and the terms of each sum."""
    strides = [_strides(shape) for shape in (result, lhs, rhs)]
    of_result, of_lhs, of_rhs = strides
    if of_result is None or of_lhs is None or of_rhs is None:
        return None
    batch, terms = (
        (config.lhs_batch_dims, config.rhs_batch_dims),
        (config.lhs_contracting_dims, config.rhs_contracting_dims),
    )
    left = [d for d in range(lhs.rank) if d not in batch[0] and d not in terms[0]]
    right = [d for d in range(rhs.rank) if d not in batch[1] and d not in terms[1]]
    count = len(batch[0])
    parts = (range(count), range(count, count + len(left)), range(count + len(left), result.rank))

    def axis(
        in_result: Sequence[int] | None, in_lhs: Sequence[int] | None, in_rhs: Sequence[int] | None
    ) -> _Axis | None:
        """Joins dimensions, which are listed in their order for each array that has them."""
        lists = ((of_result, result, in_result), (of_lhs, lhs, in_lhs), (of_rhs, rhs, in_rhs))
        given = [(own, shape, dimensions) for own, shape, dimensions in lists if dimensions is not None]
        sizes = [given[0][1].dimensions[d] for d in given[0][2]]
        known = [[own[d] for d in dimensions] for own, _, dimensions in given]
        found = iter(known)
        filled = [next(found) if dimensions is not None else known[0] for _, _, dimensions in lists]
        return _joined(sizes, *filled)

    made = (
        axis(parts[0], batch[0], batch[1]),
        axis(parts[1], left, None),
        axis(parts[2], None, right),
        axis(None, terms[0], terms[1]),
    )
    first, second, third, fourth = made
    if first is None or second is None or third is None or fourth is None:
        return None
    return first, second, third, fourth


def _strides(shape: Shape) -> list[int] | None:
    """Returns how many elements are between neighbours along each dimension; None for tiles and packed elements."""
    layout = shape.layout
    if layout is not None and (layout.tiles or layout.element_size_in_bits):
        return None
    strides, step = [0] * shape.rank, 1
    for dimension in shape.minor_to_major():
        strides[dimension] = step
        step *= shape.dimensions[dimension]
    return strides


def _joined(sizes: Sequence[int], *strides: Sequence[int]) -> _Axis | None:
    """Joins dimensions to one, if each array has them next to each other and in the same order."""
    kept = sorted((part for part in zip(sizes, *strides, strict=True) if part[0] != 1), key=lambda part: -part[1])
    for outer, inner in pairwise(kept):
        if any(step != inner[0] * within for step, within in zip(outer[1:], inner[1:], strict=True)):
            return None
    return _Axis(math.prod(sizes), *(kept[-1][1:] if kept else (0, 0, 0)))


def _operand(
    element_type: ElementType, free: tuple[int, int], terms: tuple[int, int], batch_stride: int
) -> Matrix | None:
    """Returns an operand, transposed if the terms are neighbours: its rows are the terms then, else the free ones.

    `free` and `terms` are sizes and strides.
    """
    leading = _leading(terms, free)
    if leading is not None:
        return Matrix(element_type, terms[0], free[0], leading, batch_stride, transposed=True)
    leading = _leading(free, terms)
    return None if leading is None else Matrix(element_type, free[0], terms[0], leading, batch_stride)


def _leading(rows: tuple[int, int], columns: tuple[int, int]) -> int | None:
    """Returns the leading dimension of a matrix with these sizes and strides, or None if rows aren't neighbours."""
    (count, step), (others, leading) = rows, columns
    if count > 1 and step != 1:
        return None
    leading = leading if others > 1 else count
    return leading if leading >= count else None
