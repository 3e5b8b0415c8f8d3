"""The plan of a product whose operands the device reads from shared memory, by many lanes together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import ProductSpace, product_tile
from xla_core.codegen.llvm.blocks.tile_copy import TileLayout
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.forms.oriented_product import OrientedProduct
from xla_core.codegen.llvm.forms.product_layout import is_copied, tile_layout
from xla_core.codegen.llvm.forms.product_matrices import exact_shapes
from xla_core.codegen.llvm.forms.product_plan import MOST_STAGES, ProductPlan, blocks_of, most_copies
from xla_core.sizes import ceil_div
from xla_core.target import MatrixShape, ParallelModel

_LEAST_STAGES = 3  # with which asynchronous copies hide the time of memory
_LINES = (64, 128, 256)  # of a tile
_COPY = 128  # multiplications by matrices, in the time in which an element is copied to shared memory
_READ = 32  # multiplications by matrices, in the time in which an element is read from shared memory


def plan_shared_product(body: KernelBody, space: ProductSpace) -> ProductPlan | None:
    """Plans a kernel for the target's first type of matrices that pays, or returns None.

    A type pays where the tile with which there are blocks for the whole device holds a whole matrix of it. Otherwise
    most of its work would be lost, or most of the device would have none. Of the type's shapes and of the tiles that
    consist of them, those are chosen that are estimated to take the least time.
    """
    shape = body.roots[0].shape
    product = OrientedProduct.of(space, shape)
    rows, columns = product.turned(product_tile(space, shape, body.parallel))
    shapes = list(exact_shapes(product, body.parallel, in_shared_memory=True))
    for kind in dict.fromkeys((shape.operand, shape.mantissa_bits) for shape in shapes):
        same = [shape for shape in shapes if (shape.operand, shape.mantissa_bits) == kind]
        if any(rows >= shape.rows and columns >= shape.columns for shape in same):
            plan = _fastest(body, product, same)
            if plan is not None:
                return plan
    return None


def _fastest(body: KernelBody, product: OrientedProduct, shapes: Sequence[MatrixShape]) -> ProductPlan | None:
    """Returns the plan that is estimated to take the least time, or None if there is none."""
    found = [
        (_time(shape, (rows, columns), product, body.parallel), shape, (rows, columns))
        for shape, rows, columns in itertools.product(shapes, _LINES, _LINES)
        if rows % shape.rows == 0 and columns % shape.columns == 0
    ]
    for _, shape, tile in sorted(found, key=lambda each: each[0]):
        for width in shape.shared_widths:
            plan = _plan(body, product, shape, width, tile)
            if plan is not None:
                return plan
    return None


def _time(shape: MatrixShape, tile: tuple[int, int], product: OrientedProduct, model: ParallelModel) -> int:
    """Estimates the time of a term of all sums, in that of a multiplication by matrices.

    A processor that runs several blocks takes as long as for one after another.
    """
    groups = math.prod(tile) // (shape.rows * shape.columns)
    block = math.prod(tile) + _COPY * sum(tile) + _READ * groups * (shape.rows + shape.columns)
    return ceil_div(_count(tile, product), model.blocks_at_once) * block


def _count(tile: tuple[int, int], product: OrientedProduct) -> int:
    """The number of tiles."""
    return product.batch * math.prod(blocks_of(product, tile))


def _plan(
    body: KernelBody, product: OrientedProduct, shape: MatrixShape, width: int, tile: tuple[int, int]
) -> ProductPlan | None:
    """Returns the plan with rows of so many bytes in shared memory, or None if there are no registers or no room."""
    kept, model = shape.operand.byte_width, body.parallel
    row, lanes = width // kept, shape.lanes or model.lanes
    sums, threads = shape.rows * shape.columns // lanes, math.prod(tile) // (shape.rows * shape.columns) * lanes
    if threads > model.threads or sums > most_copies(body) or 2 * product.depth <= row:
        return None
    left, right = (tile_layout(body, product, side, tile[side], row, shape, row=row) for side in (0, 1))
    layouts = (left, right)
    for side, layout in enumerate(layouts):
        if not layout.along_depth and (not shape.turns or tile[side] % row):
            return None
    steps = ceil_div(product.depth, row)
    copied = steps > 1 and all(is_copied(body, product, side, layouts[side], shape) for side in (0, 1))
    blocks = _blocks_at_once(sums, layouts, threads, model, staged=not copied)
    fit = model.most_shared_bytes // (kept * sum(layout.size for layout in layouts))
    wanted = min(steps, _LEAST_STAGES if copied else 2)
    if not blocks or fit < wanted:
        return None
    blocks = min(blocks, ceil_div(_count(tile, product), model.blocks_at_once))
    stages = max(wanted, min(steps, fit // blocks, MOST_STAGES)) if copied else wanted
    return ProductPlan(
        count=_count(tile, product),
        threads=threads,
        product=product,
        tile=(*tile, row),
        layouts=layouts,
        matrix=shape,
        group=(shape.rows, shape.columns),
        stages=stages,
        is_asynchronous=copied,
    )


def _blocks_at_once(
    sums: int, layouts: Sequence[TileLayout], threads: int, model: ParallelModel, *, staged: bool
) -> int:
    """How many blocks a processor has registers for; 0 if a thread has too few.

    A thread keeps its sums, the addresses of what it copies, and, where its copies are staged in registers, what it
    copies. A thread of a full block has `model.registers` for values, and as many for what every kernel needs. No
    thread has eight times as many.
    """
    copied = sum(layout.groups + (layout.size if staged else 0) for layout in layouts)
    each = model.registers + sums + ceil_div(copied, threads)
    return 0 if each >= 8 * model.registers else 2 * model.registers * model.threads // (each * threads)
