"""The pool of device memory: what it keeps, gives back, and how it counts."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

from xla_core.backend import DeviceMemory
from xla_core.errors import InternalError, ResourceExhaustedError
from xla_core.runtime import HostEvent
from xla_core.runtime.memory import idle_memory
from xla_core.runtime.memory.allocator import PoolAllocator
from xla_core.runtime.memory.memory_stats import ShortageError


class Executor:
    """Counts; gives memory in multiples of `grain`."""

    ordinal = 0

    def __init__(self, grain: int = 1) -> None:
        self.grain = grain
        self.live: set[int] = set()
        self.count = 0

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
        self.count += 1
        self.live.add(self.count)
        return DeviceMemory(self.count, -(-size // self.grain) * self.grain, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        self.live.remove(memory.handle)


class Stream:
    def __init__(self) -> None:
        self.while_waiting = lambda: None

    def synchronize(self) -> None:
        self.while_waiting()

    def create_event(self) -> HostEvent:
        return HostEvent()

    def record(self, event: HostEvent) -> None:
        """The work before the event is done."""


def test_what_is_freed_while_trim_waits_stays() -> None:
    executor, stream = Executor(), Stream()
    pool = PoolAllocator(executor, stream)
    busy, idle = pool.allocate(256), pool.allocate(256)
    pool.free(idle)
    stream.while_waiting = lambda: pool.free(busy)  # another thread's, with work enqueued on it
    assert pool.trim() == 256
    assert executor.live == {busy.handle}
    assert pool.allocate(256) is busy


def test_statistics_do_not_wait_for_a_trim() -> None:
    """The work for which it waits may be a function of the host that asks for them."""
    stream = Stream()
    pool = PoolAllocator(Executor(), stream, 1000)
    pool.free(pool.allocate(512))
    found: list[int] = []

    def ask() -> None:
        asking = threading.Thread(target=lambda: found.append(pool.stats().bytes_reserved), daemon=True)
        asking.start()
        asking.join(30)

    stream.while_waiting = ask
    pool.allocate(768)
    assert found == [512]


def test_memory_that_another_thread_gets_back_is_waited_for() -> None:
    stream = Stream()
    pool = PoolAllocator(Executor(), stream, 1024)
    pool.free(pool.allocate(1024))
    got: list[int] = []
    other = threading.Thread(target=lambda: got.append(pool.allocate(256).size), daemon=True)

    def start_other() -> None:
        if not other.ident:
            other.start()
            time.sleep(0.1)  # it finds the pool empty and the limit reached

    stream.while_waiting = start_other
    got.append(pool.allocate(512).size)
    other.join(30)
    assert sorted(got) == [256, 512]


def test_a_trim_that_is_interrupted_loses_nothing() -> None:
    executor, stream = Executor(), Stream()
    pool = PoolAllocator(executor, stream)
    pool.free(pool.allocate(256))

    def interrupt() -> None:
        raise KeyboardInterrupt

    stream.while_waiting = interrupt
    with pytest.raises(KeyboardInterrupt):
        pool.trim()
    assert pool.stats().bytes_pooled == 256


def test_what_a_trim_waits_for_is_given_back_before_the_device_is_closed() -> None:
    executor, stream = Executor(), Stream()
    pool = PoolAllocator(executor, stream)
    pool.free(pool.allocate(256))

    def close() -> None:
        pool.close()
        assert not executor.live

    stream.while_waiting = close
    assert pool.trim() == 0
    assert pool.stats().bytes_reserved == 0


def test_who_must_not_wait_gets_an_error_until_there_is_room() -> None:
    executor, stream = Executor(), Stream()
    waits: list[int] = []
    stream.while_waiting = lambda: waits.append(len(executor.live))
    is_locked = True
    pool = PoolAllocator(executor, stream, 1024, must_not_wait=lambda: is_locked)
    pool.free(pool.allocate(1024))
    with pytest.raises(ShortageError) as caught:
        pool.allocate(512)
    assert not waits
    with pytest.raises(ResourceExhaustedError, match="has no 512 B"):
        pool.with_room(lambda: pool.allocate(512))

    def with_lock() -> DeviceMemory:
        nonlocal is_locked
        is_locked = True
        try:
            return pool.allocate(512)
        finally:
            is_locked = False

    is_locked = False
    assert pool.with_room(with_lock, caught.value).size == 512
    assert waits == [1]


def test_room_is_made_twice_at_most() -> None:
    pool = PoolAllocator(Executor(), Stream(), 1024)
    held, attempts = pool.allocate(1024), []

    def make() -> DeviceMemory:
        attempts.append(held)
        raise ShortageError(512)

    with pytest.raises(ResourceExhaustedError, match="has no 512 B"):
        pool.with_room(make)
    assert len(attempts) == 3


def test_a_device_that_gives_more_than_is_asked() -> None:
    executor = Executor(grain=1024)
    pool = PoolAllocator(executor, Stream())
    memory = pool.allocate(100)
    assert pool.stats().bytes_in_use == 1024
    pool.free(memory)
    assert pool.stats().bytes_pooled == 1024
    assert pool.allocate(256) is memory
    pool.free(memory)
    assert pool.allocate(1024) is memory
    pool.free(memory)
    assert pool.trim() == 1024
    assert pool.stats().bytes_reserved == 0


def test_memory_of_a_cache_is_pooled_and_goes_back_where_it_is_needed() -> None:
    class Cache:
        def __init__(self, memories: list[DeviceMemory]) -> None:
            self.memories = memories

        def pooled_bytes(self) -> int:
            return sum(memory.size for memory in self.memories)

        def take(self) -> list[DeviceMemory]:
            memories, self.memories = self.memories, []
            return memories

    executor = Executor()
    pool = PoolAllocator(executor, Stream(), limit=1024)
    used = pool.allocate(256)
    cache = Cache([pool.allocate(256) for _ in range(3)])
    for _ in range(2):  # two threads that use a memory first
        pool.add_cache(cache)
    assert (pool.stats().bytes_in_use, pool.stats().bytes_pooled) == (256, 768)
    large = pool.allocate(512)
    assert cache.memories == []
    assert pool.stats().bytes_reserved <= 1024
    assert executor.live >= {used.handle, large.handle}
    with pytest.raises(ResourceExhaustedError):
        pool.allocate(1024)


def test_memory_never_goes_to_those_who_need_more() -> None:
    executor = Executor(grain=1024)
    pool = PoolAllocator(executor, Stream())
    pool.free(pool.allocate(256))  # 1024
    pool.trim()
    executor.grain = 1
    pool.free(pool.allocate(256))
    assert pool.allocate(1024).size == 1024


@pytest.mark.parametrize("space", [1, 0])
def test_memory_of_a_wrong_space_or_size_is_refused(space: int) -> None:
    class WrongExecutor(Executor):
        def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
            self.live.add(7)
            return DeviceMemory(7, size if space else size - 1)  # space 0, as by default

    executor = WrongExecutor()
    pool = PoolAllocator(executor, Stream())
    with pytest.raises(InternalError, match=rf"WrongExecutor\.allocate\(256, {space}\) returned"):
        pool.allocate(256, space)
    assert not executor.live
    assert pool.stats().bytes_reserved == 0


def test_memory_that_is_idle_returns_to_the_device() -> None:
    executor = Executor()
    pool = PoolAllocator(executor, Stream())
    large = 4 << 20
    for memory in [pool.allocate(large) for _ in range(100)]:
        pool.free(memory)
    assert pool.release_idle()  # marks what is pooled
    used = pool.allocate(large)
    assert pool.stats().bytes_pooled == 99 * large
    assert len(executor.live) == 100
    pool.free(used)
    pool.release_idle()  # enqueues the release of what nobody used since
    assert not pool.release_idle()
    assert pool.stats().bytes_reserved == 64 << 20
    assert used.handle in executor.live
    assert len(executor.live) == 16


def test_a_loop_keeps_its_memory_between_releases() -> None:
    executor = Executor()
    pool = PoolAllocator(executor, Stream())
    sizes = [4 << 20, 8 << 20, 1024] * 20
    for _ in range(10):
        for memory in [pool.allocate(size) for size in sizes]:
            pool.free(memory)
        pool.release_idle()
    assert executor.count == len(sizes)
    assert pool.trim() == sum(sizes)
    assert not executor.live


def test_deleted_buffers_leave_little_on_an_idle_device(client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_memory, "SECONDS", 0.05)
    device = client.devices[0]
    for buffer in [client.buffer_from_host(np.zeros(4 << 20, np.uint8)) for _ in range(30)]:
        buffer.delete()
    assert device.memory_stats().bytes_pooled == 30 * (4 << 20)
    deadline = time.monotonic() + 20
    while device.memory_stats().bytes_pooled > 64 << 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert device.memory_stats().bytes_pooled == 64 << 20


def test_a_closed_pool_keeps_nothing() -> None:
    executor = Executor()
    pool = PoolAllocator(executor, Stream())
    exported, pooled = pool.allocate(256), pool.allocate(512)
    pool.free(pooled)
    pool.close()
    assert executor.live == {exported.handle}
    pool.free(exported)
    assert not executor.live


def test_a_closed_client_gives_its_memory_back(client) -> None:
    device = client.devices[0]
    kept = client.buffer_from_host(np.zeros(1000, np.float32))
    client.buffer_from_host(np.zeros(5000, np.float32)).delete()
    client.close()
    assert device.memory_stats().bytes_pooled == 0
    del kept
    gc.collect()
    assert device.memory_stats().bytes_reserved == 0


def test_threads_that_run_while_another_trims(client) -> None:
    device = client.devices[0]
    array = np.arange(1000, dtype=np.float32)
    stop = threading.Event()
    wrong: list[object] = []

    def work() -> None:
        while not stop.is_set():
            if not np.array_equal(np.asarray(client.buffer_from_host(array)), array):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        device.allocator.trim()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_no_memory_says_who_has_it(client) -> None:
    device = client.devices[0]
    device.memory_limit = 1 << 16
    with pytest.raises(ResourceExhaustedError, match=r"limit is 64\.0 KiB"):
        client.buffer_from_host(np.zeros(1 << 20, np.uint8))


def test_what_is_freed_in_many_sizes_does_not_pile_up(client) -> None:
    device = client.devices[0]
    for number in range(200):
        client.buffer_from_host(np.zeros((1 << 20) + 8192 * number, np.uint8)).delete()
    stats = device.memory_stats()
    assert stats.bytes_in_use == 0
    assert stats.bytes_pooled <= 64 << 20


def test_a_loop_over_the_same_sizes_asks_the_device_for_nothing(client) -> None:
    device = client.devices[0]

    def step() -> None:
        held = [client.buffer_from_host(np.zeros((1 << 20) + 8192 * number, np.uint8)) for number in range(100)]
        del held

    step()
    before = device.memory_stats()
    for _ in range(5):
        step()
    assert device.memory_stats().allocations == before.allocations


def test_the_default_limit_leaves_room_for_the_process() -> None:
    pytest.importorskip("xla_backend_cpu", reason="xla-backend-cpu is not installed")
    from xla_core import Client

    with Client("cpu") as cpu:
        device = cpu.devices[0]
        assert device.memory_limit == int(device.description.memory_bytes * 0.8)
