"""DeviceBench: work on several streams, and a model of the memory that it must leave.

The bench enqueues each piece of work on a stream, and applies it to a model at once. So the order of the calls is an
order in which the work gives the model's result. Before a piece of work on memory that another stream has used, the
bench orders the two streams: by an event, or by a wait of the host. Vector clocks record the existing order, so that
the bench orders no more than it must, and the promises on which it rests, of which a failure names those that may be
broken.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Collection, Sequence

import numpy as np

from xla_conformance.bench import WatchedAllocator
from xla_conformance.device.gates import Gate, pause
from xla_conformance.device.launches import Launcher
from xla_conformance.device.memories import allocated
from xla_conformance.device.orders import (
    EVENT,
    HOST,
    IN_ORDER,
    WAIT,
    Orders,
    Place,
    described,
    listed,
    narrowed,
)
from xla_conformance.device.patterns import pattern, require_bytes
from xla_conformance.failures import Failure
from xla_core.backend import DeviceMemory, Event, HostBytes, StreamExecutor

WRITES = ("h2d", "upload", "filled h2d", "memset", "d2d", "launch", "donate")
"""Ways to write a cell.

"filled h2d" copies an array that a callback of the same stream has filled. "launch" runs a program on another cell;
"donate" runs a program that may overwrite its argument, this cell.
"""


@dataclasses.dataclass(eq=False)
class Cell:
    """A block of device memory, what it must contain, and who touched it last: streams and their times.

    `reasons` are the promises on which its contents rest, and `readers` those on which what was read since then does.
    """

    memory: DeviceMemory
    expected: HostBytes
    written: Place | None = None
    read: dict[int, int] = dataclasses.field(default_factory=dict)
    last: str = "nothing"
    reasons: set[str] = dataclasses.field(default_factory=set)
    readers: list[set[str]] = dataclasses.field(default_factory=list)

    @property
    def size(self) -> int:
        return self.expected.size


@dataclasses.dataclass(eq=False)
class _Look:
    """A copy to the host that must have found `expected`, and the promises on which that rests."""

    got: HostBytes
    expected: HostBytes
    what: str
    place: Place
    reasons: set[str]


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
        self._orders = Orders(streams)
        self._looks: list[_Look] = []
        self._problems: list[_Look] = []
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

    def _order(self, stream: int, others: Sequence[Place]) -> set[str]:
        """Makes later work of `stream` come after these points of streams. Returns the promises on which that rests."""
        for place in others:
            if not self._orders.is_after(stream, place):
                self.wait(stream, place[0])
        return {reason for place in others for reason in self._orders.reasons(stream, place)}

    def wait(self, stream: int, other: int) -> None:
        """Makes `stream` wait for all work of `other`, in one of several ways."""
        way = self.random.integers(8)
        if way < 2 and not self._gates:
            self.wait_for_host(other, event=way == 0)
            return
        event = self.streams[other].finish() if way == 2 else self._recorded(other)
        self.streams[stream].wait(event)
        self._orders.learn(stream, other, EVENT, WAIT)
        self.log.append(f"stream {stream} waits for stream {other}")
        if way == 3:  # a wait is for the record before it
            self.streams[other].host_callback(pause(0.0002))
            self.streams[other].record(event)

    def _recorded(self, stream: int) -> Event:
        event = self.streams[stream].create_event()
        self.streams[stream].record(event)
        return event

    def wait_for_host(self, only: int | None = None, *, event: bool = False) -> None:
        """Lets the host wait for one stream or all, then checks the work that must be done by now."""
        for stream in range(len(self.streams)) if only is None else (only,):
            if event:
                self._recorded(stream).synchronize()
            else:
                self.streams[stream].synchronize()
            self._orders.learn(self._orders.host, stream, EVENT if event else HOST)
            self.log.append(f"the host waits for stream {stream}")
        self._orders.tell_streams()
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

    def _reads(self, stream: int, cell: Cell) -> set[str]:
        return self._order(stream, [cell.written] if cell.written else []) | cell.reasons

    def _writes(self, stream: int, cell: Cell) -> set[str]:
        """Orders a write after what was done with a cell. Returns the promises on which its new contents rest."""
        before = [*([cell.written] if cell.written else []), *cell.read.items()]
        reasons = self._order(stream, before)
        for reader in cell.readers:
            reader |= reasons
        is_done = all(self._orders.is_after(self._orders.host, place) for place in before)
        return reasons if is_done else reasons | cell.reasons

    def _did(
        self, what: str, stream: int, reasons: set[str], *, reads: Cell | None = None, writes: Cell | None = None
    ) -> Place:
        place = self._orders.next_place(stream)
        self.log.append(f"{len(self.log)}: {what} on stream {stream}")
        if reads is not None:
            reads.read[stream] = place[1]
            reads.readers.append(reasons)
        if writes is not None:
            writes.written, writes.read, writes.last = place, {}, self.log[-1]
            writes.reasons, writes.readers = reasons, []
        return place

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
        reasons = self._writes(stream, cell)
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
            reasons |= cell.reasons
        elif way == "memset":
            value = self._fill_value(size)
            queue.memset(cell.memory, value)
            cell.expected = np.full(size, value, np.uint8)
        else:
            assert source is not None
            reasons |= self._reads(stream, source)
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
        self._did(way, stream, reasons, reads=source, writes=cell)

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
        reasons = self._reads(stream, cell)
        got = np.full(cell.size, 0x11, np.uint8)
        self.streams[stream].memcpy_d2h(got, cell.memory)
        before = cell.last
        place = self._did("d2h", stream, reasons, reads=cell)
        look = _Look(got, cell.expected, f"{self.log[-1]} did not find what {before} had written.", place, reasons)
        if callback:
            seen = dataclasses.replace(look, what=f"a callback after {self.log[-1]} did not see its bytes.")
            self.streams[stream].host_callback(lambda: self._note(seen))
        self._looks.append(look)

    def _note(self, look: _Look) -> None:
        got = look.got.copy()
        if not np.array_equal(got, look.expected):
            self._problems.append(dataclasses.replace(look, got=got))

    # -- verdict -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raises Failure if one of the copies that the host knows to be done found other bytes than the model."""
        for look in self._problems:
            raise self._failure(look, look.got, look.reasons | {IN_ORDER})
        for stream in self.streams:
            if stream.error is not None and not self._gates:
                raise Failure(f"The stream is poisoned, but no work failed: {stream.error}", promise="stream.error")
        left = []
        for look in self._looks:
            if not self._orders.is_after(self._orders.host, look.place):
                left.append(look)
            elif not np.array_equal(got := look.got.copy(), look.expected):
                raise self._failure(look, got, self._broken(look))
        self._looks = left

    def _broken(self, look: _Look) -> Collection[str]:
        """Returns the promises of which one is broken where the host has not found the bytes that it must find.

        If they are there a little later, the host waited too short a time. Otherwise it waited long enough.
        """
        self.streams[look.place[0]].synchronize()
        time.sleep(0.02)
        is_late = np.array_equal(look.got, look.expected)
        return self._orders.reasons(self._orders.host, look.place) if is_late else look.reasons | {IN_ORDER}

    def _failure(self, look: _Look, got: HostBytes, broken: Collection[str]) -> Failure:
        broken = narrowed(broken, self.executor)
        try:
            require_bytes(f"{described(broken)}, but {look.what}", got, look.expected, listed(broken))
        except Failure as failure:
            return failure
        raise AssertionError("these bytes are equal")

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
