"""Chooses the kernel of a dot.

- A blocked product reads the rows of the right operand in place. It takes dots of f32 and f64 with few rows on the
  left, and those whose operands stay in the second-level cache while they are used and that sum few products.
- A packed product copies parts of its operands into panels, which are read in order. It takes the other dots of f32 and
  f64: those of a transposed right operand, those whose rows are so far apart that they displace one another in the
  cache. It takes all dots of bytes.
- A row product reads the rows of a transposed right operand in place, for few rows on the left. A dot with very few
  columns is the transpose of such a product.
- A streamed product reads very few rows' matrix in order. It takes dots whose time is that of reading memory.
- OpenBLAS takes dots of complex numbers.

`passes/dot_operand_transposer.py` transposes the right operand of the few dots that none of them can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xla_backend_cpu.codegen.blocked_product import BlockedProduct, Group
from xla_backend_cpu.codegen.library_product import LibraryProduct
from xla_backend_cpu.codegen.packed_product import MOST_TAPS, PackedProduct
from xla_backend_cpu.codegen.panels import PanelFormat, panel_format
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.codegen.row_product import RowProduct
from xla_backend_cpu.codegen.streamed_product import StreamedProduct
from xla_core.hlo import HloInstruction, Opcode

_FEW_ROWS = 16  # up to this many left rows, packing the right operand costs more than it saves
_FEW_ROWS_TRANSPOSED = 32  # up to this many left rows, transposing the right operand costs more than it saves
_FEWEST_TAPS = 16  # with fewer taps, a row product spends too much on summing the lanes of its registers
_TAPS_PER_ROW = 2  # with fewer taps, transposing costs less than summing the lanes for each element
_VERY_FEW_COLUMNS = 12  # with no more columns, most of a vector register would be unused
_TAPS_PER_COLUMN = 8  # with fewer taps, summing the lanes for each element costs too much
_FEWEST_FEATURES = 4  # with fewer features, most of a vector register would be unused
_FEWEST_ELEMENTS = 2  # a row product of a vector needs several sums at a time, so at least this many elements
_FEWEST_UNITS = 16  # with fewer elements, threads divide the row as well
_STORED = (Opcode.PARAMETER, Opcode.CONSTANT, Opcode.GET_TUPLE_ELEMENT)  # whose values no fusion computes
_SMALL_FLOPS = 2 * 8 * 8 * 8  # for smaller products, the call costs more than the product

Product = BlockedProduct | RowProduct | StreamedProduct | PackedProduct | LibraryProduct


def dot_kernel(dot: HloInstruction, processor: Processor, blas: bool) -> Product | None:
    """Returns the kernel of a dot, or None if none supports its types and the layouts of its operands.

    `blas` allows OpenBLAS.
    """
    if not processor.registers:
        return None
    element_type = dot.shape.element_type
    left_type, right_type = (o.shape.element_type for o in dot.operands)
    format_ = panel_format(left_type, right_type, element_type, processor)
    if format_ is None and not (blas and left_type is right_type is element_type):
        return None
    strides = _Strides.of(dot)
    if strides is None:
        return None
    groups, rows, left_taps, (k, right_row), (n, feature_step) = strides
    taps = (k, left_taps[0][1] if left_taps else 1, right_row)
    real = format_ is not None and format_.depth == 1
    if (
        format_ is not None
        and real
        and len(left_taps) <= 1
        and (few := _few_features(format_, groups, rows, taps, (n, feature_step), processor))
    ):
        return few
    reads_rows = real and feature_step == 1 and n >= _FEWEST_FEATURES
    streamed = StreamedProduct(groups, rows, taps, n)
    if reads_rows and len(left_taps) <= 1 and streamed.is_bound_by_memory(element_type.byte_width, processor):
        return streamed
    blocked = BlockedProduct(groups, rows, (1, 0, 0), left_taps, n, right_row)
    stays_in_cache = k <= MOST_TAPS and blocked.reads_from_cache(element_type.byte_width, processor)
    if reads_rows and (rows[0] <= _FEW_ROWS or stays_in_cache):
        return blocked
    if len(left_taps) <= 1:
        in_rows = feature_step != 1 and taps[1:] == (1, 1)
        if real and in_rows and rows[0] <= _FEW_ROWS_TRANSPOSED and k >= max(_FEWEST_TAPS, _TAPS_PER_ROW * rows[0]):
            return RowProduct(groups, rows, k, (n, feature_step, 1))
        if format_ is not None:
            packed = PackedProduct(format_, groups, rows, taps, (n, feature_step, 1))
            if packed.is_packable:
                return packed
        library = LibraryProduct.of(element_type, groups, rows, taps, (n, feature_step))
        if blas and library is not None and 2 * rows[0] * n * k >= _SMALL_FLOPS:
            return library
    return blocked if reads_rows else None


class _Strides(NamedTuple):
    """The sizes and strides of a dot's dimensions, of which contiguous ones are merged.

    Attributes:
        groups: the group dimensions, outermost first.
        rows: (count, left stride, out stride).
        left_taps: (count, left stride) of each dimension of the taps.
        right_taps: (count, right stride).
        features: (count, right stride).
    """

    groups: tuple[Group, ...]
    rows: tuple[int, int, int]
    left_taps: tuple[tuple[int, int], ...]
    right_taps: tuple[int, int]
    features: tuple[int, int]

    @staticmethod
    def of(dot: HloInstruction) -> _Strides | None:
        """Returns None for an empty dot, and one whose layouts don't have all taps or all features in order."""
        left, right = (_Operand(dot, side) for side in ("lhs", "rhs"))
        if not _row_major(dot) or 0 in (*left.shape, *right.shape):
            return None
        out = _strides(dot.shape.dimensions)
        rank = len(left.batch)
        batches = zip(left.pick(left.batch), right.pick(right.batch), strict=True)
        groups = [Group(count, step, right_step, out[i]) for i, ((count, step), (_, right_step)) in enumerate(batches)]
        points = _merge([(count, step, out[rank + i]) for i, (count, step) in enumerate(left.pick(left.free))])
        groups += [Group(count, step, 0, out_step) for count, step, out_step in points[:-1]]
        features = _merge([(count, step, step) for count, step in right.pick(right.free)])
        right_taps = _merge([(count, step, step) for count, step in right.pick(right.contracting)])
        if len(features) > 1 or len(right_taps) > 1:
            return None
        n, feature_step, _ = features[0] if features else (1, 1, 1)
        k, right_row, _ = right_taps[0] if right_taps else (1, n, n)
        contracting = zip(left.pick(left.contracting), right.pick(right.contracting), strict=True)
        taps = _merge([(count, step, right_step) for (count, step), (_, right_step) in contracting])
        return _Strides(
            tuple(groups),
            points[-1] if points else (1, 0, 0),
            tuple((count, step) for count, step, _ in taps),
            (k, right_row),
            (n, feature_step),
        )


def keeps_matrix_vector(dot: HloInstruction, processor: Processor, blas: bool) -> bool:
    """Whether a product of a matrix and a vector stays a dot, rather than become a reduction.

    A row product reads the matrix faster. A reduction fuses with the producers of the matrix, and more threads can
    share a reduction of few long rows.
    """
    kernel = dot_kernel(dot, processor, blas)
    if not isinstance(kernel, RowProduct) or kernel.columns[0] < _FEWEST_ELEMENTS:
        return False
    matrix_bytes = kernel.taps * kernel.columns[0] * dot.shape.element_type.byte_width
    if kernel.columns[0] < _FEWEST_UNITS and matrix_bytes > processor.last_cache_bytes:
        return False
    return all(o.opcode in _STORED or len(o.users) > 1 for o in dot.operands)


def has_few_columns(rows: int, taps: int, columns: int) -> bool:
    """Whether a dot with contiguous rows on the left should be the transpose of a row product."""
    return _few_columns(rows, columns) and taps >= _TAPS_PER_COLUMN * columns


def _few_columns(rows: int, columns: int) -> bool:
    return columns <= _VERY_FEW_COLUMNS and rows >= 2 * columns


def _few_features(
    format_: PanelFormat,
    groups: Sequence[Group],
    rows: tuple[int, int, int],
    taps: tuple[int, int, int],
    features: tuple[int, int],
    processor: Processor,
) -> RowProduct | StreamedProduct | BlockedProduct | PackedProduct | None:
    """The transpose of a product with few features: features become rows, and the operands change places.

    Args:
        format_: the words of packed panels.
        groups: the group dimensions, outermost first.
        rows: (count, left stride, out stride).
        taps: (count, left stride, right stride).
        features: (count, right stride).
        processor: the processor that the kernel is for.
    """
    (m, left_row, out_row), (k, left_tap, right_tap), (n, feature_step) = rows, taps, features
    if not _few_columns(m, n):
        return None
    swapped = tuple(Group(g.count, g.right, g.left, g.out) for g in groups)
    streamed = StreamedProduct(swapped, (n, feature_step, 1), (k, right_tap, left_tap), m, True)
    if left_row == out_row == 1 and streamed.is_bound_by_memory(format_.word_bytes, processor):
        return streamed
    if left_row == 1:
        return BlockedProduct(swapped, (n, feature_step, 1), (1, 0, 0), ((k, right_tap),), m, left_tap, out_row, True)
    if left_tap == right_tap == 1 and has_few_columns(m, k, n):
        return RowProduct(swapped, (n, feature_step, 1), k, rows, True)
    if left_tap == 1:
        return PackedProduct(format_, swapped, (n, feature_step, 1), (k, right_tap, left_tap), rows, True)
    return None


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
