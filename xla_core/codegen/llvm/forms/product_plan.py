"""The plan of a kernel that computes a product: tiles, threads, and how operands go through shared memory."""

from __future__ import annotations

import dataclasses
import math

from xla_core.analysis.indexing import ProductSpace, product_tile
from xla_core.codegen.llvm.blocks.tile_copy import TileLayout
from xla_core.codegen.llvm.elements.accumulators import accumulated_type
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelPlan
from xla_core.codegen.llvm.forms.oriented_product import OrientedProduct
from xla_core.codegen.llvm.forms.product_layout import PADDING, is_copied, kept_type, tile_layout
from xla_core.codegen.llvm.forms.product_matrices import exact_shapes
from xla_core.sizes import ceil_div, power_above, power_below
from xla_core.target import MatrixShape, ParallelModel

MOST_STAGES = 4
"""Tiles of an operand in shared memory, at most, while asynchronous copies run."""

_LEAST_THREADS = 128
_DEPTH_BYTES = 64  # of a line of a tile
_MOST_CODE = 2048  # HLO instructions in all copies of what depends on the product


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProductPlan(KernelPlan):
    """How a product is divided.

    Attributes:
        product: what is computed.
        tile: the rows, columns and terms of a block's tile.
        layouts: how the tiles of both operands are copied.
        each: the rows and columns that a thread accumulates, where threads multiply elements.
        matrix: the product of small matrices by which groups of lanes multiply; None if threads multiply elements.
        group: the rows and columns that a group of lanes accumulates.
        stages: how many tiles of each operand are in shared memory.
        is_asynchronous: whether the tiles are copied to shared memory without registers, while others are multiplied.
    """

    product: OrientedProduct
    tile: tuple[int, int, int]
    layouts: tuple[TileLayout, TileLayout]
    each: tuple[int, int] = (1, 1)
    matrix: MatrixShape | None = None
    group: tuple[int, int] = (1, 1)
    stages: int = 1
    is_asynchronous: bool = False

    @property
    def blocks(self) -> tuple[int, int]:
        """How many tiles cover the rows, and the columns."""
        return blocks_of(self.product, self.tile)

    @property
    def steps(self) -> int:
        """How many tiles cover the terms."""
        return ceil_div(self.product.depth, self.tile[2])

    def vector(self, side: int) -> int:
        """How many rows (0) or columns (1) of a thread are neighbours."""
        return min(self.each[side], PADDING)

    def groups(self, side: int) -> int:
        """How many groups of neighbouring rows or columns a thread has. They are spread over the tile."""
        return self.each[side] // self.vector(side)

    def describe_loops(self) -> str:
        product = self.product
        products = f"{product.batch} products of " if product.batch > 1 else ""
        whole = " x ".join(map(str, (*product.lines, product.depth)))
        tile, each = " x ".join(map(str, self.tile)), " x ".join(map(str, self.each))
        stages = f", {self.stages} stages" if self.stages > 1 else ""
        stages += " of asynchronous copies" if self.is_asynchronous else ""
        if self.matrix is not None:
            each = f"{self.group[0]} x {self.group[1]} by {self.matrix}"
        else:
            each += " a thread"
        reads = " and ".join(str(layout.width) for layout in self.layouts)
        return f"; {products}{whole} in tiles of {tile}, {each}{stages}, reads of {reads}"


def blocks_of(product: OrientedProduct, tile: tuple[int, ...]) -> tuple[int, int]:
    """Returns how many tiles cover the rows of a product, and its columns."""
    return ceil_div(product.lines[0], tile[0]), ceil_div(product.lines[1], tile[1])


def plan_product(body: KernelBody, space: ProductSpace) -> ProductPlan:
    """Plans a kernel for the target's blocks of threads."""
    model, shape = body.parallel, body.roots[0].shape
    product = OrientedProduct.of(space, shape)
    matrix = next(exact_shapes(product, model, in_shared_memory=False), None)
    kept = kept_type(product, matrix).byte_width
    rows, columns = _tile(product.turned(product_tile(space, shape, model)), model, matrix)
    rows, columns, threads = _divide(body, product, rows, columns, matrix)
    terms = power_above(min(product.depth, max(4, _DEPTH_BYTES // kept)))
    least = 1
    if matrix is not None:
        terms, least = max(terms, matrix.terms), matrix.terms

    def layout(side: int) -> TileLayout:
        return tile_layout(body, product, side, (rows, columns)[side], terms, matrix)

    while True:
        stages = 2 if product.depth > terms else 1
        layouts = (layout(0), layout(1))
        size = kept * sum(each.size for each in layouts)
        if terms == least or stages * size <= model.shared_bytes:
            break
        terms //= 2
    is_asynchronous = stages > 1 and all(is_copied(body, product, side, layouts[side], matrix) for side in (0, 1))
    if is_asynchronous and product.depth > 3 * terms and MOST_STAGES * size <= model.shared_bytes:
        stages = MOST_STAGES
    return ProductPlan(
        count=product.batch * math.prod(blocks_of(product, (rows, columns))),
        threads=threads,
        product=product,
        tile=(rows, columns, terms),
        layouts=layouts,
        each=_each(rows, columns, rows * columns // threads),
        matrix=matrix,
        group=(1, 1) if matrix is None else _group(rows, columns, threads // model.lanes, matrix),
        stages=stages,
        is_asynchronous=is_asynchronous,
    )


def _group(rows: int, columns: int, groups: int, matrix: MatrixShape) -> tuple[int, int]:
    """The rows and columns of a group of lanes, as square as possible."""
    group = [matrix.rows, matrix.columns]
    while math.prod(group) * groups < rows * columns:
        grows = 0 if (group[0] <= group[1] and group[0] < rows) or group[1] == columns else 1
        group[grows] *= 2
    return group[0], group[1]


def _tile(tile: tuple[int, int], model: ParallelModel, matrix: MatrixShape | None) -> tuple[int, int]:
    """The rows and columns of a block's tile: at least one matrix, or an element for each lane."""
    rows, columns = tile
    if matrix is not None:
        return max(rows, matrix.rows), max(columns, matrix.columns)
    while rows * columns < max(model.lanes, 2):
        rows *= 2
    return rows, columns


def _divide(
    body: KernelBody, product: OrientedProduct, rows: int, columns: int, matrix: MatrixShape | None
) -> tuple[int, int, int]:
    """The rows and columns of a tile that a block's threads have registers for, and the number of threads."""
    model, elements = body.parallel, rows * columns
    most = _most_elements(body, product)
    most_threads = power_below(model.threads)  # the sides of a tile are powers of two, and so is its share of a thread
    threads = max(ceil_div(elements, most), min(_LEAST_THREADS, most_threads, elements))
    if matrix is not None:
        threads = min(threads, elements * model.lanes // (matrix.rows * matrix.columns))
    while threads > most_threads:
        if rows >= columns:
            rows //= 2
        else:
            columns //= 2
        threads //= 2
    return rows, columns, threads


def _most_elements(body: KernelBody, product: OrientedProduct) -> int:
    """The most elements of the result that a thread accumulates."""
    words = max(1, accumulated_type(product.instruction).byte_width // 4)
    return power_below(max(1, min(body.parallel.registers * 2 // words, most_copies(body))))


def most_copies(body: KernelBody) -> int:
    """How often the code of what depends on the product may be repeated."""
    return _MOST_CODE // body.size


def _each(rows: int, columns: int, count: int) -> tuple[int, int]:
    """Divides the elements of a thread into rows and columns, as square as possible."""
    across = 1
    while across * across * 2 <= count and across < columns:
        across *= 2
    while count // across > rows:
        across *= 2
    return count // across, across
