"""Chooses the kernel of a dot: a blocked product, a row product, or a call of OpenBLAS.

- A blocked product is fastest if the right operand fits into the second-level cache, or if the left operand has so few
  rows that packing does not pay. The rows of the right operand should be contiguous; otherwise it is transposed in
  blocks.
- A row product is fastest for few rows and a transposed right operand.
- OpenBLAS packs its operands and takes the other dots.

All three read their operands in place. `passes/dot_operand_transposer.py` transposes the right operand of the few dots
that none of them can read.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_backend_cpu.codegen.blocked_product import BlockedProduct, Group
from xla_backend_cpu.codegen.library_product import LibraryProduct
from xla_backend_cpu.codegen.row_product import RowProduct
from xla_core.hlo import ElementType, HloInstruction

__all__ = ["dot_kernel", "longest_exact_sum"]

_REAL = (ElementType.F32, ElementType.F64)
_BYTES = {ElementType.S8, ElementType.U8}
_LARGE_BYTES = 1 << 19  # half of a usual second-level cache
_FEW_ROWS = 48  # with fewer rows, each element of the right operand is used too seldom for packing to pay
_LONGEST_PANEL_BYTES = 1 << 13  # the most bytes of one feature in a packed panel
_FEWEST_FEATURES = 4  # with fewer features, most of a vector register would be unused
_SMALL_FLOPS = 2 * 8 * 8 * 8  # for smaller products, the call costs more than the product


def dot_kernel(dot: HloInstruction, blas: bool) -> BlockedProduct | RowProduct | LibraryProduct | None:
    """Returns the kernel of a dot, or None if none supports the layouts of its operands. `blas` allows OpenBLAS."""
    types = {dot.shape.element_type, *(o.shape.element_type for o in dot.operands)}
    left, right = (_Operand(dot, side) for side in ("lhs", "rhs"))
    integral = _is_exact_in_f32(dot)
    if (len(types) > 1 and not integral) or not _row_major(dot) or 0 in (*left.shape, *right.shape):
        return None
    element_type = dot.operand(1).shape.element_type
    out = _strides(dot.shape.dimensions)
    rank = len(left.batch)
    groups = [
        Group(count, left_step, right_step, out[i])
        for i, ((count, left_step), (_, right_step)) in enumerate(
            zip(left.pick(left.batch), right.pick(right.batch), strict=True)
        )
    ]
    points = _merge([(count, step, out[rank + i]) for i, (count, step) in enumerate(left.pick(left.free))])
    groups += [Group(count, step, 0, out_step) for count, step, out_step in points[:-1]]
    rows = points[-1] if points else (1, 0, 0)
    features = _merge([(count, step, step) for count, step in right.pick(right.free)])
    right_taps = _merge([(count, step, step) for count, step in right.pick(right.contracting)])
    if len(features) > 1 or len(right_taps) > 1:
        return None
    n, feature_step, _ = features[0] if features else (1, 1, 1)
    k, right_row, _ = right_taps[0] if right_taps else (1, n, n)
    taps = _merge(
        [
            (count, left_step, right_step)
            for (count, left_step), (_, right_step) in zip(
                left.pick(left.contracting), right.pick(right.contracting), strict=True
            )
        ]
    )
    left_tap = taps[0][1] if taps else 1
    blocked = BlockedProduct(
        tuple(groups), rows, (1, 0, 0), tuple((count, step) for count, step, _ in taps), n, right_row
    )
    real = integral or element_type in _REAL
    reads_rows = real and feature_step == 1 and n >= _FEWEST_FEATURES
    if reads_rows and (k * n * element_type.byte_width <= _LARGE_BYTES or rows[0] <= _FEW_ROWS):
        return blocked
    if len(taps) <= 1:
        transposed = feature_step != 1 and right_row == 1 and left_tap == 1
        small = k * n * element_type.byte_width <= _LARGE_BYTES and k * element_type.byte_width <= _LONGEST_PANEL_BYTES
        if real and not integral and transposed and rows[0] > 4 and small and n >= _FEWEST_FEATURES:
            return dataclasses.replace(blocked, right_feature=feature_step)
        if real and transposed and rows[0] <= _FEW_ROWS and k >= 16:
            return RowProduct(tuple(groups), rows, k, (n, feature_step))
        library = LibraryProduct.of(element_type, groups, rows, (k, left_tap, right_row), (n, feature_step))
        if blas and library is not None and not integral and 2 * rows[0] * n * k >= _SMALL_FLOPS:
            return library
    return blocked if reads_rows else None


def _is_exact_in_f32(dot: HloInstruction) -> bool:
    """Whether a dot of bytes has sums that f32 represents. Kernels then convert the elements that they load."""
    left, right = (o.shape for o in dot.operands)
    k = math.prod(left.dimensions[d] for d in dot.attribute("lhs_contracting_dims"))
    return (
        {left.element_type, right.element_type} <= _BYTES
        and dot.shape.element_type in (ElementType.S32, ElementType.U32)
        and k <= longest_exact_sum(left.element_type, right.element_type)
    )


def longest_exact_sum(left: ElementType, right: ElementType) -> int:
    """Returns how many products of two integer types f32 sums exactly in any order: f32 has all integers up to 2^24."""
    return (1 << 24) // (_largest(left) * _largest(right))


def _largest(element_type: ElementType) -> int:
    """Returns the largest magnitude of an integer type."""
    return int(2 ** (element_type.bit_width - 1 if element_type.is_signed else element_type.bit_width))


class _Operand:
    """One operand of a dot: its sizes and strides, and its batch, contracting and free dimensions."""

    def __init__(self, dot: HloInstruction, side: str) -> None:
        self.shape = dot.operand(0 if side == "lhs" else 1).shape.dimensions
        self.strides = _strides(self.shape)
        self.batch: tuple[int, ...] = dot.attribute(f"{side}_batch_dims")
        self.contracting: tuple[int, ...] = dot.attribute(f"{side}_contracting_dims")
        self.free = tuple(d for d in range(len(self.shape)) if d not in self.batch and d not in self.contracting)

    def pick(self, dims: tuple[int, ...]) -> list[tuple[int, int]]:
        """(size, stride) of each dimension in `dims`."""
        return [(self.shape[d], self.strides[d]) for d in dims]


def _strides(dimensions: tuple[int, ...]) -> list[int]:
    strides = [1] * len(dimensions)
    for i in range(len(dimensions) - 2, -1, -1):
        strides[i] = strides[i + 1] * dimensions[i + 1]
    return strides


def _merge(dims: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Merges adjacent dimensions (size, stride, other stride) that are contiguous in both strides.

    Dimensions of size 1 are dropped.
    """
    merged: list[tuple[int, int, int]] = []
    for count, step, other in dims:
        if count == 1:
            continue
        if merged and merged[-1][1] == step * count and merged[-1][2] == other * count:
            merged[-1] = (merged[-1][0] * count, step, other)
        else:
            merged.append((count, step, other))
    return merged


def _row_major(dot: HloInstruction) -> bool:
    return all(s.layout is None or s.layout.is_row_major for s in (dot.shape, *(o.shape for o in dot.operands)))
