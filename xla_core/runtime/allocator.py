"""PoolAllocator: device memory that is used again, so that a steady loop asks the device for none."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections import deque
from typing import TYPE_CHECKING

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.executable import Allocator
from xla_core.backend.stream import Event, Stream
from xla_core.backend.stream_executor import StreamExecutor
from xla_core.checks import require_limit
from xla_core.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from xla_core.runtime.buffer import Buffer

__all__ = ["MemoryStats", "PoolAllocator", "format_bytes"]

_GRAIN = 256  # sizes are rounded up to this; to _LARGE_GRAIN from _LARGE on
_LARGE = 1 << 20
_LARGE_GRAIN = 4096


def format_bytes(size: float) -> str:
    """As people write it: 3.2 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def _key(memory: DeviceMemory) -> int | tuple[int, int]:
    return (memory.memory_space, memory.size) if memory.memory_space else memory.size


class MemoryStats:
    """Bytes of one device at one moment.

    Attributes:
        bytes_in_use: in buffers and running programs. bytes_pooled: taken from the device, free for the next use.
        bytes_reserved: both. peak_bytes_reserved: the most there ever was. bytes_limit: None where there is none.
        allocations: how often the device was asked for memory.
    """

    __slots__ = ("allocations", "bytes_in_use", "bytes_limit", "bytes_pooled", "bytes_reserved", "peak_bytes_reserved")

    def __init__(self, in_use: int, pooled: int, peak: int, limit: int | None, allocations: int) -> None:
        self.bytes_in_use = in_use
        self.bytes_pooled = pooled
        self.bytes_reserved = in_use + pooled
        self.peak_bytes_reserved = peak
        self.bytes_limit = limit
        self.allocations = allocations

    def __repr__(self) -> str:
        return "MemoryStats(" + ", ".join(f"{name}={getattr(self, name)}" for name in self.__slots__) + ")"


class PoolAllocator(Allocator):
    """Keeps what is freed, by size, in the order of one stream.

    The fast paths take no lock: a list's append and pop are atomic, and a destructor may call `free` at any point of
    any thread, also within `allocate`.

    Memory is kept by its own size, which may be more than was asked for.
    """

    def __init__(self, executor: StreamExecutor, stream: Stream, limit: int | None = None) -> None:
        self._executor = executor
        self._stream = stream
        self._limit = limit
        self._pool: dict[int | tuple[int, int], list[DeviceMemory]] = {}  # by what the memory has
        self._asked: dict[int | tuple[int, int], list[DeviceMemory]] = {}  # the same lists, by what is asked for
        self._closed = False
        self._deferred: deque[tuple[DeviceMemory, list[Event]]] = deque()
        self._lock = threading.RLock()
        self._reserved = 0
        self._peak = 0
        self._allocations = 0

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
        grain = _GRAIN if size < _LARGE else _LARGE_GRAIN
        size = -(-size // grain) * grain or grain
        key = (memory_space, size) if memory_space else size
        try:
            return self._asked[key].pop()
        except (KeyError, IndexError):
            return self._allocate(size, memory_space, key)

    def free(self, memory: DeviceMemory) -> None:
        if self._closed:
            self._give_back([memory])
        else:
            self._pool[_key(memory)].append(memory)

    def free_after(self, memory: DeviceMemory, events: list[Event]) -> None:
        """Like `free`, but other streams still work on it until `events`."""
        self._deferred.append((memory, events))

    def _allocate(self, size: int, memory_space: int, key: int | tuple[int, int]) -> DeviceMemory:
        with self._lock:
            self._sweep()
            with contextlib.suppress(IndexError):
                return self._asked.setdefault(key, self._pool.setdefault(key, [])).pop()
            for attempt in range(3):
                if self._limit is None or self._reserved + size <= self._limit:
                    memory = self._executor.allocate(size, memory_space)
                    if memory is not None:
                        self._asked[key] = self._pool.setdefault(_key(memory), [])
                        self._reserved += memory.size
                        self._peak = max(self._peak, self._reserved)
                        self._allocations += 1
                        return memory
                if attempt == 0:
                    self.trim()
                elif attempt == 1:
                    gc.collect()  # buffers in reference cycles
                    self.wait_for_deferred()
                    self.trim()
            raise self._exhausted(size)

    def _sweep(self) -> None:
        for _ in range(len(self._deferred)):
            try:
                memory, events = self._deferred.popleft()
            except IndexError:
                return
            if all(event.ready for event in events):
                self.free(memory)
            else:
                self._deferred.append((memory, events))

    def wait_for_deferred(self) -> None:
        """Blocks until nobody works on what was freed."""
        for _, events in list(self._deferred):
            for event in events:
                event.synchronize()
        self._sweep()

    def trim(self) -> int:
        """Gives the pooled memory back to the device; returns how many bytes. Waits for the stream's work."""
        with self._lock:
            self._sweep()
            # Taken first, waited for then: what others free meanwhile, with work on it, comes after these.
            memories = self._take_pooled()
            if not memories:
                return 0
            try:
                self._stream.synchronize()
            except BaseException:
                for memory in memories:
                    self.free(memory)
                raise
            return self._give_back(memories)

    def close(self) -> None:
        """Gives pooled memory back, and from now on what is freed. The stream's work is done by then."""
        with self._lock:
            self._closed = True
            self._sweep()
            self._give_back(self._take_pooled())

    def _take_pooled(self) -> list[DeviceMemory]:
        taken: list[DeviceMemory] = []
        for pool in list(self._pool.values()):
            for _ in range(len(pool)):
                try:
                    taken.append(pool.pop())
                except IndexError:  # another thread took it
                    break
        return taken

    def _give_back(self, memories: list[DeviceMemory]) -> int:
        for memory in memories:
            self._executor.deallocate(memory)
        freed = sum(memory.size for memory in memories)
        self._reserved -= freed
        return freed

    @property
    def limit(self) -> int | None:
        return self._limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        require_limit("memory_limit", limit, "bytes")
        with self._lock:
            self._limit = limit
            if limit is not None and self._reserved > limit:
                self.trim()

    def stats(self) -> MemoryStats:
        with self._lock:
            self._sweep()
            pooled = sum(memory.size for pool in list(self._pool.values()) for memory in list(pool))
            return MemoryStats(self._reserved - pooled, pooled, self._peak, self._limit, self._allocations)

    def reset_after_fork(self) -> None:
        """Replaces the lock, which another thread of the parent may have held."""
        self._lock = threading.RLock()

    def _exhausted(self, size: int) -> ResourceExhaustedError:
        stats = self.stats()
        holders = sorted(self._live_buffers(), key=lambda b: -b.byte_size)
        held = sum(b.byte_size for b in holders)
        limit = f"its limit is {format_bytes(stats.bytes_limit)}" if stats.bytes_limit is not None else "it has no more"
        text = f"device {self._executor.ordinal} has no {format_bytes(size)} ({size} bytes): {limit}, of which "
        text += f"{format_bytes(stats.bytes_in_use)} are in use"
        if holders:
            largest = ", ".join(f"{b.shape.without_layout()} ({format_bytes(b.byte_size)})" for b in holders[:3])
            text += f": {format_bytes(held)} by {len(holders)} live buffers, the largest {largest}"
        if stats.bytes_in_use > held:
            text += f"; {format_bytes(stats.bytes_in_use - held)} by running programs and exported arrays"
        return ResourceExhaustedError(
            text, hint="delete buffers, donate arguments, or raise Device.memory_limit where the device has more"
        )

    def _live_buffers(self) -> list[Buffer]:
        """Found by the garbage collector: keeping a list would cost every execution, this costs only an error."""
        from xla_core.runtime.buffer import Buffer  # the buffer knows the allocator

        found: list[Buffer] = [
            o for o in gc.get_objects() if type(o) is Buffer and not o.is_deleted() and o.device.allocator is self
        ]
        return found
