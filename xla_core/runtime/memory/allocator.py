"""PoolAllocator: reuses device memory, so that a loop of equal steps allocates nothing more from the device."""

from __future__ import annotations

import contextlib
import gc
import itertools
import math
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeVar

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import Allocator, StreamExecutor
from xla_core.checks import require_limit
from xla_core.errors import FailedPreconditionError, InternalError, XlaError
from xla_core.runtime.memory.memory_stats import MemoryStats, ShortageError, exhausted_error

T = TypeVar("T")

_GRAIN = 256  # sizes are rounded up to a multiple of this; sizes of at least _LARGE to one of _LARGE_GRAIN
_LARGE = 1 << 20
_LARGE_GRAIN = 4096
_POOLED = 64 << 20  # bytes that a pool may always keep


def _key(memory: DeviceMemory) -> int | tuple[int, int]:
    return (memory.memory_space, memory.size) if memory.memory_space else memory.size


class MemoryCache(Protocol):
    """Keeps unused memory of an allocator for reuse. The allocator takes it back when it needs memory."""

    def pooled_bytes(self) -> int: ...

    def take(self) -> list[DeviceMemory]: ...


class PoolAllocator(Allocator):
    """Keeps freed memory in a pool by size. Memory is freed and reused in the order of one stream.

    The pool keeps at most the maximum of the bytes in use so far, but at least 64 MiB. Memory beyond that returns to
    the device at its next allocation, as soon as the work that uses the memory is done. `release_idle` returns memory
    beyond 64 MiB that wasn't used for some time.

    The fast paths take no lock, because a destructor may call `free` at any point of any thread, even inside
    `allocate`. They rely on a list's append and pop, which are atomic.

    Memory is kept by its actual size, which may be larger than the requested size.

    Args:
        on_growth: called when the allocator has more than 64 MiB from the device, which calls for `release_idle`.
        must_not_wait: whether the calling thread holds a lock that the device's work may need, such as a function of
            the host that makes a buffer. `allocate` then fails with ShortageError rather than waits for that work.

    Attributes:
        caches: objects that keep memory of this allocator for reuse. Their memory counts as pooled.
    """

    def __init__(
        self,
        executor: StreamExecutor,
        stream: Stream,
        limit: int | None = None,
        on_growth: Callable[[], None] = lambda: None,
        must_not_wait: Callable[[], bool] = lambda: False,
    ) -> None:
        self._executor = executor
        self._stream = stream
        self._limit = limit
        self._on_growth = on_growth
        self._must_not_wait = must_not_wait
        self._pool: dict[int | tuple[int, int], list[DeviceMemory]] = {}  # by actual size
        self._asked: dict[int | tuple[int, int], list[DeviceMemory]] = {}  # the same lists, by requested size
        self._idle: dict[int, list[DeviceMemory]] = {}  # pooled, not used since `release_idle`; by id of its pool
        self._closed = False
        self._deferred: deque[tuple[object, list[Event]]] = deque()
        self.caches: list[MemoryCache] = []
        self._lock = threading.RLock()
        self._retired: deque[tuple[list[DeviceMemory], Event]] = deque()  # returned to the device after the event
        self._leaving: list[list[DeviceMemory]] = []  # what threads in `trim` return once the stream's work is done
        self._reserved = 0
        self._peak = 0
        self._peak_in_use = 0
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

    def keep_until(self, memory: object, events: list[Event]) -> None:
        """Frees memory that other streams use until `events` are ready.

        For memory that doesn't belong to the pool, `memory` is its owner, which is kept alive until then.
        """
        self._deferred.append((memory, events))

    def _allocate(self, size: int, memory_space: int, key: int | tuple[int, int]) -> DeviceMemory:
        def attempt() -> DeviceMemory:
            with self._lock:
                memory = self._try_allocate(size, memory_space, key)
            if memory is None:
                raise ShortageError(size)
            return memory

        return attempt() if self._must_not_wait() else self.with_room(attempt)

    def with_room(self, make: Callable[[], T], shortage: ShortageError | None = None) -> T:
        """Returns what `make()` returns, and calls it again once there is room if it raises ShortageError.

        Args:
            make: allocates, and has left no lock and no work behind when it fails.
            shortage: what a call before this one raised.

        Raises:
            ResourceExhaustedError: there is no more to wait for.
        """
        attempts = 0
        while True:
            if shortage is not None:
                self._make_room(shortage, attempts)
                attempts += 1
            try:
                return make()
            except ShortageError as error:
                shortage = error.with_traceback(None)  # whose frames may hold memory

    def _make_room(self, shortage: ShortageError, attempt: int) -> None:
        """Waits for memory that is in use or pooled, and returns it to the device.

        Args:
            shortage: what `allocate` raised.
            attempt: how often this has made room for the same allocation before.

        Raises:
            ResourceExhaustedError: where there is no more to wait for.
        """
        cause: XlaError | None = None
        if attempt <= 1 and not self._must_not_wait():
            try:
                if attempt:
                    gc.collect()  # frees buffers in reference cycles
                    self.wait_for_deferred()
                self.trim()
                return
            except FailedPreconditionError as error:  # a function of the host would wait for its own work
                cause = error
        raise exhausted_error(shortage.size, self._executor.ordinal, self, self.stats()) from cause

    def _try_allocate(self, size: int, memory_space: int, key: int | tuple[int, int]) -> DeviceMemory | None:
        """Returns memory of the pool or of the device, or None if neither has any."""
        self._sweep()
        pool = self._asked.setdefault(key, self._pool.setdefault(key, []))
        for pooled in (pool, self._idle.get(id(pool), [])):
            with contextlib.suppress(IndexError):
                return pooled.pop()
        self._retire(size)
        if self._limit is not None and self._reserved + size > self._limit:
            return None
        memory = self._executor.allocate(size, memory_space)
        if memory is not None:
            self._check(memory, size, memory_space)
            self._asked[key] = self._pool.setdefault(_key(memory), [])
            self._reserved += memory.size
            self._peak = max(self._peak, self._reserved)
            self._allocations += 1
            if self._reserved > _POOLED:
                self._on_growth()
        return memory

    def _check(self, memory: DeviceMemory, size: int, memory_space: int) -> None:
        if memory.memory_space == memory_space and memory.size >= size:
            return
        self._executor.deallocate(memory)
        raise InternalError(
            f"{type(self._executor).__name__}.allocate({size}, {memory_space}) returned {memory.size} bytes of memory "
            f"space {memory.memory_space}",
            hint="it must return DeviceMemory of the memory space, and of at least as many bytes: correct the backend",
        )

    def _sweep(self) -> None:
        for _ in range(len(self._deferred)):
            try:
                memory, events = self._deferred.popleft()
            except IndexError:
                return
            if not all(event.ready for event in events):
                self._deferred.append((memory, events))
            elif isinstance(memory, DeviceMemory):
                self.free(memory)
        while self._retired and self._retired[0][1].ready:
            self._give_back(self._retired.popleft()[0])

    def _retire(self, wanted: int) -> None:
        """Returns the pool's excess memory to the device. Called before `wanted` more bytes are allocated there."""
        if self._reserved + wanted <= _POOLED:  # the pool may keep as much, however little is in use
            return
        pooled = self._pooled()
        self._peak_in_use = max(self._peak_in_use, self._reserved - pooled - self._leaving_bytes() + wanted)
        bound = max(self._peak_in_use, _POOLED)
        if pooled <= bound:
            return
        self._give_back_later(self._take_pooled(pooled - bound // 2))

    def _give_back_later(self, memories: list[DeviceMemory]) -> None:
        done = self._stream.create_event()
        self._stream.record(done)  # the work that uses them was enqueued before
        self._retired.append((memories, done))
        self._sweep()

    def release_idle(self) -> bool:
        """Returns pooled memory beyond 64 MiB to the device if no allocation took it since the last call.

        It never blocks. The caller must be able to enqueue work on the stream. Returns whether to call it again.
        """
        if not self._lock.acquire(blocking=False):
            return True
        try:
            self._sweep()
            self._empty_caches()
            idle = sum(memory.size for pool in self._idle.values() for memory in pool)
            if (excess := min(idle, self._pooled() - _POOLED)) > 0:
                self._give_back_later(self._take_pooled(excess))
            for pool in list(self._pool.values()):
                with contextlib.suppress(IndexError):  # until the pool is empty; other threads use it, too
                    while True:
                        self._idle.setdefault(id(pool), []).append(pool.pop())
            return self._reserved > _POOLED and not self._closed
        finally:
            self._lock.release()

    def _pools(self) -> list[list[DeviceMemory]]:
        return [*self._idle.values(), *list(self._pool.values())]

    def _pooled(self) -> int:
        own = sum(len(pool) * (key if isinstance(key, int) else key[1]) for key, pool in list(self._pool.items()))
        own += sum(memory.size for pool in self._idle.values() for memory in list(pool))
        return own + sum(cache.pooled_bytes() for cache in self.caches)

    def add_cache(self, cache: MemoryCache) -> None:
        """Adds to `caches`, once: several threads may use a memory first."""
        with self._lock:
            if not any(known is cache for known in self.caches):
                self.caches.append(cache)

    def _empty_caches(self) -> None:
        for cache in self.caches:
            for memory in cache.take():
                self._pool.setdefault(_key(memory), []).append(memory)

    def wait_for_deferred(self) -> None:
        """Blocks until no stream uses memory that was freed with `keep_until`."""
        for _, events in list(self._deferred):
            for event in events:
                event.synchronize()
        with self._lock:
            self._sweep()

    def trim(self) -> int:
        """Waits for the stream's work, then returns pooled memory to the device. Returns the number of bytes.

        No lock is held meanwhile: the work may call functions of the host that ask for memory or statistics. But a
        sharded run that waits here keeps other sharded runs waiting: a function of the host must not start one then.
        """
        with self._lock:
            self._sweep()
            # Taken before the wait: work that is enqueued later may use memory that other threads free meanwhile.
            own = self._take_pooled()
            while self._retired:
                own += self._retired.popleft()[0]
            if own:
                self._leaving.append(own)
            leaving = list(self._leaving)
        if not leaving:
            return 0
        try:
            self._stream.synchronize()
        except BaseException:
            with self._lock:
                for memory in self._take_leaving([own]):
                    self.free(memory)
            raise
        with self._lock:  # what other threads took before is unused, too, although they may still wait
            return self._give_back(self._take_leaving(leaving))

    def _take_leaving(self, taken: list[list[DeviceMemory]]) -> list[DeviceMemory]:
        """Removes from `_leaving` those of `taken` that are still there, and returns their memory."""
        chosen = {id(memories) for memories in taken}
        found = [memories for memories in self._leaving if id(memories) in chosen]
        self._leaving = [memories for memories in self._leaving if id(memories) not in chosen]
        return list(itertools.chain(*found))

    def _leaving_bytes(self) -> int:
        return sum(memory.size for memories in self._leaving for memory in memories)

    def close(self) -> None:
        """Returns pooled memory to the device, and memory freed later at once. The stream's work must be done."""
        with self._lock:
            self._closed = True
            self._sweep()
            while self._retired:
                self._give_back(self._retired.popleft()[0])
            self._give_back(self._take_leaving(self._leaving))
            self._give_back(self._take_pooled())

    def _take_pooled(self, size: float = math.inf) -> list[DeviceMemory]:
        """Removes memory from the pool, at least `size` bytes if it has as much, the earliest used sizes first."""
        self._empty_caches()
        taken: list[DeviceMemory] = []
        total = 0
        for pool in self._pools():
            for _ in range(len(pool)):
                if total >= size:
                    return taken
                try:
                    memory = pool.pop()
                except IndexError:  # another thread took it
                    break
                taken.append(memory)
                total += memory.size
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

    def clear_peak(self) -> None:
        """Resets `MemoryStats.peak_bytes_reserved` to the bytes that are reserved now."""
        with self._lock:
            self._peak = self._reserved

    def stats(self) -> MemoryStats:
        with self._lock:
            self._sweep()
            pooled = self._pooled() + self._leaving_bytes()
            pooled += sum(memory.size for memories, _ in self._retired for memory in memories)
            return MemoryStats(self._reserved - pooled, pooled, self._peak, self._limit, self._allocations)

    def reset_after_fork(self) -> None:
        """Replaces the lock, which another thread of the parent may have held."""
        self._lock = threading.RLock()
