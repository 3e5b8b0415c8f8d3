"""TrackedBuffer: device memory, when its value is there, and who still uses it. (XLA: pjrt/tracked_device_buffer.h.)

This is what the rest of the runtime asks of a buffer: `acquire` to read it, `add_usage` while another stream works on
it, `writable_memory` and `give_up` to donate it.
"""

from __future__ import annotations

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import Event, Stream
from xla_core.errors import FailedPreconditionError
from xla_core.hlo.shape import Shape
from xla_core.runtime.allocator import MemoryHolder, PoolAllocator
from xla_core.runtime.device import Device
from xla_core.runtime.handle import Handle

__all__ = ["OutsideHold", "TrackedBuffer"]


class _Usage:
    """The events that must come before a memory is used again, and what keeps the memory until then.

    Kept in `_usages` until the memory is released: the finalizer of a buffer in a reference cycle may run after those
    of the cycle's other objects, and an event must not be used after its own.
    """

    __slots__ = ("events", "owner")

    def __init__(self, owner: object = None) -> None:
        self.events: list[Event] = []
        self.owner = owner
        _usages.add(self)

    def release(self, allocator: PoolAllocator, memory: DeviceMemory) -> None:
        _usages.discard(self)
        if not all(event.ready for event in self.events):
            allocator.keep_until(memory if self.owner is None else self.owner, self.events)
        elif self.owner is None:
            allocator.free(memory)


_usages: set[_Usage | None] = set()


class OutsideHold:
    """Memory that is shared with others than this runtime: arrays that look into it, or the `owner` that it is of.

    It returns to the allocator, or the owner is let go, when the last holder lets go of this.
    """

    __slots__ = ("__array_interface__", "_allocator", "memory", "usage")

    def __init__(self, device: Device, memory: DeviceMemory, usage: _Usage | None) -> None:
        self._allocator = device.allocator
        self.memory = memory
        self.usage = usage
        address = device.executor.address(memory)
        self.__array_interface__ = {"data": (address, True), "shape": (memory.size,), "typestr": "|u1", "version": 3}

    def __del__(self) -> None:
        if self.usage is None:
            self._allocator.free(self.memory)
        else:
            self.usage.release(self._allocator, self.memory)


class TrackedBuffer(MemoryHolder, Handle):
    """An array of `shape` in `memory`, which is there from `definition_event` on. Owns the memory.

    Attributes:
        device, shape: never change.
        memory: None once the buffer is deleted or donated.
        definition_event: when the value is there, or couldn't be computed; None once it is known to be there. That of
            memory with an owner outside stays, so that each use of it comes by `acquire`.
    """

    __slots__ = ("__weakref__", "_gone", "_hold", "_usage", "definition_event", "device", "memory", "shape")

    def __init__(self, device: Device, memory: DeviceMemory, shape: Shape, event: Event | None) -> None:
        self.device = device
        self.memory: DeviceMemory | None = memory
        self.shape = shape
        self.definition_event = event
        self._usage: _Usage | None = None
        self._hold: OutsideHold | None = None
        self._gone = ""

    def __del__(self) -> None:
        memory = self.memory
        if memory is not None and self._hold is None:
            if self._usage is None:
                self.device.allocator.free(memory)
            else:
                self._usage.release(self.device.allocator, memory)

    def held(self, allocator: PoolAllocator) -> tuple[int, str] | None:
        if self.memory is None or self.device.allocator is not allocator:
            return None
        return self.device.byte_size(self.shape), str(self.shape.without_layout())

    # -- reading -----------------------------------------------------------------------------------------------------

    def require_memory(self) -> DeviceMemory:
        """The memory of a buffer that can be used. Raises FailedPreconditionError for one that can't."""
        self.device.require_alive()
        if self.memory is None:
            raise FailedPreconditionError(
                f"this buffer {self.shape.without_layout()} was {self._gone}",
                hint="use the result that took its place; or compile with CompileOptions(donate=())"
                if self._gone.startswith("donated")
                else "keep it until its last use",
            )
        return self.memory

    def acquire(self, stream: Stream) -> DeviceMemory:
        """The memory for work that is enqueued next on `stream`, which waits for the value. Where that isn't the
        device's compute stream, or the buffer `is_foreign`, `add_usage` must follow.
        """
        memory = self.require_memory()
        event = self.definition_event
        if event is not None:
            if not event.ready or event.error is not None:
                stream.wait(event)
            elif not self.is_foreign:
                self.definition_event = None
        return memory

    def add_usage(self, event: Event) -> None:
        """Another stream than the compute stream works on the memory until `event`."""
        if event.ready:
            return
        if self._usage is None:
            self._usage = _Usage()
            if self._hold is not None:
                self._hold.usage = self._usage
        self._usage.events = [*[e for e in self._usage.events if not e.ready], event]

    # -- owners outside ----------------------------------------------------------------------------------------------

    @property
    def is_foreign(self) -> bool:
        """Whether the memory has an owner outside, and is only looked at here."""
        return self._usage is not None and self._usage.owner is not None

    def borrow_from(self, owner: object) -> None:
        """The memory isn't the allocator's, but the owner's, who keeps it."""
        assert self.memory is not None
        self._usage = _Usage(owner)
        self._hold = OutsideHold(self.device, self.memory, self._usage)

    def share(self) -> OutsideHold:
        """The memory, for arrays outside that keep it."""
        with self.device.lock:
            memory = self.require_memory()
            if self._hold is None:
                self._hold = OutsideHold(self.device, memory, self._usage)
            return self._hold

    # -- end ---------------------------------------------------------------------------------------------------------

    def is_deleted(self) -> bool:
        """Deleted or donated."""
        return self.memory is None

    def delete(self) -> None:
        """Gives the memory back as soon as no work reads it. Any later use is an error. Deleting twice is fine."""
        with self.device.lock:
            self.give_up("deleted")

    def writable_memory(self, stream: Stream, *, keep: bool = False) -> tuple[DeviceMemory, bool]:
        """Memory with the value that work on `stream` may overwrite, and whether it is a copy, which the caller frees:
        with `keep`, or where others look into the buffer's own.
        """
        memory = self.require_memory()
        if keep or self._hold is not None:
            copy = self.device.allocator.allocate(memory.size, memory.memory_space)
            stream.memcpy_d2d(copy, memory)
            return copy, True
        if self._usage is not None:
            for event in self._usage.events:
                stream.wait(event)
        return memory, False

    def give_up(self, gone: str, *, memory_taken: bool = False) -> None:
        """Ends the buffer: later uses say that it was `gone`. Its memory goes where its owner says, unless the caller
        took it.
        """
        memory, self.memory = self.memory, None
        usage, self._usage = self._usage, None
        hold, self._hold = self._hold, None
        if memory is None:
            return
        self._gone = gone
        if memory_taken:
            _usages.discard(usage)
        elif hold is None:
            if usage is None:
                self.device.allocator.free(memory)
            else:
                usage.release(self.device.allocator, memory)
