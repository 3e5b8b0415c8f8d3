"""CudaCopies: copies between a device and the host, through pinned memory."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections import deque
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from xla_backend_gpu.cuda_context import CudaContext
from xla_backend_gpu.cuda_handles import CudaEvent
from xla_core.backend import HostBytes

CHUNK_BYTES = 4 << 20
"""The size of a `PinnedChunk`."""

_CHUNKS = 8
_SLEEP_SECONDS = 200e-6


class PinnedChunk:
    """A piece of pinned host memory, with the event of the last copy that used it."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.view = np.frombuffer(memoryview((ctypes.c_uint8 * CHUNK_BYTES).from_address(address)), np.uint8)
        self.used: CudaEvent | None = None


class CudaCopies(CudaContext):
    """A device with pinned memory for its copies."""

    def __init__(self, ordinal: int) -> None:
        super().__init__(ordinal)
        self._chunks: deque[PinnedChunk] = deque()
        self._chunk_count = 0
        self._lock = threading.Lock()

    def write(self, stream: Any, address: int, source: HostBytes) -> None:
        with self._current():
            for start in range(0, source.size, CHUNK_BYTES):
                part = source[start : start + CHUNK_BYTES]
                chunk = self._take_chunk()
                try:
                    chunk.view[: part.size] = part
                    self._call("cuMemcpyHtoDAsync", address + start, chunk.address, part.size, stream)
                    chunk.used = self._record(stream)
                finally:
                    self._chunks.append(chunk)

    def read(self, stream: Any, destination: HostBytes, address: int) -> None:
        """Copies through two pieces of pinned memory: while the device fills one, the host copies from the other."""
        pending: deque[tuple[HostBytes, PinnedChunk]] = deque()
        with self._current():
            try:
                for start in range(0, destination.size, CHUNK_BYTES):
                    part, chunk = destination[start : start + CHUNK_BYTES], self._take_chunk()
                    pending.append((part, chunk))
                    self._call("cuMemcpyDtoHAsync", chunk.address, address + start, part.size, stream)
                    chunk.used = self._record(stream)
                    if len(pending) == 2:
                        self._finish_read(*pending.popleft())
                while pending:
                    self._finish_read(*pending.popleft())
            finally:
                self._chunks.extend(chunk for _, chunk in pending)

    def _finish_read(self, part: HostBytes, chunk: PinnedChunk) -> None:
        try:
            self._await(chunk)
            part[...] = chunk.view[: part.size]
        finally:
            self._chunks.append(chunk)

    def _take_chunk(self) -> PinnedChunk:
        """Returns pinned memory that no copy uses."""
        while True:
            with contextlib.suppress(IndexError):
                chunk = self._chunks.popleft()
                self._await(chunk)
                return chunk
            with self._lock:
                if self._chunk_count < _CHUNKS:
                    self._chunk_count += 1
                    return PinnedChunk(int(self._call("cuMemHostAlloc", CHUNK_BYTES, cuda.CU_MEMHOSTALLOC_PORTABLE)))
            time.sleep(_SLEEP_SECONDS)  # other threads have all of them

    def _await(self, chunk: PinnedChunk) -> None:
        if chunk.used is not None:
            self._reached(chunk.used, float("inf"))
            chunk.used = None

    def _free_chunks(self) -> None:
        while self._chunks:
            self._call("cuMemFreeHost", self._chunks.popleft().address)
