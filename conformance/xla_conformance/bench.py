"""Runs an executable by the contract alone, without the core's runtime, and checks its use of memory."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from types import TracebackType

import numpy as np

from xla_conformance.bits import FRESH_BYTE, require_bits
from xla_conformance.family_program import FamilyProgram
from xla_core import Client, Device, LoadedExecutable
from xla_core.backend import Allocator, DeviceMemory, Executable, RunOptions, Stream, StreamExecutor
from xla_core.errors import ResourceExhaustedError, XlaError
from xla_core.hlo import Shape

_FREED, _CANARY = 0xFF, 0xC3
_CANARY_BYTES = 128


@functools.cache
def compiled(client: Client, program: FamilyProgram) -> LoadedExecutable:
    """The program, compiled once for all tests."""
    return client.compile(program.module)


class WatchedAllocator(Allocator):
    """Allocates from the device, below the core's pool, and checks an execution's use of the memory.

    Memory gets a pattern when it is allocated and another one when it is freed, both in the order of the stream, and
    freed memory is handed out again at once. So an execution that expects zeros, or that frees memory before it has
    enqueued the last use, computes wrong results. A canary is before each block, and one is behind it: the ends of the
    same allocation. Where the device has no `memory_slices`, the one behind is an allocation of its own, and there is
    none before.

    Args:
        alignment: that of blocks, in bytes. If it is not known, 0, there is no canary before a block.
        make_room: called when the device is full: gives memory back that others keep and don't use.

    Attributes:
        live: the memory that was allocated and not freed, by id.
        sizes: the requested sizes, in order.
        fail_at: which allocation from now on fails, counted from 0; None for none.
        failure: the class of its error.
        strange: memory that was freed and is not live.
    """

    def __init__(
        self,
        executor: StreamExecutor,
        stream: Stream,
        alignment: int = 0,
        make_room: Callable[[], object] = lambda: None,
    ) -> None:
        self.executor, self.stream = executor, stream
        self._make_room = make_room
        self._before = -(-_CANARY_BYTES // alignment) * alignment if alignment else 0
        self.live: dict[int, DeviceMemory] = {}
        self.sizes: list[int] = []
        self.fail_at: int | None = None
        self.failure: type[XlaError] = ResourceExhaustedError
        self.strange: list[DeviceMemory] = []
        self._pool: dict[tuple[int, int], list[DeviceMemory]] = {}
        self._keys: dict[int, tuple[int, int]] = {}
        self._canaries: list[DeviceMemory] = []
        self._lock = threading.RLock()
        self._closed = False

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory:
        with self._lock:
            if self.fail_at is not None:
                self.fail_at -= 1
                if self.fail_at < 0:
                    raise self.failure(f"the test lets the allocation of {size} bytes fail")
            self.sizes.append(size)
            pool = self._pool.setdefault((size, memory_space), [])
            memory = pool.pop() if pool else self._new(size, memory_space)
            self.live[id(memory)] = memory
            self._keys[id(memory)] = (size, memory_space)
            self.stream.memset(memory, FRESH_BYTE)
            return memory

    def _new(self, size: int, memory_space: int) -> DeviceMemory:
        """A block and its canaries."""
        size = max(size, 1)
        if self.executor.features.memory_slices:
            whole = self._from_device(self._before + size + _CANARY_BYTES, memory_space)
            memory = whole.slice(self._before, size)
            ends = (self._before - _CANARY_BYTES, self._before + size)[not self._before :]
            canaries = [whole.slice(end, _CANARY_BYTES) for end in ends]
        else:
            memory, canary = (self._from_device(n, memory_space) for n in (size, _CANARY_BYTES))
            canaries = [canary]
        for canary in canaries:
            self.stream.memset(canary, _CANARY)
        self._canaries += canaries
        return memory

    def _from_device(self, size: int, memory_space: int) -> DeviceMemory:
        memory = self.executor.allocate(size, memory_space)
        if memory is None:
            self._make_room()
            memory = self.executor.allocate(size, memory_space)
        if memory is None:
            raise ResourceExhaustedError(f"the device has no {size} bytes")
        return memory

    def free(self, memory: DeviceMemory) -> None:
        with self._lock:
            if self.live.pop(id(memory), None) is None:
                self.strange.append(memory)
            elif self._closed:
                self.executor.deallocate(memory.base or memory)
            else:
                self.stream.memset(memory, _FREED)
                self._pool[self._keys[id(memory)]].append(memory)

    def canaries_live(self) -> bool:
        """Whether nothing was written beside a block. Waits for the stream."""
        seen = [np.zeros(_CANARY_BYTES, np.uint8) for _ in self._canaries]
        for data, canary in zip(seen, self._canaries, strict=True):
            self.stream.memcpy_d2h(data, canary)
        self.stream.synchronize()
        return all((data == _CANARY).all() for data in seen)

    def close(self) -> None:
        """Returns free memory to the device. Memory that an executable keeps (its constants) is returned when the
        executable frees it.
        """
        with self._lock:
            self._closed = True
            canaries = [canary for canary in self._canaries if canary.base is None]
            for memory in [*canaries, *(m for pool in self._pool.values() for m in pool)]:
                self.executor.deallocate(memory.base or memory)
            self._canaries.clear()
            self._pool.clear()


class ExecutableBench:
    """Runs one executable on one device, on a stream of its own. By default, that is the first device of `loaded`."""

    def __init__(self, loaded: LoadedExecutable | Executable, device: Device | None = None) -> None:
        if isinstance(loaded, LoadedExecutable):
            device = device or loaded.devices[0]
            loaded = loaded.executable
        assert device is not None, "an Executable has no device of its own"
        self.executable = loaded
        self.executor: StreamExecutor = device.executor
        self.platform = device.platform
        self.stream = self.executor.create_stream()
        alignment = self.platform.compiler.target_config.alignment.allocation
        self.allocator = WatchedAllocator(self.executor, self.stream, alignment, device.allocator.trim)
        self.parameters, self.results = self.executable.parameter_shapes, self.executable.result_shapes
        module = self.executable.module
        self._held: dict[int, DeviceMemory] = {}
        self.donated = {a.parameter_number for a in module.input_output_aliases} | {n for n, _ in module.buffer_donors}
        self.options = RunOptions(
            self.executor,
            self.stream,
            self.allocator,
            self.platform.transfer_manager,
            device_assignment=((device.local_ordinal,),),
        )

    def require_results(
        self,
        sentence: str,
        results: Sequence[DeviceMemory],
        program: FamilyProgram,
        arrays: Sequence[np.ndarray],
        promise: str,
    ) -> None:
        """Raises Failure unless the results of a run have the bits that the program gives for the arrays."""
        require_bits(
            sentence,
            self.read(results, self.results),
            program.results(arrays),
            module=program.text,
            arguments=arrays,
            promise=promise,
        )

    def place(self, arrays: Sequence[np.ndarray]) -> list[DeviceMemory]:
        """Allocates the arguments and enqueues copies of the arrays to them."""
        manager, memories = self.platform.transfer_manager, []
        for array, shape in zip(arrays, self.parameters, strict=True):
            memory = self.allocator.allocate(self.size(shape))
            self._held[id(memory)] = memory
            manager.transfer_to_device_async(self.stream, array, memory, shape)
            memories.append(memory)
        return memories

    def size(self, shape: Shape) -> int:
        return self.platform.compiler.shape_size_bytes(shape)

    def run(self, arguments: Sequence[DeviceMemory]) -> list[DeviceMemory]:
        results = list(self.executable.execute_async_on_stream(self.options, arguments))
        self._held |= {id(memory): memory for memory in results}
        return results

    def read(self, memories: Sequence[DeviceMemory], shapes: Sequence[Shape]) -> list[np.ndarray]:
        """Waits for the stream, and returns the arrays in the memory."""
        manager = self.platform.transfer_manager
        data = [
            manager.transfer_from_device_async(self.stream, memory, shape)
            for memory, shape in zip(memories, shapes, strict=True)
        ]
        self.stream.synchronize()
        return [manager.from_device(d, shape) for d, shape in zip(data, shapes, strict=True)]

    def results_of(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Runs once on copies of the arrays, waits, and frees all memory."""
        arguments = self.place(arrays)
        results = self.run(arguments)
        got = self.read(results, self.results)
        self.release(arguments, results)
        return got

    def release(self, arguments: Sequence[DeviceMemory], results: Sequence[DeviceMemory] = ()) -> None:
        """Frees arguments and results as the runtime does: a donated argument that is a result once."""
        for memory in {id(m): m for m in (*arguments, *results)}.values():
            self._held.pop(id(memory), None)
            self.allocator.free(memory)

    def close(self) -> None:
        """Frees what a test that failed has not freed, and closes the stream."""
        self.release([memory for memory in self._held.values() if id(memory) in self.allocator.live])
        self.stream.recover()
        self.stream.synchronize()
        self.allocator.close()
        self.stream.close()

    def __enter__(self) -> ExecutableBench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
