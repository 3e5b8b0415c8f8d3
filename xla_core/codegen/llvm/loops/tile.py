"""The tile that is being emitted, where two loops of a kernel run in square tiles."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from xla_core.codegen.llvm.ir.module import Value

__all__ = ["Tile"]


@dataclasses.dataclass(slots=True)
class Tile:
    """The kernel's loops over `space`, whose innermost loop has the position `last`.

    `across` is the position of the loop that is tiled with the innermost one, or -1. Where it is set, `begin` and `end`
    are the bounds of the (across, last) loops in this tile, and `level` is the number of loops around the tile.
    """

    space: Hashable
    last: int
    across: int = -1
    level: int = 0
    begin: tuple[Value, Value] | None = None
    end: tuple[Value, Value] | None = None
