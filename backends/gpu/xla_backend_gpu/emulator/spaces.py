"""State spaces and their windows in the generic address space."""

from __future__ import annotations

SHARED_WINDOW = 0x7F00_0000_0000
LOCAL_WINDOW = 0x7F80_0000_0000
WINDOW_BYTES = 1 << 32


def window(space: str) -> int:
    """Returns the generic address of a space's address 0. Global and constant addresses are generic already."""
    return {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
