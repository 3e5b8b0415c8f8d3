"""Finds races between streams: two operations use a byte, one of them writes it, and nothing orders the two.

Only two things order the operations of different streams: an event that one stream records and another waits for, and
a wait of the host, after which it enqueues the later operation. Each stream has a vector of clocks: for each stream,
how many of its operations come before its own next one. An event has the clocks of the stream that recorded it, and
the host those of all that it has waited for. What is found depends on this order alone, never on how long an operation
takes.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from xla_backend_gpu.emulator.launch import Access
from xla_backend_gpu.emulator.memory import Memory
from xla_core.errors import SourceLocation, StatusCode, XlaError
from xla_core.runtime import HostStream

Clocks = Mapping[int, int]
"""The number of a stream -> how many of its operations come before."""

_READS, _WRITES = 1, 2
_WORD = 8
_MOST_USES = 1 << 14  # then all that happened before is forgotten
_MOST_RANGES = 1 << 12  # of a launch in a block of memory; what comes after them is not looked at


class StreamRace(XlaError):
    """Two operations of different streams that use the same byte, and that nothing orders."""

    code = StatusCode.INTERNAL


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A copy, a fill or a launch.

    Attributes:
        name: a kernel's name, or the kind of the operation.
        stream: the number of the stream.
        number: the number among the operations of the stream, from 1.
        clocks: what comes before it.
        location: the place in the program of the instruction that it computes, if that is known.
    """

    name: str
    stream: int
    number: int
    clocks: Clocks
    location: SourceLocation | None = None

    def precedes(self, other: Operation) -> bool:
        """Whether an operation that runs now, or later, always begins when this one, which has run, is done.

        Those of one stream do, also where two threads enqueue them at once and are numbered in another order.
        """
        return other.stream == self.stream or other.clocks.get(self.stream, 0) >= self.number


@dataclasses.dataclass(frozen=True, slots=True)
class _Uses:
    """The last operation that wrote a byte, and those that read it since and that nothing orders."""

    writer: Operation | None = None
    readers: tuple[Operation, ...] = ()


_NO_USES = _Uses()


class StreamOrder:
    """The order of the operations of all emulated devices in this process, since it was made.

    Attributes:
        epoch: how many times the host has waited for all operations. Later ones race with none of those before.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._lock = threading.RLock()  # a finalizer that runs meanwhile may close a stream
        self._host: dict[int, int] = {}
        self._streams: weakref.WeakKeyDictionary[HostStream, tuple[int, dict[int, int]]] = weakref.WeakKeyDictionary()
        self._numbers = itertools.count(1)

    def operation(self, stream: HostStream, name: str, location: SourceLocation | None = None) -> Operation:
        """Returns a new operation, which is enqueued on a stream now."""
        with self._lock:
            number, clocks = self._clocks(stream)
            clocks[number] = clocks.get(number, 0) + 1
            return Operation(name, number, clocks[number], dict(clocks), location)

    def recorded(self, stream: HostStream) -> Clocks:
        """Returns the clocks of an event that is recorded on a stream now."""
        with self._lock:
            return dict(self._clocks(stream)[1])

    def waits(self, stream: HostStream, event: Clocks) -> None:
        """Lets later operations of a stream come after an event."""
        with self._lock:
            _merge(self._clocks(stream)[1], event)

    def host_waited(self, event: Clocks) -> None:
        """Lets all that the host enqueues later come after an event. Which of its threads waited is not looked at."""
        with self._lock:
            _merge(self._host, event)
            if all(self._host.get(number, 0) >= clocks.get(number, 0) for number, clocks in self._streams.values()):
                self.epoch += 1
                self._forget_closed()

    def _forget_closed(self) -> None:
        """Forgets streams that are gone: no later operation is compared with theirs, which were of an earlier epoch."""
        live = {number for number, _ in self._streams.values()}
        for clocks in (self._host, *(clocks for _, clocks in self._streams.values())):
            for number in clocks.keys() - live:
                del clocks[number]

    def _clocks(self, stream: HostStream) -> tuple[int, dict[int, int]]:
        """Returns the number and the clocks of a stream, which come after all that the host has waited for."""
        if stream not in self._streams:
            self._streams[stream] = (next(self._numbers), {})
        number, clocks = self._streams[stream]
        _merge(clocks, self._host)
        return number, clocks


class LaunchUses:
    """The bytes that a launch uses. It observes the launch with the checked engine, before another observer."""

    def __init__(self, memory: Memory, observe: Callable[[Access], None] | None) -> None:
        self._memory, self._observe = memory, observe
        self._kinds: dict[int, npt.NDArray[np.uint8]] = {}  # address of a block of memory -> the use of each byte
        self._extents: dict[int, tuple[int, int]] = {}  # the same -> the first byte that is used, and the end

    def __call__(self, access: Access) -> None:
        starts, ends = self._memory.bounds()
        blocks = np.searchsorted(starts, access.addresses, side="right") - 1
        for block in np.unique(blocks).tolist():
            start = int(starts[block])
            if start not in self._kinds:
                self._kinds[start] = np.zeros(-(-(int(ends[block]) - start) // _WORD) * _WORD, np.uint8)
            places = (access.addresses[blocks == block] - np.uint64(start)).astype(np.int64)
            first, end = self._extents.get(start, (self._memory.size, 0))
            self._extents[start] = min(first, int(places.min())), max(end, int(places.max()) + access.size)
            _mark(self._kinds[start], places, access.size, _WRITES if access.store else _READS)
        if self._observe is not None:
            self._observe(access)

    def ranges(self) -> Iterator[tuple[int, int, bool]]:
        """Yields the ranges of bytes that are used: the address, the size and whether the bytes are written."""
        for block, (first, end) in self._extents.items():
            address, kinds = block + first, self._kinds[block][first:end]
            borders = [0, *(np.flatnonzero(kinds[1:] != kinds[:-1]) + 1).tolist(), kinds.size]
            for start, end in itertools.pairwise(borders[:_MOST_RANGES]):
                if kinds[start]:
                    yield address + start, end - start, bool(kinds[start] >= _WRITES)


def _mark(kinds: npt.NDArray[np.uint8], places: npt.NDArray[np.int64], size: int, kind: int) -> None:
    """Marks `size` bytes at each of some places, a word at a time if the places are multiples of one."""
    word = min(size, _WORD)
    if size % word or (places % word).any():
        word = 1
    words = kinds.view(f"u{word}")
    mark = words.dtype.type(int.from_bytes(bytes([kind] * word), "little"))
    for number in range(size // word):
        words[places // word + number] |= mark


class MemoryUses:
    """The last uses of each byte of a device's memory.

    They are the same for the bytes from an address of `_starts` to the next one.
    """

    def __init__(self, order: StreamOrder) -> None:
        self._order = order
        self._lock = threading.RLock()  # a finalizer that runs meanwhile may close a stream
        self._forget()

    def uses(self, operation: Operation, address: int, size: int, *, writes: bool) -> None:
        """Records that an operation uses bytes. Raises StreamRace if it races with an earlier one."""
        with self._lock:
            self._record(operation, address, size, writes)

    @staticmethod
    def of_launch(memory: Memory, observe: Callable[[Access], None] | None) -> LaunchUses:
        """Returns what observes a launch, and calls another observer too."""
        return LaunchUses(memory, observe)

    def launched(self, operation: Operation, used: LaunchUses) -> None:
        """Records what a launch has used. Raises StreamRace if it races with an earlier operation."""
        with self._lock:
            for address, size, writes in used.ranges():
                self._record(operation, address, size, writes)

    def allocated(self, address: int, size: int) -> None:
        """Forgets the uses of bytes that have a new owner. Memory is freed when nothing uses it."""
        with self._lock:
            self._replace(address, size, _NO_USES)

    def _forget(self) -> None:
        self._epoch = self._order.epoch
        self._starts = [0]
        self._uses = [_NO_USES]

    def _record(self, operation: Operation, address: int, size: int, writes: bool) -> None:
        if len(self._uses) > _MOST_USES or self._epoch != self._order.epoch:
            self._forget()
        first, end = self._border(address), self._border(address + size)
        for position in range(first, end):
            uses = self._uses[position]
            for other in (uses.writer, *(uses.readers if writes else ())):
                if other is not None and not other.precedes(operation):
                    raise _race(operation, other, self._starts[position], writes, other is uses.writer)
            readers = tuple(r for r in uses.readers if not r.precedes(operation))
            self._uses[position] = _Uses(uses.writer, (*readers, operation))
        if writes:
            self._replace(address, size, _Uses(operation))

    def _replace(self, address: int, size: int, uses: _Uses) -> None:
        first, end = self._border(address), self._border(address + size)
        if first < end:
            self._starts[first:end] = [address]
            self._uses[first:end] = [uses]

    def _border(self, address: int) -> int:
        """Returns the position of the bytes from an address on, which become separate from those before."""
        position = bisect.bisect_left(self._starts, address)
        if position == len(self._starts) or self._starts[position] != address:
            self._starts.insert(position, address)
            self._uses.insert(position, self._uses[position - 1])
        return position


def _merge(clocks: dict[int, int], others: Clocks) -> None:
    for stream, count in tuple(others.items()):  # a finalizer may add streams meanwhile
        clocks[stream] = max(clocks.get(stream, 0), count)


def _race(operation: Operation, other: Operation, address: int, writes: bool, other_wrote: bool) -> StreamRace:
    return StreamRace(
        f"race of unordered streams: `{operation.name}` on stream {operation.stream} {'writes' if writes else 'reads'} "
        f"the byte at {address:#x}, which `{other.name}` on stream {other.stream} {'wrote' if other_wrote else 'read'}",
        op=operation.name,
        location=operation.location,
        hint="let the stream of the later one wait for an event that the other stream records after the earlier one",
    )
