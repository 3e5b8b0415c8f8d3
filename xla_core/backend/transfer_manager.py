"""TransferManager: host values to and from device memory. (XLA: xla/service/transfer_manager.h.)"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream import HostBytes, Stream
from xla_core.errors import CancelledError, DeadlineExceededError
from xla_core.hlo.literal import Literal
from xla_core.hlo.shape import Shape
from xla_core.target.device_layout import from_device_layout, to_device_layout

if TYPE_CHECKING:
    from xla_core.target import TargetConfig

__all__ = ["LiteralQueue", "TransferManager"]


_SIGNAL_SECONDS = 0.1  # a signal that comes just before a wait doesn't wake it; so wait in pieces


class LiteralQueue:
    """Literals on their way into (infeed) or out of (outfeed) a running program. Thread-safe, first in, first out."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._items: deque[Literal] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, literal: Literal) -> None:
        """Appends; never blocks. Raises CancelledError once closed."""
        with self._changed:
            if self._closed:
                raise CancelledError(f"{self.name} is closed")
            self._items.append(literal)
            self._changed.notify()

    def get(self, timeout: float | None = None) -> Literal:
        """The oldest, waited for if need be (`timeout` in seconds). Raises CancelledError once closed and empty, and
        DeadlineExceededError.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not (self._items or self._closed):
                left = _SIGNAL_SECONDS if deadline is None else deadline - time.monotonic()
                if left <= 0:
                    raise DeadlineExceededError(f"nothing came through {self.name} in {timeout} s")
                self._changed.wait(min(left, _SIGNAL_SECONDS))
            if not self._items:
                raise CancelledError(f"{self.name} was closed while a value was waited for")
            return self._items.popleft()

    def close(self) -> None:
        """Wakes everyone who waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._items)


class TransferManager:
    """Knows how values lie in device memory. The defaults do all of XLA's layouts on the host, and copy by the stream.

    A vendor overrides `to_device` and `from_device` for a format of their own, or the transfers for a faster way.
    """

    def __init__(self, target_config: TargetConfig) -> None:
        self.target_config = target_config
        self._queues: dict[tuple[str, int], LiteralQueue] = {}
        self._closed = False

    # -- layouts -----------------------------------------------------------------------------------------------------

    def device_shape(self, shape: Shape) -> Shape:
        """`shape` with the layout that arrays have when no program says. (XLA: HostShapeToDeviceShape.)"""
        return self.target_config.layouts.with_layout(shape)

    def byte_size(self, shape: Shape) -> int:
        """Bytes that an array of `shape` takes on the device. (XLA: GetByteSizeRequirement.)"""
        return self.target_config.shape_size_bytes(shape)

    def to_device(self, array: np.ndarray, shape: Shape) -> HostBytes:
        """The bytes of `array` as `shape`'s layout has them on the device; a view of it where they are the same."""
        return to_device_layout(array, shape)

    def from_device(self, data: np.ndarray, shape: Shape) -> np.ndarray:
        """The array in `data`, the device's bytes (1-D, uint8). May be a view of it."""
        return from_device_layout(data, shape)

    # -- transfers ---------------------------------------------------------------------------------------------------

    def transfer_to_device_async(
        self, stream: Stream, array: np.ndarray, memory: DeviceMemory, shape: Shape, *, immutable: bool = False
    ) -> None:
        """Enqueues a copy of `array` (native byte order, `shape`'s dtype and dimensions) into `memory`.

        `immutable` promises that nobody changes `array` any more; otherwise it may be changed once this returns.
        """
        data = self.to_device(array, shape)
        if immutable or (data.base is not array and not np.may_share_memory(data, array)):
            stream.memcpy_h2d(memory, data)
        else:
            stream.upload(memory, data)

    def transfer_from_device_async(self, stream: Stream, memory: DeviceMemory, shape: Shape) -> np.ndarray:
        """Enqueues the copy back; returns the bytes for `from_device`, valid when the stream has come so far."""
        data = np.empty(self.byte_size(shape), np.uint8)
        stream.memcpy_d2h(data, memory)
        return data

    # -- infeed and outfeed ------------------------------------------------------------------------------------------

    def infeed(self, ordinal: int) -> LiteralQueue:
        """Where the host puts what a program on device `ordinal` reads by infeed."""
        return self._queue("infeed", ordinal)

    def outfeed(self, ordinal: int) -> LiteralQueue:
        """Where the host gets what a program on device `ordinal` wrote by outfeed."""
        return self._queue("outfeed", ordinal)

    def close_queues(self, ordinal: int) -> None:
        """Ends every wait for the infeed and outfeed of a device that goes away."""
        self.infeed(ordinal).close()
        self.outfeed(ordinal).close()

    def close(self) -> None:
        """Nothing more will come from the host: ends programs that wait for it, with CancelledError."""
        self._closed = True
        for queue in list(self._queues.values()):
            queue.close()

    def _queue(self, kind: str, ordinal: int) -> LiteralQueue:
        queue = self._queues.setdefault((kind, ordinal), LiteralQueue(f"the {kind} of device {ordinal}"))
        if self._closed:
            queue.close()
        return queue
