"""BufferWriter: makes a buffer whose bytes the caller writes in parts. (XLA: AsyncHostToDeviceTransferManager.)"""

from __future__ import annotations

import numpy as np

from xla_core.errors import FailedPreconditionError
from xla_core.hlo.shape import Shape
from xla_core.runtime.buffer import Buffer, check_raw_bytes
from xla_core.runtime.device import Device


class BufferWriter:
    """An array on a device before it is a Buffer; see `Client.buffer_writer`.

    Bytes that no `write` has set are undefined.
    """

    def __init__(self, device: Device, shape: Shape) -> None:
        self._buffer: Buffer | None = Buffer.of_undefined(device, shape)

    def write(self, source: np.ndarray, offset: int = 0) -> None:
        """Writes bytes in the device's layout, from byte `offset` of the array on.

        `source` is a one-dimensional array of uint8, which may be changed once this returns.

        Raises:
            InvalidArgumentError: for another array, and for bytes outside of the array on the device.
        """
        buffer = self._unfinished()
        check_raw_bytes("source", source, offset, buffer.byte_size)
        device, stream = buffer.device, buffer.device.h2d_stream
        with device.lock:
            memory = buffer.acquire(stream)
            try:
                device.executor.write_at(stream, memory, source.copy(), offset)
            finally:
                buffer.define(stream.finish())

    def finish(self) -> Buffer:
        """Returns the Buffer, whose value is defined once all parts are written. Later calls raise."""
        buffer, self._buffer = self._unfinished(), None
        return buffer

    def _unfinished(self) -> Buffer:
        if self._buffer is None:
            raise FailedPreconditionError("this buffer is finished, and buffers are immutable", hint="make a new one")
        return self._buffer
