"""TransferManager: moves host values to and from device memory. (XLA: xla/service/transfer_manager.h.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.literal_queue import LiteralQueue
from xla_core.backend.stream import HostBytes, Stream
from xla_core.hlo.values.shape import Shape
from xla_core.target.device_layout import from_device_layout, to_device_layout

if TYPE_CHECKING:
    from xla_core.target import TargetConfig


class TransferManager:
    """Converts values between the host's and the device's format, and copies them.

    The defaults convert all of XLA's layouts on the host and copy by the stream. A vendor overrides `to_device` and
    `from_device` for a format of its own, or the transfers for a faster path.
    """

    def __init__(self, target_config: TargetConfig) -> None:
        self.target_config = target_config
        self._queues: dict[tuple[str, int], LiteralQueue] = {}
        self._closed = False

    # -- layouts -----------------------------------------------------------------------------------------------------

    def device_shape(self, shape: Shape) -> Shape:
        """Returns `shape` with the device's default layout. (XLA: HostShapeToDeviceShape.)"""
        return self.target_config.layouts.with_layout(shape)

    def byte_size(self, shape: Shape) -> int:
        """Returns the bytes that an array of `shape` takes on the device. (XLA: GetByteSizeRequirement.)"""
        return self.target_config.shape_size_bytes(shape)

    def to_device(self, array: np.ndarray, shape: Shape) -> HostBytes:
        """Returns the bytes of `array` in the layout of `shape`; a view of `array` where these are the same."""
        return to_device_layout(array, shape)

    def from_device(self, data: np.ndarray, shape: Shape) -> np.ndarray:
        """Returns the array of the device's bytes `data` (1-D, uint8). It may be a view of `data`."""
        return from_device_layout(data, shape)

    # -- transfers ---------------------------------------------------------------------------------------------------

    def transfer_to_device_async(
        self, stream: Stream, array: np.ndarray, memory: DeviceMemory, shape: Shape, *, immutable: bool = False
    ) -> None:
        """Enqueues a copy of `array` (native byte order, `shape`'s dtype and dimensions) into `memory`.

        `immutable` promises that `array` never changes. Otherwise the caller may change it once this returns.
        """
        data = self.to_device(array, shape)
        if immutable or (data.base is not array and not np.may_share_memory(data, array)):
            stream.memcpy_h2d(memory, data)
        else:
            stream.upload(memory, data)

    def transfer_from_device_async(self, stream: Stream, memory: DeviceMemory, shape: Shape) -> np.ndarray:
        """Enqueues a copy to the host; returns the bytes for `from_device`, valid once the stream has done the copy."""
        data = np.empty(self.byte_size(shape), np.uint8)
        stream.memcpy_d2h(data, memory)
        return data

    # -- infeed and outfeed ------------------------------------------------------------------------------------------

    def infeed(self, ordinal: int) -> LiteralQueue:
        """The queue from which a program on device `ordinal` reads its infeed."""
        return self._queue("infeed", ordinal)

    def outfeed(self, ordinal: int) -> LiteralQueue:
        """The queue to which a program on device `ordinal` writes its outfeed."""
        return self._queue("outfeed", ordinal)

    def close(self) -> None:
        """Closes all queues, which ends programs that wait for the host with CancelledError."""
        self._closed = True
        for queue in list(self._queues.values()):
            queue.close()

    def _queue(self, kind: str, ordinal: int) -> LiteralQueue:
        queue = self._queues.setdefault((kind, ordinal), LiteralQueue(f"the {kind} of device {ordinal}"))
        if self._closed:
            queue.close()
        return queue
