"""TrackedBuffer: device memory with the event of its definition and the events of its uses.

The rest of the runtime uses a buffer's memory through this protocol: `acquire` to read it, `add_usage` while another
stream works on it, `writable_memory` and `give_up` to donate it.

XLA: pjrt/tracked_device_buffer.h
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.event import Event
from xla_core.backend.stream import Stream
from xla_core.backend.stream_executor import Allocator
from xla_core.errors import FailedPreconditionError
from xla_core.handle import Handle
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.device import Device
from xla_core.runtime.memory.allocator import PoolAllocator
from xla_core.runtime.memory.memory_stats import MemoryHolder


class _Usage:
    """The events that must be ready before memory is reused, and the owner of foreign memory.

    `_usages` keeps it alive until the memory is released. It is global, because buffer, device and client may all be
    garbage of one reference cycle: then the events' finalizers could run before the buffer's, which uses the events.
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


class ExternalReference:
    """Memory that is shared with objects outside of the runtime: arrays over it, or the `owner` of foreign memory.

    XLA: PjRtBuffer::ExternalReference.

    When the last reference to this object goes away, the memory returns to the allocator, or the owner is released.
    """

    __slots__ = ("__array_interface__", "_device", "memory", "usage")

    def __init__(self, device: Device, memory: DeviceMemory, usage: _Usage | None) -> None:
        self._device = device  # which stays open while arrays over its memory live
        self.memory = memory
        self.usage = usage
        address = device.executor.address(memory)
        self.__array_interface__ = {"data": (address, True), "shape": (memory.size,), "typestr": "|u1", "version": 3}

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # the globals of modules may be None by now
            return
        if self.usage is None:
            self._device.allocator.free(self.memory)
        else:
            self.usage.release(self._device.allocator, self.memory)


class TrackedBuffer(MemoryHolder, Handle):
    """An array of `shape` in `memory`, whose value is defined once `definition_event` is ready. Owns the memory.

    Attributes:
        device, shape: constant.
        memory: None once the buffer is deleted or donated.
        definition_event: ready when the value is computed or has failed; None once the value is known to be computed.
            Foreign memory always keeps its event, so that each use calls `acquire`.
    """

    __slots__ = ("__weakref__", "_external", "_gone", "_usage", "definition_event", "device", "memory", "shape")

    def __init__(self, device: Device, memory: DeviceMemory, shape: Shape, event: Event | None) -> None:
        self.device = device
        self.memory: DeviceMemory | None = memory
        self.shape = shape
        self.definition_event = event
        self._usage: _Usage | None = None
        self._external: ExternalReference | None = None
        self._gone = ""

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        memory = self.memory
        if memory is not None and self._external is None and not is_finalizing():
            if self._usage is None:
                self.device.allocator.free(memory)
            else:
                self._usage.release(self.device.allocator, memory)

    def held(self, allocator: Allocator) -> tuple[int, str] | None:
        if self.memory is None or self.device.allocator is not allocator:
            return None
        return self.device.byte_size(self.shape), str(self.shape.without_layout())

    # -- reading -----------------------------------------------------------------------------------------------------

    def require_memory(self) -> DeviceMemory:
        """Returns the memory, which must still be there.

        Raises:
            FailedPreconditionError: where the buffer was deleted or donated.
        """
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
        """Makes `stream` wait for the value, and returns the memory for work that is enqueued next on it.

        The caller must call `add_usage` after enqueueing, unless `stream` is the device's compute stream and the memory
        is not foreign.
        """
        memory = self.require_memory()
        event = self.definition_event
        if event is not None:
            if not event.ready or event.error is not None:
                stream.wait(event)
            elif not self.is_foreign:
                self.definition_event = None
        return memory

    def define(self, event: Event) -> None:
        """Makes `event` the definition of the value, which a stream other than the compute stream has written."""
        self.definition_event = event
        self.add_usage(event)

    def add_usage(self, event: Event) -> None:
        """Records that a stream other than the compute stream uses the memory until `event` is ready."""
        if event.ready:
            return
        if self._usage is None:
            self._usage = _Usage()
            if self._external is not None:
                self._external.usage = self._usage
        self._usage.events = [*[e for e in self._usage.events if not e.ready], event]

    # -- owners outside ----------------------------------------------------------------------------------------------

    @property
    def is_foreign(self) -> bool:
        """Whether the memory belongs to an owner outside of the runtime."""
        return self._usage is not None and self._usage.owner is not None

    def borrow_from(self, owner: object) -> None:
        """Marks the memory as foreign: `owner` keeps it alive, and it isn't freed to the allocator."""
        assert self.memory is not None
        self._usage = _Usage(owner)
        self._external = ExternalReference(self.device, self.memory, self._usage)

    def share(self) -> ExternalReference:
        """Returns the reference for arrays over the memory, which keeps the memory alive."""
        external = self._external
        if external is not None and self.device.dead is None:
            return external
        with self.device.lock:
            memory = self.require_memory()
            if self._external is None:
                self._external = ExternalReference(self.device, memory, self._usage)
            return self._external

    # -- end ---------------------------------------------------------------------------------------------------------

    def is_deleted(self) -> bool:
        return self.memory is None

    def delete(self) -> None:
        """Frees the memory once no work reads it. Any later use of the buffer is an error, except `delete`."""
        with self.device.lock:
            self.give_up("deleted")

    def donate_to(self, program: str) -> None:
        """Ends the buffer as an argument that a program got and doesn't write to."""
        with self.device.lock:
            self.give_up(f"donated to {program}")

    def writable_memory(self, stream: Stream, *, keep: bool = False) -> tuple[DeviceMemory, bool]:
        """Returns memory with the value that work on `stream` may overwrite, and whether it is a copy.

        With `keep`, or if the buffer's own memory is shared, it is a copy. The caller must free a copy.
        """
        memory = self.require_memory()
        if keep or self._external is not None:
            copy = self.device.allocator.allocate(memory.size, memory.memory_space)
            stream.memcpy_d2d(copy, memory)
            return copy, True
        if self._usage is not None:
            for event in self._usage.events:
                stream.wait(event)
        return memory, False

    def give_up(self, gone: str, *, memory_taken: bool = False) -> None:
        """Ends the buffer. Errors of later uses say that it was `gone` ("deleted", "donated to ...").

        Its memory is freed once it has no users, unless the caller took it (`memory_taken`).
        """
        if self.memory is None:
            return
        self._gone = gone  # first, because other threads that find no memory say why
        memory, self.memory = self.memory, None
        usage, self._usage = self._usage, None
        external, self._external = self._external, None
        if memory_taken:
            _usages.discard(usage)
        elif external is None:
            if usage is None:
                self.device.allocator.free(memory)
            else:
                usage.release(self.device.allocator, memory)
