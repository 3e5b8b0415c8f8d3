"""DeviceBench: work on several streams, and a model of the memory that it must leave.

The bench enqueues each piece of work on a stream, and applies it to a model at once. So the order of the calls is an
order in which the work gives the model's result. Before a piece of work on memory that another stream has used, the
bench orders the two streams: by an event, or by a wait of the host. Vector clocks record the existing order, so that
the bench orders no more than it must.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from xla_conformance.bench import WatchedAllocator
from xla_conformance.device.gates import Gate, pause
from xla_conformance.device.launches import Launcher
from xla_conformance.device.memories import allocated
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.failures import Failure
from xla_core.backend import DeviceMemory, Event, HostBytes, StreamExecutor

WRITES = ("h2d", "upload", "filled h2d", "memset", "d2d", "launch", "donate")
"""Ways to write a cell.

"filled h2d" copies an array that a callback of the same stream has filled. "launch" runs a program on another cell;
"donate" runs a program that may overwrite its argument, this cell.
"""

Clock = list[int]


@dataclasses.dataclass(eq=False)
class Cell:
    """A block of device memory, what it must contain, and who touched it last: streams and their times."""

    memory: DeviceMemory
    expected: HostBytes
    written: tuple[int, int] | None = None
    read: dict[int, int] = dataclasses.field(default_factory=dict)
    last: str = "nothing"

    @property
    def size(self) -> int:
        return self.expected.size


@dataclasses.dataclass(eq=False)
class _Look:
    """A copy to the host that must have found `expected`."""

    got: HostBytes
    expected: HostBytes
    sentence: str
    place: tuple[int, int]


class DeviceBench:
    """Several streams of one device, cells of its memory, and a log of the work.

    Args:
        sizes: the sizes of the cells in bytes.
        launcher: for "launch"; its cells are those of its size.
    """

    def __init__(
        self,
        executor: StreamExecutor,
        random: np.random.Generator,
        streams: int,
        sizes: Sequence[int],
        launcher: Launcher | None = None,
    ) -> None:
        self.executor, self.random, self.launcher = executor, random, launcher
        self.streams = [executor.create_stream() for _ in range(streams)]
        self.allocators = [WatchedAllocator(executor, s) for s in self.streams]
        self._now = [0] * streams
        self._known: list[Clock] = [[0] * streams for _ in range(streams)]
        self._host: Clock = [0] * streams
        self._looks: list[_Look] = []
        self._problems: list[Failure] = []
        self._gates: list[Gate] = []
        self._salt = int(random.integers(1 << 30))
        self._retired: list[DeviceMemory] = []
        self.log: list[str] = []
        self.cells: list[Cell] = []
        for size in sizes:
            self.add(size)
        self.wait_for_host()

    def add(self, size: int) -> Cell:
        """Allocates one more cell and writes it."""
        cell = Cell(allocated(self.executor, size), np.zeros(size, np.uint8))
        self.cells.append(cell)
        self.write("h2d", 0, cell)
        return cell

    def remove(self, cell: Cell) -> None:
        """Frees a cell. Its work must be done."""
        self.cells.remove(cell)
        self._free(cell.memory)

    def _free(self, memory: DeviceMemory) -> None:
        """Frees memory of the device, or of the allocator that it comes from."""
        for allocator in self.allocators:
            if id(memory) in allocator.live:
                allocator.free(memory)
                return
        self.executor.deallocate(memory)

    # -- order -------------------------------------------------------------------------------------------------------

    def _order(self, stream: int, others: Sequence[tuple[int, int]]) -> None:
        """Makes later work of `stream` come after these points of other streams."""
        for other, time in others:
            if other != stream and self._known[stream][other] < time:
                self.wait(stream, other)

    def wait(self, stream: int, other: int) -> None:
        """Makes `stream` wait for all work of `other`, in one of several ways."""
        way = self.random.integers(8)
        if way < 2 and not self._gates:
            self.wait_for_host(other, event=way == 0)
            return
        event = self.streams[other].finish() if way == 2 else self._recorded(other)
        self.streams[stream].wait(event)
        self._learn(self._known[stream], other)
        self.log.append(f"stream {stream} waits for stream {other}")
        if way == 3:  # a wait is for the record before it
            self.streams[other].host_callback(pause(0.0002))
            self.streams[other].record(event)

    def _recorded(self, stream: int) -> Event:
        event = self.streams[stream].create_event()
        self.streams[stream].record(event)
        return event

    def _learn(self, clock: Clock, other: int) -> None:
        theirs = [*self._known[other]]
        theirs[other] = self._now[other]
        clock[:] = map(max, clock, theirs)

    def wait_for_host(self, only: int | None = None, *, event: bool = False) -> None:
        """Lets the host wait for one stream or all, then checks the work that must be done by now."""
        for stream in range(len(self.streams)) if only is None else (only,):
            if event:
                self._recorded(stream).synchronize()
            else:
                self.streams[stream].synchronize()
            self._learn(self._host, stream)
            self.log.append(f"the host waits for stream {stream}")
        for known in self._known:
            known[:] = map(max, known, self._host)
        self.check()

    @property
    def is_held(self) -> bool:
        return bool(self._gates)

    def hold(self, gate: Gate, streams: Sequence[int]) -> None:
        """Holds streams back. Until `release`, the host waits for nothing."""
        gate.hold(*(self.streams[s] for s in streams))
        self._gates.append(gate)
        self.log.append(f"a gate holds {list(streams)}")

    def release(self) -> None:
        gates, self._gates = self._gates, []
        for gate in gates:
            gate.require_closed("some work")
            gate.open()

    # -- work --------------------------------------------------------------------------------------------------------

    def _reads(self, stream: int, cell: Cell) -> None:
        self._order(stream, [cell.written] if cell.written else [])

    def _did(self, what: str, stream: int, reads: Cell | None = None, writes: Cell | None = None) -> None:
        self._now[stream] += 1
        self.log.append(f"{len(self.log)}: {what} on stream {stream}")
        if reads is not None:
            reads.read[stream] = self._now[stream]
        if writes is not None:
            writes.written, writes.read, writes.last = (stream, self._now[stream]), {}, self.log[-1]

    def fresh(self, size: int) -> HostBytes:
        """Bytes that were never there before."""
        self._salt += 1
        if self.launcher is not None and size == self.launcher.size:
            return self.launcher.argument(np.random.default_rng(self._salt))
        return pattern(size, self._salt)

    def _fill_value(self, size: int) -> int:
        if self.launcher is not None and size == self.launcher.size:
            return self.launcher.fill_value(self.random)
        return int(self.random.integers(256))

    def jitter(self, stream: int, seconds: float) -> None:
        self.streams[stream].host_callback(pause(seconds))

    def write(self, way: str, stream: int, cell: Cell, source: Cell | None = None) -> None:
        """Writes all of a cell on a stream; "d2d" and "launch" from `source`.

        A larger cell can't be copied from a block with bytes that nobody wrote, which the device gave beyond its size.
        """
        if way == "d2d" and source is not None and source.size < min(cell.size, self._exactly(source).size):
            way = "h2d"
        self._order(stream, [*([cell.written] if cell.written else []), *cell.read.items()])
        queue, size = self.streams[stream], cell.size
        if way in ("h2d", "upload", "filled h2d"):
            data = self.fresh(size)
            if way == "h2d":
                queue.memcpy_h2d(cell.memory, data)
            elif way == "upload":
                given = data.copy()
                queue.upload(cell.memory, given)
                given[:] = 0xEE
            else:
                given = np.full(size, 0xEE, np.uint8)
                queue.host_callback(functools.partial(np.copyto, given, data))
                queue.memcpy_h2d(cell.memory, given)
            cell.expected = data
        elif way == "donate":
            self._donate(stream, cell)
        elif way == "memset":
            value = self._fill_value(size)
            queue.memset(cell.memory, value)
            cell.expected = np.full(size, value, np.uint8)
        else:
            assert source is not None
            self._reads(stream, source)
            if way == "d2d":
                queue.memcpy_d2d(cell.memory, self._exactly(source))
                common = min(size, source.size)
                cell.expected = np.concatenate([source.expected[:common], cell.expected[common:]])
            else:
                assert self.launcher is not None
                result = self.launcher.launch(queue, self.allocators[stream], source.memory)
                queue.memcpy_d2d(cell.memory, result)
                self.allocators[stream].free(result)
                cell.expected = np.concatenate([self.launcher.expected(source.expected), cell.expected[size:]])
        self._did(way, stream, source, cell)

    def _exactly(self, cell: Cell) -> DeviceMemory:
        """The memory of a cell, without the bytes behind it that `allocate` gave too."""
        memory, size = cell.memory, cell.size
        return memory.slice(0, size) if memory.size > size and self.executor.features.memory_slices else memory

    def _donate(self, stream: int, cell: Cell) -> None:
        assert self.launcher is not None
        memory = self.launcher.donate(self.streams[stream], self.allocators[stream], cell.memory)
        if memory is not cell.memory:
            self._retired.append(cell.memory)
        cell.memory = memory
        cell.expected = self.launcher.expected(cell.expected)

    def look(self, stream: int, cell: Cell, *, callback: bool = False) -> None:
        """Copies a cell to the host. A callback in the stream's order, or later the host, checks the bytes."""
        self._reads(stream, cell)
        got = np.full(cell.size, 0x11, np.uint8)
        self.streams[stream].memcpy_d2h(got, cell.memory)
        before = cell.last
        self._did("d2h", stream, cell)
        sentence = f"A stream is an in-order queue, but {self.log[-1]} did not find what {before} had written."
        look = _Look(got, cell.expected, sentence, (stream, self._now[stream]))
        if callback:
            seen = f"A stream is an in-order queue, but a callback after {self.log[-1]} did not see its bytes."
            self.streams[stream].host_callback(lambda: self._note(got, look.expected, seen))
        self._looks.append(look)

    def _note(self, got: HostBytes, expected: HostBytes, sentence: str) -> None:
        try:
            require_bytes(sentence, got.copy(), expected, "stream.in-order")
        except Failure as problem:
            self._problems.append(problem)

    # -- verdict -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises Failure if one of the copies that the host knows to be done found other bytes than the model."""
        if self._problems:
            raise self._problems[0]
        for stream in self.streams:
            if stream.error is not None and not self._gates:
                raise Failure(f"The stream is poisoned, but no work failed: {stream.error}", promise="stream.error")
        left = []
        for look in self._looks:
            if self._host[look.place[0]] < look.place[1]:
                left.append(look)
            else:
                require_bytes(look.sentence, look.got, look.expected, "stream.in-order")
        self._looks = left

    def finish(self) -> None:
        """Waits for everything, and checks all copies and all cells."""
        self.release()
        self.wait_for_host()
        for cell in self.cells:
            self.look(0, cell)
        self.wait_for_host()
        for allocator in self.allocators:
            if not allocator.canaries_live():
                raise Failure("An execution wrote beside the memory that it had allocated.", promise="executable.run")

    def close(self) -> None:
        """Frees everything, whatever happened before."""
        for gate in self._gates:
            gate.open()
        for stream in self.streams:
            stream.synchronize()
        for memory in [*self._retired, *(cell.memory for cell in self.cells)]:
            self._free(memory)
        for allocator in self.allocators:
            allocator.close()
        for stream in self.streams:
            stream.close()
