"""Device: one device of a client, with its streams and its memory."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import TYPE_CHECKING

from xla_core.backend.executable import RunOptions
from xla_core.backend.platform import Platform
from xla_core.errors import XlaError
from xla_core.runtime.allocator import MemoryStats, PoolAllocator
from xla_core.runtime.host_stream import forked_error

if TYPE_CHECKING:
    from xla_core.runtime.client import Client
    from xla_core.target import DeviceDescription

__all__ = ["Device"]


class Device:
    """Programs run on one stream, in order; copies from and to the host on two more, ordered by events.

    Attributes:
        id: its index in `Client.devices`. local_ordinal: the platform's number.
        dead: why it can't be used any more (closed, or forked), else None.
    """

    __slots__ = (
        "__weakref__",
        "_client",
        "allocator",
        "compute_stream",
        "d2h_stream",
        "dead",
        "executor",
        "h2d_stream",
        "id",
        "local_ordinal",
        "lock",
        "platform",
        "run_options",
    )

    def __init__(self, client: Client, platform: Platform, index: int, ordinal: int) -> None:
        self._client = weakref.ref(client)
        self.platform = platform
        self.id = index
        self.local_ordinal = ordinal
        self.executor = platform.executor(ordinal)
        self.compute_stream = self.executor.create_stream()
        self.h2d_stream = self.executor.create_stream()
        self.d2h_stream = self.executor.create_stream()
        streams = {
            "programs": self.compute_stream,
            "host to device": self.h2d_stream,
            "device to host": self.d2h_stream,
        }
        for what, stream in streams.items():
            stream.name = f"{platform.name}:{index} {what}"
        self.allocator = PoolAllocator(self.executor, self.compute_stream, self.description.memory_bytes or None)
        # Held while an execution takes its arguments and enqueues: units of work stay whole, nobody deletes between.
        self.lock = threading.RLock()
        self.dead: XlaError | None = None
        self.run_options = RunOptions(self.executor, self.compute_stream, self.allocator, platform.transfer_manager)
        _devices.add(self)

    @property
    def client(self) -> Client | None:
        return self._client()

    @property
    def description(self) -> DeviceDescription:
        return self.executor.description

    @property
    def memory_limit(self) -> int | None:
        """Bytes that buffers and programs may take; None for no limit of ours. Can be set."""
        return self.allocator.limit

    @memory_limit.setter
    def memory_limit(self, limit: int | None) -> None:
        self.allocator.limit = limit

    def memory_stats(self) -> MemoryStats:
        return self.allocator.stats()

    def synchronize(self) -> None:
        """Waits for everything that was enqueued on this device."""
        for stream in (self.h2d_stream, self.compute_stream, self.d2h_stream):
            stream.synchronize()
        self.executor.synchronize()

    def close(self, error: XlaError) -> None:
        """No use from now on raises anything but `error`."""
        if self.dead is None:
            self.dead = error
            self.platform.transfer_manager.close_queues(self.local_ordinal)
            for stream in (self.h2d_stream, self.compute_stream, self.d2h_stream):
                stream.close()
            self.allocator.close()

    def __repr__(self) -> str:
        return f"<Device {self.platform.name}:{self.id}>"


_devices: weakref.WeakSet[Device] = weakref.WeakSet()


def _after_fork() -> None:
    for device in list(_devices):
        device.dead = device.dead or forked_error()
        device.lock = threading.RLock()
        device.allocator.reset_after_fork()


def _at_exit() -> None:
    """Before the streams are finished: a program that waits for an infeed would wait for ever."""
    for device in list(_devices):
        if device.dead is None:
            device.platform.transfer_manager.close_queues(device.local_ordinal)


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
