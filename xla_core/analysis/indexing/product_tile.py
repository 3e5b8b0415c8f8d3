"""The tile of a product that a block of threads computes: fusion and the plan of the kernel use the same one."""

from __future__ import annotations

import math

from xla_core.analysis.indexing.product_space import ProductSpace
from xla_core.hlo.values.shape import Shape
from xla_core.sizes import ceil_div, power_above
from xla_core.target import ParallelModel

_TILE = 128  # rows and columns of a tile, at most
_LEAST_TILE = 32 * 32  # elements of a tile that is not made smaller to have more blocks


def has_neighbouring_rows(space: ProductSpace, shape: Shape) -> bool:
    """Whether neighbours in a result of this shape are rows of the product. They are its columns otherwise."""
    minor = next((d for d in shape.minor_to_major() if shape.dimensions[d] > 1), -1)
    return minor >= 0 and space.parts[minor][-1] in space.rows


def product_tile(space: ProductSpace, shape: Shape, model: ParallelModel) -> tuple[int, int]:
    """The rows and columns of a block's tile: small enough that there are blocks for the whole device.

    Args:
        space: the product.
        shape: that of the kernel's result, whose layout says whether rows or columns are neighbours.
        model: how the target divides work. It has blocks of threads.
    """
    batch, *lines, _ = space.sizes
    tile = [min(_TILE, power_above(n)) for n in lines]
    inner = 0 if has_neighbouring_rows(space, shape) else 1

    def blocks() -> int:
        return batch * math.prod(ceil_div(n, t) for n, t in zip(lines, tile, strict=True))

    while blocks() < model.blocks_at_once and math.prod(tile) > _LEAST_TILE:
        tile[inner if tile[inner] >= tile[1 - inner] else 1 - inner] //= 2
    return tile[0], tile[1]
