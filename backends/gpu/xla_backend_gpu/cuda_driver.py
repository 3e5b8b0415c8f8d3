"""CudaDriver: a GPU, used through CUDA's driver (cuda-bindings) in its primary context."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cuda.bindings import driver as cuda

from xla_backend_gpu.cublas.find import open_library
from xla_backend_gpu.cublas.library import CublasLt
from xla_backend_gpu.cublas.matmul import Matmul
from xla_backend_gpu.cuda_calls import (
    CHUNK_BYTES,
    CudaEvent,
    CudaGraph,
    PinnedChunk,
    call,
    check,
    count_devices,
    create_pool,
    device_attribute,
    initialize,
    invoke,
    kernel_parameters,
    processor_of,
)
from xla_backend_gpu.driver import Driver, Function, LaunchArguments, Places
from xla_backend_gpu.processors import processor_number
from xla_backend_gpu.program import Engine
from xla_backend_gpu.ptx import entry_names, processor_of_ptx
from xla_backend_gpu.ptxas import ptxas_report
from xla_backend_gpu.statuses import RECOVERY, STICKY
from xla_core.backend import HostBytes, StreamExecutor
from xla_core.errors import XlaError
from xla_core.target import CacheLevel, DeviceDescription

_CHUNKS = 8
_RECENT = 4  # kernels that the report of a fault names
_SPIN_SECONDS, _SLEEP_SECONDS = 20e-6, 200e-6


class CudaModule:
    """A module that a device has loaded. It is unloaded when its last kernel is dropped."""

    __slots__ = ("_driver", "handle")

    def __init__(self, driver: CudaDriver, handle: Any) -> None:
        self._driver = weakref.ref(driver)
        self.handle = handle

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        driver = self._driver()
        if driver is not None and not is_finalizing():
            driver.unload(self.handle)


@dataclasses.dataclass(frozen=True, slots=True)
class CudaFunction:
    """The driver's handle of a kernel, and the kernel's module."""

    handle: Any
    module: CudaModule


class CudaDriver(Driver):
    """One GPU. Calls make its primary context current and restore the caller's context.

    `cublas_library` is the path of cuBLASLt, in place of the one that is found on the machine.
    """

    has_graphs = True
    recovery = RECOVERY

    def __init__(self, ordinal: int, cublas_library: str = "") -> None:
        super().__init__()
        initialize()
        self._cublas_library = cublas_library
        self._device = call("cuDeviceGet", ordinal)
        self._processor_number = processor_number(processor_of(ordinal))
        self._context = call("cuDevicePrimaryCtxRetain", self._device)
        self._retained = [self._context]  # empty once the context is given back
        self._is_closing = self._closed = False
        self._in_use = deque[int]()  # a 1 for each memory, which may be in use for longer than the device is open
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._chunks: deque[PinnedChunk] = deque()
        self._chunk_count = 0
        self._lock = threading.Lock()
        self._capturing = threading.Lock()
        self._pool: Any = None  # one of our own, because the device's default pool is the whole process's
        with self._current():
            self._memory_stream = call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
            self._capture_stream = call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
            if device_attribute(self._device, "MEMORY_POOLS_SUPPORTED"):
                self._pool = create_pool(self._device)
                self.has_peers = self._open_pool(ordinal)
            self._description = self._describe()

    def _open_pool(self, ordinal: int) -> bool:
        """Lets the other devices access this one's memory; returns whether there are others, and all of them can."""
        others = [call("cuDeviceGet", number) for number in range(count_devices()) if number != ordinal]
        grants = []
        for other in others:
            if not call("cuDeviceCanAccessPeer", self._device, other) or not device_attribute(
                other, "MEMORY_POOLS_SUPPORTED"
            ):
                return False
            grant = cuda.CUmemAccessDesc()
            grant.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            grant.location.id = int(other)
            grant.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            grants.append(grant)
        if grants:
            call("cuMemPoolSetAccess", self._pool, grants, len(grants))
        return bool(grants)

    def _describe(self) -> DeviceDescription:
        device = self._device
        free, _ = call("cuMemGetInfo")
        name: bytes = call("cuDeviceGetName", 256, device)
        clock = device_attribute(device, "MEMORY_CLOCK_RATE")
        bandwidth = 2e3 * clock * device_attribute(device, "GLOBAL_MEMORY_BUS_WIDTH") / 8
        return DeviceDescription(
            name=name.partition(b"\0")[0].decode(),
            vendor="NVIDIA",
            memory_bytes=int(free),
            memory_bandwidth=bandwidth,
            core_count=device_attribute(device, "MULTIPROCESSOR_COUNT"),
            clock_hz=1e3 * device_attribute(device, "CLOCK_RATE"),
            lanes=device_attribute(device, "WARP_SIZE"),
            caches=(CacheLevel(size_bytes=device_attribute(device, "L2_CACHE_SIZE"), line_bytes=128),),
            scratch_bytes=device_attribute(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        )

    @property
    def description(self) -> DeviceDescription:
        return self._description

    # -- calls -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        """Makes the context current within the block. A sticky failure marks the device as lost."""
        self.require_alive()
        call("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            cuda.cuCtxPopCurrent()

    def _call(self, name: str, *arguments: Any, kernel: str = "") -> Any:
        result = invoke(name, *arguments)
        try:
            return check(name, result, kernel=kernel, recent=tuple(self._recent))
        except XlaError as error:
            if result[0].name in STICKY:
                self.lost = self.lost or error
            raise

    # -- memory ------------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int | None:
        pool, stream = self._pool, self._memory_stream
        with self._current():
            made = cuda.cuMemAlloc(size) if pool is None else cuda.cuMemAllocFromPoolAsync(size, pool, stream)
            if made[0] == cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                return None
            address = int(check("cuMemAlloc" if pool is None else "cuMemAllocFromPoolAsync", made))
            self._in_use.append(1)
            if pool is not None:  # any stream may use the memory
                self._call("cuStreamSynchronize", stream)
            return address

    def free(self, address: int) -> None:
        try:
            if self.lost is None:  # otherwise the memory was freed with the context
                with self._current():
                    self._free(address)
        finally:
            self._in_use.pop()
            self._release_unused()

    def _free(self, address: int) -> None:
        if self._pool is None:
            self._call("cuMemFree", address)
            return
        self._call("cuMemFreeAsync", address, self._memory_stream)
        self._call("cuStreamSynchronize", self._memory_stream)
        self._call("cuMemPoolTrimTo", self._pool, 0)  # for other processes and libraries

    # -- streams -----------------------------------------------------------------------------------------------------

    def create_stream(self, executor: StreamExecutor) -> Any:
        with self._current():
            return self._call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)

    def close_stream(self, stream: Any) -> None:
        if self.lost is None and not self._closed:
            with self._current():
                self._call("cuStreamDestroy", stream)

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
                    return PinnedChunk()
            time.sleep(_SLEEP_SECONDS)  # other threads have all of them

    def _await(self, chunk: PinnedChunk) -> None:
        if chunk.used is not None:
            self._reached(chunk.used, float("inf"))
            chunk.used = None

    def copy(self, stream: Any, destination: int, source: int, size: int) -> None:
        if size:
            with self._current():
                self._call("cuMemcpyDtoDAsync", destination, source, size, stream)

    def fill(self, stream: Any, address: int, value: int, size: int) -> None:
        if size:
            with self._current():
                self._call("cuMemsetD8Async", address, value, size, stream)

    def launch(self, stream: Any, function: Function, arguments: LaunchArguments) -> None:
        values, pointers = kernel_parameters(arguments.addresses)
        with self._current():
            self._recent.append(function.name)
            self._call(
                "cuLaunchKernel",
                function.handle.handle,
                *arguments.blocks,
                *arguments.threads,
                arguments.shared_bytes,
                stream,
                ctypes.addressof(pointers),
                0,
                kernel=function.name,
            )
        del values  # the driver copied them

    def open_blas(self) -> CublasLt | None:
        with self._current():
            return open_library(self._cublas_library)

    def call_blas(self, stream: Any, library: CublasLt, matmul: Matmul, places: Places, name: str) -> None:
        with self._current():
            self._recent.append(name)
            library.multiply(matmul, places, int(stream))

    # -- graphs ------------------------------------------------------------------------------------------------------

    def capture(self, work: Sequence[Callable[[Any], None]]) -> CudaGraph:
        stream, mode = self._capture_stream, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        with self._capturing, self._current():
            self._call("cuStreamBeginCapture", stream, mode)
            try:
                for enqueue in work:
                    enqueue(stream)
            except BaseException:
                status, graph = cuda.cuStreamEndCapture(stream)
                if status == cuda.CUresult.CUDA_SUCCESS:
                    cuda.cuGraphDestroy(graph)
                raise
            graph = self._call("cuStreamEndCapture", stream)
            try:
                return CudaGraph(self._call("cuGraphInstantiate", graph, 0), tuple(self._recent))
            finally:
                cuda.cuGraphDestroy(graph)

    def launch_graph(self, stream: Any, graph: CudaGraph) -> None:
        with self._current():
            self._recent.extend(graph.names)
            self._call("cuGraphLaunch", graph.handle, stream)

    # -- events ------------------------------------------------------------------------------------------------------

    def record(self, stream: Any) -> CudaEvent:
        with self._current():
            return self._record(stream)

    def _record(self, stream: Any) -> CudaEvent:
        event = CudaEvent()
        self._call("cuEventRecord", event.handle, stream)
        return event

    def wait(self, stream: Any, event: CudaEvent) -> None:
        with self._current():
            self._call("cuStreamWaitEvent", stream, event.handle, 0)

    def reached(self, event: CudaEvent, seconds: float) -> bool:
        with self._current():
            return self._reached(event, seconds)

    def _reached(self, event: CudaEvent, seconds: float) -> bool:
        """Polls the event, because a driver call that blocks would delay Ctrl-C."""
        start = time.monotonic()
        while True:
            result = cuda.cuEventQuery(event.handle)
            if result[0] != cuda.CUresult.CUDA_ERROR_NOT_READY:
                break
            spent = time.monotonic() - start
            if spent >= seconds:
                return False
            if spent > _SPIN_SECONDS:
                time.sleep(min(_SLEEP_SECONDS, max(seconds - spent, 0.0)))
        if result[0] != cuda.CUresult.CUDA_SUCCESS:
            self._call("cuEventQuery", event.handle)  # raises, and marks the device as lost
        return True

    # -- code --------------------------------------------------------------------------------------------------------

    def load(self, ptx: str, engine: Engine, cubin: bytes = b"") -> Mapping[str, Function]:
        processor = processor_of_ptx(ptx)
        with self._current():
            module = None
            if cubin and processor_number(processor) == self._processor_number:
                with contextlib.suppress(XlaError):  # a driver that is older than ptxas can compile the PTX still
                    module = self._load(cubin)
            if module is None:
                try:
                    module = self._load(ptx.encode())
                except XlaError as error:
                    error.hint = f"the PTX is for {processor}; ptxas says: {ptxas_report(ptx, processor).strip()}"
                    raise
            names = entry_names(ptx)
            owner = CudaModule(self, module)
            found = {n: self._call("cuModuleGetFunction", module, n.encode(), kernel=n) for n in names}
            return {n: Function(n, CudaFunction(handle, owner)) for n, handle in found.items()}

    def _load(self, image: bytes) -> Any:
        buffer = ctypes.create_string_buffer(image)
        return self._call("cuModuleLoadData", ctypes.addressof(buffer))

    def unload(self, module: Any) -> None:
        """Frees a module, of which no kernel is enqueued any more."""
        if self._retained and self.lost is None:  # otherwise it was freed with the context
            with contextlib.suppress(XlaError), self._current():
                self._call("cuModuleUnload", module)

    def close(self) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        with contextlib.suppress(XlaError), self._current():
            self.close_blas()
            while self._chunks:
                self._call("cuMemFreeHost", self._chunks.popleft().address)
            self._call("cuStreamDestroy", self._capture_stream)
        self._closed = True
        self._release_unused()

    def _release_unused(self) -> None:
        """Ends the pool, and gives the context back, once the device is closed and none of its memory is in use.

        Other libraries may keep the context, and an array that they have imported keeps its memory.
        """
        if not self._closed or (self._in_use and self.lost is None):
            return
        try:
            self._retained.pop()  # by one thread; without a lock, because finalizers call this anywhere
        except IndexError:
            return
        with contextlib.suppress(XlaError), self._current():
            self._call("cuStreamDestroy", self._memory_stream)
            if self._pool is not None:
                self._call("cuMemPoolDestroy", self._pool)
        cuda.cuDevicePrimaryCtxRelease(self._device)
