"""Calls of CUDA's driver (cuda-bindings), the devices that it finds, and objects that own one of its handles."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from xla_backend_gpu.statuses import status_error
from xla_core.errors import UnimplementedError, XlaError

CHUNK_BYTES = 4 << 20
"""The size of a `PinnedChunk`."""


def check(call: str, result: tuple[Any, ...], *, kernel: str = "", recent: tuple[str, ...] = ()) -> Any:
    """Checks the status that a driver function returned, and returns the other result.

    Raises:
        XlaError: the function failed. The error names the function and the kernel.
    """
    status, *values = result
    if status != cuda.CUresult.CUDA_SUCCESS:
        _, text = cuda.cuGetErrorString(status)
        explained = text.decode() if isinstance(text, bytes) else str(text)
        raise status_error(call, status.name, explained, kernel=kernel, recent=recent)
    return values[0] if len(values) == 1 else tuple(values)


def invoke(name: str, *arguments: Any) -> tuple[Any, ...]:
    """Calls a function of the driver; returns its status and its results.

    Raises:
        UnimplementedError: the driver lacks the function.
    """
    try:
        result: tuple[Any, ...] = getattr(cuda, name)(*arguments)
    except RuntimeError as error:
        raise UnimplementedError(
            f"NVIDIA's driver has no {name}: {error}", hint="install a newer NVIDIA driver, or an older cuda-bindings"
        ) from error
    return result


def call(name: str, *arguments: Any, kernel: str = "", recent: tuple[str, ...] = ()) -> Any:
    """Calls a function of the driver; see `check`."""
    return check(name, invoke(name, *arguments), kernel=kernel, recent=recent)


@functools.cache
def initialize() -> None:
    """Starts the driver, once a process."""
    call("cuInit", 0)


def count_devices() -> int:
    """Returns the number of GPUs, which is 0 where the driver can't be used."""
    try:
        initialize()
        return int(call("cuDeviceGetCount"))
    except XlaError:
        return 0


def device_attribute(device: Any, name: str) -> int:
    """Returns the attribute CU_DEVICE_ATTRIBUTE_`name` of a device."""
    attribute = getattr(cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(call("cuDeviceGetAttribute", attribute, device))


def create_pool(device: Any) -> Any:
    """Creates a pool of the device's memory."""
    properties = cuda.CUmemPoolProps()
    properties.allocType = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = int(device)
    return call("cuMemPoolCreate", properties)


def processor_of(ordinal: int) -> str:
    """Returns LLVM's name of a device's processor."""
    initialize()
    device = call("cuDeviceGet", ordinal)
    major, minor = (device_attribute(device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    return f"sm_{major}{minor}"


class CudaEvent:
    """An event of the driver. It is destroyed when its last reference is dropped."""

    __slots__ = ("handle",)

    def __init__(self) -> None:
        self.handle = call("cuEventCreate", cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():
            with contextlib.suppress(Exception):  # not made, or the driver is gone
                cuda.cuEventDestroy(self.handle)


class CudaGraph:
    """An executable graph, and the names of its last kernels. It is destroyed when its last reference is dropped."""

    __slots__ = ("handle", "names")

    def __init__(self, handle: Any, names: tuple[str, ...]) -> None:
        self.handle, self.names = handle, names

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():
            with contextlib.suppress(Exception):  # the driver is gone
                cuda.cuGraphExecDestroy(self.handle)


class PinnedChunk:
    """A piece of pinned host memory, with the event of the last copy that used it."""

    def __init__(self) -> None:
        self.address = int(call("cuMemHostAlloc", CHUNK_BYTES, cuda.CU_MEMHOSTALLOC_PORTABLE))
        self.view = np.frombuffer(memoryview((ctypes.c_uint8 * CHUNK_BYTES).from_address(self.address)), np.uint8)
        self.used: CudaEvent | None = None


def kernel_parameters(
    addresses: tuple[int, ...],
) -> tuple[ctypes.Array[ctypes.c_uint64], ctypes.Array[ctypes.c_void_p]]:
    """Returns the values of a kernel's parameters, and the array of pointers to them that cuLaunchKernel takes."""
    values = (ctypes.c_uint64 * len(addresses))(*addresses)
    base, size = ctypes.addressof(values), ctypes.sizeof(ctypes.c_uint64)
    pointers = (ctypes.c_void_p * len(addresses))(*(base + size * i for i in range(len(addresses))))
    return values, pointers
