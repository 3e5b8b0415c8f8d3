"""Presents the host as a device: aligned host memory, and streams that run on host threads."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
import threading

from xla_backend_cpu.caches import processor_caches
from xla_backend_cpu.host import host_cpu
from xla_core.backend import DeviceFeatures, DeviceMemory, Stream, StreamExecutor
from xla_core.runtime import HostStream
from xla_core.target import DeviceDescription

ALIGNMENT = 64
_PAGE = 1 << 21  # large allocations are aligned to huge pages
_HUGE_PAGES: int | None = getattr(mmap, "MADV_HUGEPAGE", None)  # Linux has it
_DLPACK_CPU = 1


@functools.cache
def worker_threads() -> int:
    """The number of processors that the affinity mask allows at the first call, as a rule when a device is opened.

    A thread that changes its mask later compiles for as many as before.
    """
    return allowed_processors()


def allowed_processors() -> int:
    """The number of processors that the calling thread may use now."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe_host(cpu: str, kind: str = "") -> DeviceDescription:
    """Describes the host; `cpu` is LLVM's name of its processor, `kind` its architecture."""
    return DeviceDescription(
        name=f"{kind or platform.machine()} {cpu}",
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        core_count=worker_threads(),
        caches=processor_caches(cpu),
    )


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.posix_memalign.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.free.restype = None
    return libc


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


class CpuExecutor(StreamExecutor):
    """One device: the host, or one of several virtual devices that share it. A memory's handle is its address."""

    features = DeviceFeatures(memory_slices=True, host_addressable=True, peer_copies=True, callbacks_may_enqueue=True)
    dlpack_device_type = _DLPACK_CPU

    def __init__(self, ordinal: int, description: DeviceDescription | None = None) -> None:
        super().__init__(ordinal)
        self._description = description or describe_host(host_cpu())
        self._free_bytes = self._description.memory_bytes
        self._lock = threading.Lock()

    @property
    def description(self) -> DeviceDescription:
        """The host's processor and memory."""
        return self._description

    def allocate(self, size: int, memory_space: int = 0) -> DeviceMemory | None:
        """Allocates aligned host memory. Returns None for more memory than the host has, though the system would grant
        it.
        """
        padded = _padded(size)
        with self._lock:
            if padded > self._free_bytes:
                return None
            self._free_bytes -= padded
        address = ctypes.c_void_p()
        is_large = padded >= 2 * _PAGE
        if _libc().posix_memalign(ctypes.byref(address), _PAGE if is_large else ALIGNMENT, padded) or not address.value:
            with self._lock:
                self._free_bytes += padded
            return None
        if is_large and _HUGE_PAGES is not None:
            _libc().madvise(address, padded, _HUGE_PAGES)  # an advice: the system may refuse it
        return DeviceMemory(address.value, size, memory_space=memory_space)

    def deallocate(self, memory: DeviceMemory) -> None:
        _libc().free(memory.handle)
        with self._lock:
            self._free_bytes += _padded(memory.size)

    def create_stream(self) -> Stream:
        return HostStream(self)

    def host_view(self, memory: DeviceMemory) -> memoryview:
        return memoryview((ctypes.c_char * memory.size).from_address(memory.handle + memory.offset)).cast("B")

    def wrap_memory(self, address: int, size: int) -> DeviceMemory:
        return DeviceMemory(address, size)

    def address(self, memory: DeviceMemory) -> int:
        address: int = memory.handle + memory.offset
        return address
