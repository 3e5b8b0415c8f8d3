"""The tile at hand, where a kernel's loops run in tiles."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

from xla_core.codegen.llvm.ir_module import Value

__all__ = ["Tile"]


@dataclasses.dataclass(slots=True)
class Tile:
    """The kernel's loops over a space of `last` + 1 loops.

    `across` is the loop that is tiled together with the last one, -1 as long as none is; then `begin` and `end` are the
    bounds of the (across, last) loops in this tile, and `level` is the depth around the tile.
    """

    space: Hashable
    last: int
    across: int = -1
    level: int = 0
    begin: tuple[Value, Value] | None = None
    end: tuple[Value, Value] | None = None
