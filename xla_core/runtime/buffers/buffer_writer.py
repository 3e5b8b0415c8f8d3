"""BufferWriter: makes a buffer whose bytes the caller writes in parts. (XLA: AsyncHostToDeviceTransferManager.)"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from xla_core.backend.event import Event
from xla_core.errors import CancelledError, FailedPreconditionError, XlaError
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer, check_raw_bytes
from xla_core.runtime.buffers.views import event_after
from xla_core.runtime.device import Device
from xla_core.runtime.host.event import HostEvent, RecordedPoint, ready_event


class BufferWriter:
    """An array on a device whose bytes are being written; see `Client.buffer_writer`.

    Bytes that no `write` has set are undefined.
    """

    def __init__(self, device: Device, shape: Shape) -> None:
        self._buffer = Buffer.of_undefined(device, shape)
        self._memory = self._buffer.require_memory()
        self._is_finished = False
        self._end: RecordedPoint | None = None
        self._writes: list[Event] = []

    @property
    def buffer(self) -> Buffer:
        """The buffer. Work that reads it may be enqueued at once: its value is defined once `finish` was called and the
        parts are written.
        """
        if self._end is None and not self._is_finished:
            finished = HostEvent()
            self._end = finished.arm()
            self._buffer.define(event_after(self._buffer.device, [finished], "written by the host"))
        return self._buffer

    def write(self, source: np.ndarray, offset: int = 0) -> None:
        """Writes bytes in the device's layout, from byte `offset` of the array on.

        `source` is a one-dimensional array of uint8, which may be changed once this returns.

        Raises:
            InvalidArgumentError: for another array, and for bytes outside of the array on the device.
            FailedPreconditionError: after `finish`.
        """
        self._require_unfinished()
        check_raw_bytes("source", source, offset, self._buffer.byte_size)
        device, stream = self._buffer.device, self._buffer.device.h2d_stream
        with device.lock:
            try:
                device.executor.write_at(stream, self._memory, source.copy(), offset)
            finally:
                self._written(stream.finish())

    def finish(self, error: XlaError | None = None) -> Buffer:
        """Ends the writing, and returns the buffer. Its value is defined once all parts are written.

        Args:
            error: set if the value could not be made; every use of the value then fails with it.
        """
        buffer = self.buffer if error is not None else self._buffer
        self._require_unfinished()
        self._is_finished = True
        if (end := self._end) is not None:
            writes = self._writes or [ready_event()]
            writes[-1].when_ready(lambda _: end.complete(error or next(filter(None, (w.error for w in writes)), None)))
        return buffer

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if (end := getattr(self, "_end", None)) is not None and not self._is_finished and not is_finalizing():
            end.complete(CancelledError("the writer of this buffer was dropped before `finish` was called"))

    def _written(self, event: Event) -> None:
        self._writes = [*(write for write in self._writes if not write.ready or write.error), event]
        if self._end is None:
            self._buffer.define(event)
        else:
            self._buffer.add_usage(event)

    def _require_unfinished(self) -> None:
        if self._is_finished:
            raise FailedPreconditionError("this buffer is finished, and buffers are immutable", hint="make a new one")
