"""Calls of CUDA's driver (cuda-bindings), and the devices that it finds."""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

from cuda.bindings import driver as cuda

from xla_backend_gpu.chips import Chip, chip_like
from xla_backend_gpu.statuses import FORK_RECOVERY, NO_GPU, status_error
from xla_core.errors import FailedPreconditionError, UnimplementedError

_HOST_BANDWIDTH = 250e9  # bytes a second of a host's memory, for chips that share it


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


def initialize() -> None:
    """Starts the driver, once a process.

    Raises:
        FailedPreconditionError: a process from which this one was forked has started it.
    """
    started, process = _start()
    check("cuInit", started)
    if process != os.getpid():
        raise FailedPreconditionError("CUDA was started before this process was forked", hint=FORK_RECOVERY)


@functools.cache
def _start() -> tuple[tuple[Any, ...], int]:
    """Starts the driver; returns the result and the number of the process."""
    return invoke("cuInit", 0), os.getpid()


def count_devices() -> int:
    """Returns the number of GPUs. It starts the driver, so that CUDA can't be used in later forks of the process.

    Raises:
        XlaError: the driver doesn't work.
    """
    started, _ = _start()
    if started[0].name in NO_GPU:
        return 0
    initialize()
    return int(call("cuDeviceGetCount"))


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


def chip_of(ordinal: int) -> Chip:
    """Returns the figures of a device, by the driver's attributes.

    Some drivers tell no rate of the clock or of the memory: then they are those of a chip with a like processor.
    """
    initialize()
    device = call("cuDeviceGet", ordinal)
    name: bytes = call("cuDeviceGetName", 256, device)
    major, minor = (device_attribute(device, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    processor = f"sm_{major}{minor}"
    like = chip_like(processor)
    bandwidth = _HOST_BANDWIDTH if device_attribute(device, "INTEGRATED") else like.memory_bandwidth
    lines = device_attribute(device, "GLOBAL_MEMORY_BUS_WIDTH")
    transfers = 2e3 * device_attribute(device, "MEMORY_CLOCK_RATE")  # of a line a second: two in a cycle
    return Chip(
        name=name.partition(b"\0")[0].decode(),
        processor=processor,
        multiprocessors=device_attribute(device, "MULTIPROCESSOR_COUNT"),
        threads=device_attribute(device, "MAX_THREADS_PER_MULTIPROCESSOR"),
        clock_hz=1e3 * device_attribute(device, "CLOCK_RATE") or like.clock_hz,
        memory_bandwidth=transfers * lines / 8 or bandwidth,
    )


def kernel_parameters(
    addresses: tuple[int, ...],
) -> tuple[ctypes.Array[ctypes.c_uint64], ctypes.Array[ctypes.c_void_p]]:
    """Returns the values of a kernel's parameters, and the array of pointers to them that cuLaunchKernel takes."""
    values = (ctypes.c_uint64 * len(addresses))(*addresses)
    base, size = ctypes.addressof(values), ctypes.sizeof(ctypes.c_uint64)
    pointers = (ctypes.c_void_p * len(addresses))(*(base + size * i for i in range(len(addresses))))
    return values, pointers
