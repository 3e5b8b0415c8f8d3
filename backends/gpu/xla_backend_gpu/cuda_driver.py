"""CudaDriver: a GPU, used through CUDA's driver (cuda-bindings) in its primary context."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cuda.bindings import driver as cuda

from xla_backend_gpu.cublas.find import open_library
from xla_backend_gpu.cublas.library import CublasLt
from xla_backend_gpu.cublas.matmul import Matmul
from xla_backend_gpu.cuda_calls import (
    call,
    chip_of,
    count_devices,
    create_pool,
    device_attribute,
    invoke,
    kernel_parameters,
)
from xla_backend_gpu.cuda_copies import CudaCopies
from xla_backend_gpu.cuda_handles import CudaFunction, CudaGraph, CudaModule
from xla_backend_gpu.cuda_modules import load_module
from xla_backend_gpu.cuda_timing import seconds_of_one
from xla_backend_gpu.driver import Function, LaunchArguments, Places, Step
from xla_backend_gpu.processors import processor_number
from xla_backend_gpu.program import Engine
from xla_backend_gpu.ptx import entry_names, processor_of_ptx
from xla_core.backend import StreamExecutor
from xla_core.errors import XlaError
from xla_core.target import CacheLevel, DeviceDescription


class CudaDriver(CudaCopies):
    """One GPU.

    `cublas_library` is the path of cuBLASLt, in place of the one that is found on the machine.
    """

    has_graphs = True

    def __init__(self, ordinal: int, cublas_library: str = "") -> None:
        super().__init__(ordinal)
        self._cublas_library = cublas_library
        self._chip = chip_of(ordinal)
        self._retained = [self._context]  # empty once the context is given back
        self._in_use = deque[int]()  # a 1 for each memory, which may be in use for longer than the device is open
        self._captured = list[CudaModule]()  # the modules of the graph that is being captured
        self._capturing = threading.Lock()
        self._pool: Any = None  # one of our own, because the device's default pool is the whole process's
        with self._current():
            self._memory_stream = call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
            if device_attribute(self._device, "MEMORY_POOLS_SUPPORTED"):
                self._pool = create_pool(self._device)
                self.has_peers = self._open_pool(ordinal)
            self._description = self._describe()

    def _open_pool(self, ordinal: int) -> bool:
        """Lets the devices that can access this one's memory do so.

        Returns whether there are other devices, and all of them and this one can access each other's memory.
        """
        others = [call("cuDeviceGet", number) for number in range(count_devices()) if number != ordinal]
        grants, reach_all = [], bool(others)
        for other in others:
            is_reached = call("cuDeviceCanAccessPeer", other, self._device)
            pooled = device_attribute(other, "MEMORY_POOLS_SUPPORTED")
            reach_all &= bool(is_reached and pooled and call("cuDeviceCanAccessPeer", self._device, other))
            if is_reached:
                grant = cuda.CUmemAccessDesc()
                grant.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
                grant.location.id = int(other)
                grant.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                grants.append(grant)
        if grants:
            call("cuMemPoolSetAccess", self._pool, grants, len(grants))
        return reach_all

    def _describe(self) -> DeviceDescription:
        device = self._device
        free, _ = call("cuMemGetInfo")
        return DeviceDescription(
            name=self._chip.name,
            vendor="NVIDIA",
            memory_bytes=int(free),
            memory_bandwidth=self._chip.memory_bandwidth,
            core_count=self._chip.multiprocessors,
            clock_hz=self._chip.clock_hz,
            lanes=device_attribute(device, "WARP_SIZE"),
            caches=(CacheLevel(size_bytes=device_attribute(device, "L2_CACHE_SIZE"), line_bytes=128),),
            scratch_bytes=device_attribute(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        )

    @property
    def description(self) -> DeviceDescription:
        return self._description

    # -- memory ------------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int | None:
        pool, stream = self._pool, self._memory_stream
        with self._current():
            name = "cuMemAlloc" if pool is None else "cuMemAllocFromPoolAsync"
            made = invoke(name, size) if pool is None else invoke(name, size, pool, stream)
            if made[0] == cuda.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                return None
            address = int(self._check(name, made))
            self._in_use.append(1)
            if pool is not None:  # any stream may use the memory
                self._call("cuStreamSynchronize", stream)
            return address

    def free(self, address: int) -> None:
        try:
            if self.lost is None:  # otherwise the memory was freed with the context
                with self._current():
                    self._free(address)
        except XlaError:
            if self.lost is None:
                raise
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
            stream = self._call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
            self._streams.add(int(stream))
            return stream

    def close_stream(self, stream: Any) -> None:
        self._streams.discard(int(stream))
        if self.lost is None and not self._closed:
            with self._current():
                self._call("cuStreamDestroy", stream)

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
        module: CudaModule = function.handle.module
        with self._current():
            self._recent.append(function.name)
            if self._captures(stream):
                self._captured.append(module)
            else:
                module.streams.add(int(stream))
            self._allow(function, arguments.shared_bytes)
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

    def _allow(self, function: Function, shared_bytes: int) -> None:
        """Lets launches of a kernel ask for so much shared memory. By default, the driver allows for 48 KiB."""
        kernel: CudaFunction = function.handle
        if shared_bytes > kernel.shared_bytes:
            attribute = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", kernel.handle, attribute, shared_bytes, kernel=function.name)
            kernel.shared_bytes = shared_bytes

    def open_blas(self) -> CublasLt | None:
        with self._current():
            return open_library(self._cublas_library)

    def ask_blas(self, library: CublasLt, matmul: Matmul) -> int | None:
        with self._current():
            return super().ask_blas(library, matmul)

    def call_blas(self, stream: Any, library: CublasLt, matmul: Matmul, places: Places, name: str) -> None:
        with self._current():
            self._recent.append(name)
            try:
                library.multiply(matmul, places, int(stream))
            except XlaError:
                self._call("cuMemGetInfo")  # which fails if the context does, and says why
                raise

    # -- graphs ------------------------------------------------------------------------------------------------------

    def capture(self, work: Sequence[Step]) -> Any:
        """Returns a CudaGraph, or the steps themselves if CUDA doesn't capture what they enqueue."""
        with self._capturing, self._current():
            try:
                return self._capture(work)
            except XlaError:
                self.require_alive()
                return super().capture(work)
            finally:
                self._captured.clear()

    def _capture(self, work: Sequence[Step]) -> CudaGraph:
        for branch in {0, *(step.branch for step in work)} - self._capture_streams.keys():
            made = self._call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
            self._capture_streams = {**self._capture_streams, branch: made}
        streams = self._capture_streams
        stream, mode = streams[0], cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        self._call("cuStreamBeginCapture", stream, mode)  # finalizers that run here may free memory in this mode
        try:
            for step in work:
                step.enqueue(streams[step.branch])
        except BaseException:
            status, graph = cuda.cuStreamEndCapture(stream)
            if status == cuda.CUresult.CUDA_SUCCESS:
                cuda.cuGraphDestroy(graph)
            raise
        graph = self._call("cuStreamEndCapture", stream)
        try:
            made = self._call("cuGraphInstantiate", graph, 0)
            return self._handles.graph(made, self._recent, self._captured)
        finally:
            cuda.cuGraphDestroy(graph)

    def launch_graph(self, stream: Any, graph: Any) -> None:
        if not isinstance(graph, CudaGraph):
            super().launch_graph(stream, graph)
            return
        with self._current():
            self._recent.extend(graph.names)
            for module in graph.modules:
                module.streams.add(int(stream))
            self._call("cuGraphLaunch", graph.handle, stream)

    def seconds(self, work: Sequence[Callable[[Any], None]]) -> float:
        """Measures graphs of the work, so that the time in which the host enqueues it doesn't count."""
        with self._current():
            stream = self._call("cuStreamCreate", cuda.CUstream_flags.CU_STREAM_NON_BLOCKING)
            try:
                for enqueue in work:  # loads the code, which a capture must not do
                    enqueue(stream)
                return seconds_of_one(functools.partial(self._repeated, stream, work))
            finally:
                self._call("cuStreamSynchronize", stream)
                self._call("cuStreamDestroy", stream)

    def _repeated(self, stream: Any, work: Sequence[Callable[[Any], None]], times: int) -> Callable[[], float]:
        graph = self.capture([Step(enqueue) for enqueue in work] * times)

        def measure() -> float:
            start = self._record(stream, timing=True)
            self.launch_graph(stream, graph)
            end = self._record(stream, timing=True)
            self._reached(end, float("inf"))
            return 1e-3 * float(self._call("cuEventElapsedTime", start.handle, end.handle))

        return measure

    # -- code --------------------------------------------------------------------------------------------------------

    def load(self, ptx: str, engine: Engine, cubin: bytes = b"") -> Mapping[str, Function]:
        processor = processor_of_ptx(ptx)
        with self._current():
            module = None
            if cubin and processor_number(processor) == processor_number(self._chip.processor):
                with contextlib.suppress(XlaError):  # a driver that is older than ptxas can compile the PTX still
                    module = load_module(cubin, self._call)
            if module is None:
                try:
                    module = load_module(ptx.encode(), self._call)
                except XlaError as error:
                    which = f"the PTX is for {processor}, and {self._chip.name} is {self._chip.processor}"
                    error.hint = "; ".join(filter(None, [which, error.hint]))
                    raise
            names = entry_names(ptx)
            owner = self._handles.module(module)
            found = {n: self._call("cuModuleGetFunction", module, n.encode(), kernel=n) for n in names}
            return {n: Function(n, CudaFunction(handle, owner)) for n, handle in found.items()}

    def close(self) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        with contextlib.suppress(XlaError), self._current():
            self.close_blas()
            self._free_chunks()
            self._handles.close(self._call)
            for stream in self._capture_streams.values():
                self._call("cuStreamDestroy", stream)
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
