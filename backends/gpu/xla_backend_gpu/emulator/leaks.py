"""MemoryLeakWarning: the finding that a device is gone, and memory of it was never freed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from types import FrameType

Call = tuple[str, int, str]
"""A file, a line of it, and the function that the line is in."""

_CALLS = 8
_SHOWN = 20  # blocks of a finding, the others are counted
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class MemoryLeakWarning(RuntimeWarning):
    """Memory of an emulated device that nobody can free any more.

    Attributes:
        blocks: (address, size, the calls that led to its allocation, innermost first) of each block. There are no calls
            of a block that was allocated after a launch with the fast engine.
    """

    def __init__(self, device: str, blocks: Sequence[tuple[int, int, Sequence[Call]]]) -> None:
        self.blocks = blocks
        total = sum(size for _, size, _ in blocks)
        count = f"{len(blocks)} {'block' if len(blocks) == 1 else 'blocks'}"
        lines = [f"memory leak: {total} bytes in {count} of the closed device {device} were never freed"]
        for address, size, calls in blocks[:_SHOWN]:
            lines.append(f"  {size} bytes at {address:#x}" + (", allocated by" if calls else ""))
            lines += [f"    {function} ({file}:{line})" for file, line, function in calls]
        if len(blocks) > _SHOWN:
            lines.append(f"  and {len(blocks) - _SHOWN} more blocks")
        super().__init__("\n".join(lines))


def calls_outside() -> tuple[Call, ...]:
    """Returns the innermost calls outside of this package that led here."""
    frame: FrameType | None = sys._getframe(1)
    found: list[Call] = []
    while frame is not None and len(found) < _CALLS:
        if not frame.f_code.co_filename.startswith(_OWN):
            found.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return tuple(found)


def warn_of_leaks(device: str, blocks: Sequence[tuple[int, int, Sequence[Call]]]) -> None:
    """Warns if there are any blocks."""
    if blocks:
        warnings.warn(MemoryLeakWarning(device, blocks), stacklevel=2)
