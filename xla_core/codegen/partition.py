"""Partition: divides the nested loops of a kernel into units of work, before anything is emitted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.sizes import ceil_div, round_up
from xla_core.target import ParallelModel

TILE_SIDE = 32
"""Iterations of each of two loops in a square tile."""

_LEAST_CHUNK = 256  # iterations of a loop over a tile; shorter pieces of rows come slowly from memory
_CHUNK_STEP = 64  # chunks begin at multiples of it
_VECTORS = 4  # grains of a loop without a rest that LLVM computes at once, at most


@dataclasses.dataclass(frozen=True, slots=True)
class Partition:
    """The division of a nest of loops into `count` units.

    The first `prefix` loops are flattened into the number of the unit. The last loop may be divided into chunks.

    Attributes:
        extents: the sizes of the loops, outermost first.
        prefix: how many of the outer loops are divided.
        chunk: the iterations of the last loop in a unit, at most.
        count: the number of units.
        grain: the fewest units that are worth a thread.
        across: the loop that runs in square tiles with the last one, or -1. Each tile is then a unit.
    """

    extents: tuple[int, ...]
    prefix: int
    chunk: int
    count: int
    grain: int = 1
    across: int = -1

    @staticmethod
    def whole(extents: Sequence[int]) -> Partition:
        """Makes one unit of all loops."""
        return Partition(tuple(extents), 0, extents[-1], 1)

    @staticmethod
    def into_elements(extent: int, model: ParallelModel) -> Partition:
        """Makes a unit of each iteration of a single loop."""
        grains = 1 if extent % (_VECTORS * model.grain_elements) else _VECTORS
        return Partition((extent,), 1, extent, extent, grains * model.grain_elements)

    @staticmethod
    def into_rows(extents: Sequence[int], model: ParallelModel, most: int | None = None) -> Partition:
        """Divides as many of the outer loops as make units enough. Where all of them make few, rows are divided too.

        Args:
            extents: the sizes of at least two loops.
            model: how many units the target wants, and how large.
            most: how many of the outer loops may be divided, because a costly value is computed once in each of their
                iterations. Rows stay whole then. By default all may be divided.
        """
        *outer, inner = extents
        sizes = [math.prod(outer[:taken]) for taken in range(len(outer[:most]) + 1)]
        prefix = next((n for n, size in enumerate(sizes) if size >= model.units), len(sizes) - 1)
        chunk = inner if most is not None else _chunk(inner, _wanted(sizes[prefix], inner, model.row_elements, model))
        return _of_chunks(extents, prefix, chunk, model)

    @staticmethod
    def into_chunks(extents: Sequence[int], model: ParallelModel, longest: int) -> Partition:
        """Divides all outer loops, and the last one into chunks of at most `longest` iterations, a multiple of 64."""
        *outer, inner = extents
        wanted = max(_wanted(math.prod(outer), inner, _LEAST_CHUNK, model), ceil_div(inner, longest))
        return _of_chunks(extents, len(outer), _chunk(inner, wanted), model)

    @staticmethod
    def into_tiles(extents: Sequence[int], across: int) -> Partition:
        """Makes a unit of each square tile of the last loop and another one, in each iteration of the others."""
        others = math.prod(n for position, n in enumerate(extents[:-1]) if position != across)
        tiles = ceil_div(extents[across], TILE_SIDE) * ceil_div(extents[-1], TILE_SIDE)
        return Partition(tuple(extents), len(extents), extents[-1], others * tiles, across=across)

    @property
    def chunks(self) -> int:
        """How many units share the last loop."""
        return ceil_div(self.extents[-1], self.chunk) if self.chunk else 1

    @property
    def is_position(self) -> bool:
        """Whether the number of a unit is the index of the first loop."""
        return self.prefix == 1 and self.chunks == 1 and self.across < 0


def _wanted(rows: int, inner: int, least: int, model: ParallelModel) -> int:
    """Into how many chunks, of at least `least` iterations, so many rows are divided for the target to be busy."""
    return min(ceil_div(model.units, rows), inner // least) if rows < model.units else 1


def _chunk(inner: int, wanted: int) -> int:
    """The iterations of a chunk of a loop that is divided into about `wanted` ones."""
    return round_up(ceil_div(inner, wanted), _CHUNK_STEP) if wanted > 1 else inner


def _of_chunks(extents: Sequence[int], prefix: int, chunk: int, model: ParallelModel) -> Partition:
    count = math.prod(extents[:prefix]) * (ceil_div(extents[-1], chunk) if chunk else 1)
    grain = max(1, model.grain_elements * count // max(math.prod(extents), 1))
    return Partition(tuple(extents), prefix, chunk, count, grain)
