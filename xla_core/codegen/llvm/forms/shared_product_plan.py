"""The plan of a product whose operands the device reads from shared memory, by many lanes together."""

from __future__ import annotations

import dataclasses
import math

from xla_core.analysis.indexing import ProductSpace, product_tile
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.forms.product_plan import (
    MOST_STAGES,
    ProductPlan,
    computes,
    is_copied,
    layout_of,
    most_elements,
    orientation,
)
from xla_core.target import MatrixShape

_LEAST_STAGES = 3  # with which asynchronous copies hide the time of memory


def plan_shared_product(body: KernelBody, space: ProductSpace) -> ProductPlan | None:
    """Plans a kernel for the target's first shape that pays, or returns None.

    A shape pays where the tile with which there are blocks for the whole device holds a whole matrix of it. Otherwise
    most of its work would be lost, or most of the device would have none.
    """
    model = body.parallel
    operands, sizes = orientation(body, space)
    rows, columns = product_tile(space, body.roots[0].shape, model)
    tile = (columns, rows) if operands == (1, 0) else (rows, columns)
    for shape in model.matrix_shapes:
        lanes = shape.lanes or model.lanes
        threads = math.prod(tile) // (shape.rows * shape.columns) * lanes
        pays = tile[0] >= shape.rows and tile[1] >= shape.columns and threads <= model.threads
        keeps = shape.rows * shape.columns // lanes <= most_elements(body, space)
        if not (shape.in_shared_memory and pays and keeps and computes(shape, space, sizes)):
            continue
        for width in shape.shared_widths:
            plan = _plan(body, space, shape, width, tile, threads)
            if plan is not None:
                return plan
    return None


def _plan(
    body: KernelBody, space: ProductSpace, shape: MatrixShape, width: int, tile: tuple[int, int], threads: int
) -> ProductPlan | None:
    """Returns the plan with rows of so many bytes in shared memory, or None if there is no room for them."""
    operands, sizes = orientation(body, space)
    kept = shape.operand.byte_width
    row = width // kept
    layouts = tuple(
        layout_of(body, space, operands, side, sizes, tile[side], row, kept, shape, row=row) for side in (0, 1)
    )
    for side, layout in enumerate(layouts):
        if not layout.along_depth and (not shape.turns or tile[side] % row):
            return None
    steps = -(-sizes[3] // row)
    fit = body.parallel.most_shared_bytes // (kept * sum(layout.size for layout in layouts))
    copied = steps > 1 and all(is_copied(body, space, operands[side], layouts[side], shape) for side in (0, 1))
    wanted = min(steps, _LEAST_STAGES if copied else 2)
    if 2 * sizes[3] <= row or fit < wanted:
        return None
    plan = ProductPlan(
        0,
        threads=threads,
        space=space,
        operands=operands,
        sizes=sizes,
        tile=(*tile, row),
        matrix=shape,
        group=(shape.rows, shape.columns),
        stages=min(steps, fit, MOST_STAGES) if copied else wanted,
        is_asynchronous=copied,
        layouts=(layouts[0], layouts[1]),
    )
    return dataclasses.replace(plan, count=sizes[0] * math.prod(plan.blocks))
