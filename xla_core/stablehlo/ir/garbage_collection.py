"""Disables Python's garbage collector while large op trees are read or walked."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from xla_core.errors import InvalidArgumentError, ResourceExhaustedError


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Disables garbage collection, which would take half of the time and find no garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def reading(file: str) -> Iterator[None]:
    """Reads a program without garbage collection. Raises XlaError if it is nested too deeply, or memory runs out."""
    try:
        with without_collector():
            yield
    except RecursionError as error:
        raise InvalidArgumentError(f"{file}: the program is nested too deeply to be read") from error
    except MemoryError as error:
        raise ResourceExhaustedError(f"{file}: not enough memory to read the program") from error
