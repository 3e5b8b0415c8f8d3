"""The memory statistics of a device, and the error for a device that is full."""

from __future__ import annotations

import dataclasses
import gc

from xla_core.backend.stream_executor import Allocator
from xla_core.errors import ResourceExhaustedError


def format_bytes(size: float) -> str:
    """Writes a number of bytes with a unit, as in 3.2 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


@dataclasses.dataclass(frozen=True, slots=True)
class MemoryStats:
    """The memory statistics of one device at one moment.

    Attributes:
        bytes_in_use: bytes in buffers and running programs.
        bytes_pooled: bytes that are allocated from the device and free for reuse.
        peak_bytes_reserved: the maximum of bytes_reserved so far.
        bytes_limit: the limit of bytes_reserved; None for no limit.
        allocations: the number of allocations that the device has made.
    """

    bytes_in_use: int
    bytes_pooled: int
    peak_bytes_reserved: int
    bytes_limit: int | None
    allocations: int

    @property
    def bytes_reserved(self) -> int:
        """The bytes that are allocated from the device."""
        return self.bytes_in_use + self.bytes_pooled


class MemoryHolder:
    """Base class of objects that hold device memory. The error for a full device lists the largest of them."""

    __slots__ = ()

    def held(self, allocator: Allocator) -> tuple[int, str] | None:
        """Returns how many bytes of the allocator's memory the object holds, and a description; None if it has none."""
        return None


class ShortageError(ResourceExhaustedError):
    """No memory is free, and the calling thread holds a lock with which it must not wait for some.

    It leaves the lock and tries again, as `PoolAllocator.with_room` does.

    Attributes:
        size: the bytes that were asked for.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"no {format_bytes(size)} are free, and more must be waited for without the device's lock")
        self.size = size


def exhausted_error(size: int, ordinal: int, allocator: Allocator, stats: MemoryStats) -> ResourceExhaustedError:
    """Makes the error for a device without `size` free bytes. It lists what holds the allocator's memory."""
    holders = sorted(_holders(allocator), reverse=True)
    held = sum(size for size, _ in holders)
    limit = f"its limit is {format_bytes(stats.bytes_limit)}" if stats.bytes_limit is not None else "it has no more"
    text = f"device {ordinal} has no {format_bytes(size)} ({size} bytes): {limit}, of which "
    text += f"{format_bytes(stats.bytes_in_use)} are in use"
    if holders:
        largest = ", ".join(f"{what} ({format_bytes(size)})" for size, what in holders[:3])
        text += f": {format_bytes(held)} by {len(holders)} live buffers, the largest {largest}"
    if stats.bytes_in_use > held:
        text += f"; {format_bytes(stats.bytes_in_use - held)} by running programs and exported arrays"
    hint = "delete buffers, donate arguments, or raise Device.memory_limit where the device has more"
    if stats.bytes_limit is not None and stats.bytes_reserved + size <= stats.bytes_limit:
        text += "; the device refused it below that limit"
        hint = "delete buffers or donate arguments; where device memory is the host's, see ulimit -v"
    return ResourceExhaustedError(text, hint=hint)


def _holders(allocator: Allocator) -> list[tuple[int, str]]:
    """Finds the holders of the allocator's memory through the garbage collector, which only the error needs.

    Keeping a list of them would make every execution slower.
    """
    found = [o.held(allocator) for o in gc.get_objects() if issubclass(type(o), MemoryHolder)]
    return [held for held in found if held is not None]
