"""Sizes of dimensions: groups that have an edge of every tile, vector, block and counter in them."""

from __future__ import annotations

import math

from xla_conformance.ops.choices import Group

HIDING = (0, 1)
"""Sizes at which many faults don't show. They have cases of their own, so that they hide no faults of other choices."""

SMALL = (Group(3, 2, 4, 5, 6, 7, 8, 9), Group(15, 16, 17, 31, 32, 33))
MEDIUM = (*SMALL, Group(63, 64, 65, 127, 128, 129))
_LARGE = (Group(255, 256, 257, 511, 512, 513), Group(1023, 1024, 1025, 2047, 2048, 2049), Group(4095, 4096, 4097))
SIZES = (*MEDIUM, *_LARGE, Group(65537, 66001, 69999))
"""Around each power of two up to 4,096, and above 65,536."""

LARGEST_TILE = 129
"""Dimensions above this size go beyond a tile."""

PLACES = ("major", "middle", "minor", "every")
"""Where among an array's dimensions the one is that has the chosen size.

With "every", all have it, or as much as there is room for: a dimension that is taken for another one doesn't change
shapes then, and shows in the elements alone.
"""

_OTHERS = (3, 5, 2, 7, 4, 6, 8)
_ROWS = 9
_WIDE = 64
_LARGEST = 1 << 18


def position(place: str, rank: int) -> int:
    """Returns the dimension at a place."""
    return {"major": 0, "middle": rank // 2, "minor": rank - 1, "every": 0}[place]


def equal_size(size: int, rank: int, largest: int) -> int:
    """Returns the size, or the largest one with which an array of the rank has at most so many elements."""
    while size > 1 and size**rank > largest:
        size = max(1, min(size - 1, int(largest ** (1 / rank))))
    return size


def dimensions(rank: int, size: int, place: str, largest: int = _LARGEST) -> tuple[int, ...]:
    """Makes dimensions of which one has `size`.

    The other sizes differ from it and from each other, so that a swap of two dimensions shows; they are smaller where
    the array would have more than `largest` elements. A large dimension is beside one of 9, so that a matrix goes
    beyond a tile in both.
    """
    if rank == 0:
        return ()
    if place == "every" and rank > 1:
        return (equal_size(size, rank, largest),) * rank
    at = position(place, rank)
    others = [n for n in _OTHERS if n != size][: rank - 1]
    if size > _WIDE and others and size * _ROWS <= largest:
        others[max(at - 1, 0)] = _ROWS
    while math.prod(others) * size > largest and max(others, default=1) > 1:
        others[others.index(max(others))] -= 1
    return (*others[:at], size, *others[at:])


def beyond_tiles(tile: int) -> list[tuple[int, int]]:
    """Returns the sizes of matrices that go beyond a tile in both dimensions.

    Their numbers of rows, and of columns, have each remainder modulo 8: kernels of tiles, vectors or packed elements
    have code of their own for the last elements.
    """
    return [(tile + 1 + 3 * rest % 8, tile + 1 + rest) for rest in range(8)]
