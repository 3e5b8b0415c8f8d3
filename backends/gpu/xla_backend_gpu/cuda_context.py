"""CudaContext: calls of CUDA's driver in a device's primary context, and the device's events."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from cuda.bindings import driver as cuda

from xla_backend_gpu.cuda_calls import call, check, initialize, invoke
from xla_backend_gpu.cuda_handles import CudaEvent, Handles
from xla_backend_gpu.driver import Driver
from xla_backend_gpu.statuses import FORK_RECOVERY, RECOVERY, STICKY
from xla_core.errors import XlaError

_RECENT = 4  # kernels that the report of a fault names
_SPIN_SECONDS, _LONGEST_SECONDS = 1e-3, 2e-4


def pause_seconds(waited: float) -> float:
    """Returns how long to sleep before an event is asked again, after a wait of `waited` seconds.

    A sleep takes at least some 50 us. Short waits don't sleep, so that a short program isn't late; a longer one is late
    by an eighth of its time at most.
    """
    return 0.0 if waited < _SPIN_SECONDS else min(waited / 8, _LONGEST_SECONDS)


class CudaContext(Driver):
    """The primary context of a device. Calls make it current and restore the caller's context."""

    recovery = RECOVERY
    fork_recovery = FORK_RECOVERY

    def __init__(self, ordinal: int) -> None:
        super().__init__()
        initialize()
        self._device = call("cuDeviceGet", ordinal)
        self._context = call("cuDevicePrimaryCtxRetain", self._device)
        self._is_closing = self._closed = False
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._handles = Handles()
        self._streams = set[int]()  # the open ones
        self._capture_streams: Mapping[int, Any] = {}  # by branch; replaced, as other threads read it without a lock

    # -- calls -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        """Makes the context current within the block."""
        self.require_alive()
        self._call("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            cuda.cuCtxPopCurrent()

    def _call(self, name: str, *arguments: Any, kernel: str = "") -> Any:
        """Calls a function of the driver. A sticky failure marks the device as lost."""
        return self._check(name, invoke(name, *arguments), kernel=kernel)

    def _check(self, name: str, result: tuple[Any, ...], *, kernel: str = "") -> Any:
        try:
            return check(name, result, kernel=kernel, recent=tuple(self._recent))
        except XlaError as error:
            if result[0].name in STICKY:
                self.lost = self.lost or error
            raise

    # -- events ------------------------------------------------------------------------------------------------------

    def record(self, stream: Any) -> CudaEvent:
        with self._current():
            if not self._captures(stream):
                self._handles.release(self._call, self._streams)
            return self._record(stream)

    def _captures(self, stream: Any) -> bool:
        """Tells whether the stream is one that captures graphs."""
        return any(stream is capturing for capturing in self._capture_streams.values())

    def _record(self, stream: Any, *, timing: bool = False) -> CudaEvent:
        event = self._handles.event(self._call, timing=timing)
        self._call("cuEventRecord", event.handle, stream)
        return event

    def wait(self, stream: Any, event: CudaEvent) -> None:
        with self._current():
            self._call("cuStreamWaitEvent", stream, event.handle, 0)

    def reached(self, event: CudaEvent, seconds: float) -> bool:
        if self._is_closing:  # then the work is done, and the event may be destroyed
            self.require_alive()
            return True
        with self._current():
            return self._reached(event, seconds)

    def _reached(self, event: CudaEvent, seconds: float) -> bool:
        """Polls the event, because a driver call that blocks would delay Ctrl-C."""
        start = time.monotonic()
        while True:
            result = cuda.cuEventQuery(event.handle)
            if result[0] != cuda.CUresult.CUDA_ERROR_NOT_READY:
                self._check("cuEventQuery", result)
                return True
            waited = time.monotonic() - start
            if self._is_closing or waited >= seconds:
                return self._is_closing
            time.sleep(min(pause_seconds(waited), seconds - waited))  # 0 lets other threads run
