"""Switches off Python's garbage collector while large op trees are made or walked."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["without_collector"]


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """No collection within: what is made here is no garbage in cycles, and looking for some is half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
