"""Memory and copies."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import numpy as np
from xla_backend_gpu.emulator import Memory

from tests.backends.gpu.cuda_stub.state import (
    CAPTURE_UNSUPPORTED,
    MEMORY,
    OUT_OF_MEMORY,
    Device,
    Stream,
    current,
    device,
    devices,
    function,
    handles,
    host_memory,
    new,
    require,
    take,
)


@function(POINTER(c_size_t), POINTER(c_size_t))
def cuMemGetInfo(free, total):
    pools = [pool for pool in handles.values() if isinstance(pool, Pool) and pool.device is current()]
    used = sum(size for _, size in current().emulated.memory.blocks())
    free[0] = MEMORY - used - sum(pool.kept + sum(pool.freed.values()) for pool in pools)
    total[0] = MEMORY


def _allocate(address: Any, size: int) -> None:
    require(size)
    found = current().emulated.allocate(size)
    require(found is not None, OUT_OF_MEMORY)
    address[0] = found


@function(POINTER(c_uint64), c_size_t)
def cuMemAlloc(address, size):
    _allocate(address, size)


class Pool:
    """A pool of a device's memory.

    Attributes:
        sizes: the allocations, by address.
        freed: bytes whose release is enqueued, by the handle of the stream.
        kept: bytes that are free, and that the process keeps until the pool is trimmed.
    """

    def __init__(self, device: Device) -> None:
        self.device, self.kept = device, 0
        self.sizes, self.freed = dict[int, int](), dict[int, int]()


@function(POINTER(c_uint64), c_size_t, c_void_p, c_void_p)
def cuMemAllocFromPoolAsync(address, size, pool, stream):
    own = take(pool, Pool)
    require(take(stream, Stream).capture is None, CAPTURE_UNSUPPORTED)
    require(own.device is current())
    _allocate(address, size)
    own.sizes[address[0]] = size


@function(c_uint64)
def cuMemFree(address):
    current().emulated.free(address)


@function(c_uint64, c_void_p)
def cuMemFreeAsync(address, stream):
    """Frees the memory at once: a copy or a kernel that still uses it fails."""
    take(stream, Stream)
    pool = next((p for p in handles.values() if isinstance(p, Pool) and address in p.sizes), None)
    require(pool is not None)
    current().emulated.free(address)
    assert pool is not None
    pool.freed[stream] = pool.freed.get(stream, 0) + pool.sizes.pop(address)


@function(POINTER(c_void_p), POINTER(c_int * 4), context=False)
def cuMemPoolCreate(pool, properties):
    allocation, handle_types, location, number = properties[0]
    require((allocation, handle_types, location) == (1, 0, 1))  # memory of a device, which no other process opens
    pool[0] = new(Pool(device(number)))


@function(c_void_p, c_size_t, context=False)
def cuMemPoolTrimTo(pool, size):
    own = take(pool, Pool)
    own.kept = min(own.kept, size)


@function(c_void_p, context=False)
def cuMemPoolDestroy(pool):
    require(not take(pool, Pool).sizes)  # the driver would wait for their release
    del handles[pool]


@function(POINTER(c_void_p), c_size_t, c_uint)
def cuMemHostAlloc(address, size, flags):
    require(size and not flags & ~7)
    memory = (ctypes.c_uint8 * size)()
    host_memory[ctypes.addressof(memory)] = memory
    address[0] = ctypes.addressof(memory)


@function(c_void_p)
def cuMemFreeHost(address):
    require(host_memory.pop(address, None) is not None)


def _pinned(address: int, size: int) -> Any:
    """Returns pinned memory, which asynchronous copies need."""
    start = next((s for s, m in host_memory.items() if s <= address and address + size <= s + len(m)), None)
    require(start is not None)
    return np.frombuffer(host_memory[start], np.uint8)[address - start : address - start + size]


@function(c_uint64, c_void_p, c_size_t, c_void_p)
def cuMemcpyHtoDAsync(target, source, size, stream):
    own, data = take(stream, Stream), _pinned(source, size)
    memory = own.device.emulated.memory
    memory.view(target, size)
    own.enqueue(lambda queue: own.device.emulated.later(queue, lambda: memory.write(target, data), "HtoD"))


@function(c_void_p, c_uint64, c_size_t, c_void_p)
def cuMemcpyDtoHAsync(target, source, size, stream):
    own, data = take(stream, Stream), _pinned(target, size)
    memory = own.device.emulated.memory
    memory.view(source, size)

    def copy() -> None:
        data[...] = memory.view(source, size)

    own.enqueue(lambda queue: own.device.emulated.later(queue, copy, "DtoH"))


@function(c_uint64, c_uint64, c_size_t, c_void_p)
def cuMemcpyDtoDAsync(target, source, size, stream):
    """Addresses say which device has the memory; another device's must be accessible."""
    own = take(stream, Stream)
    to, at = (owner(own.device, address) for address in (target, source))
    to.view(target, size)
    at.view(source, size)
    own.enqueue(lambda queue: own.device.emulated.later(queue, lambda: to.write(target, at.view(source, size)), "D"))


def owner(mine: Device, address: int) -> Memory:
    """Returns the memory that has an address, which a device can access."""
    found = next((d for d in devices if d.emulated.memory.base <= address < d.emulated.memory.base + MEMORY), None)
    require(found is not None and (found is mine or mine.ordinal in found.peers))
    assert found is not None
    return found.emulated.memory


class AccessDescription(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("type", c_int), ("device", c_int), ("flags", c_int))


@function(c_void_p, POINTER(AccessDescription), c_size_t, context=False)
def cuMemPoolSetAccess(pool, grants, count):
    own = take(pool, Pool).device
    for grant in grants[:count]:
        require(grant.type == 1 and grant.flags == 3)  # a device, to read and write
        own.peers.add(device(grant.device).ordinal)


@function(c_uint64, ctypes.c_ubyte, c_size_t, c_void_p)
def cuMemsetD8Async(target, value, size, stream):
    own = take(stream, Stream)
    own.device.emulated.memory.view(target, size)
    own.enqueue(lambda queue: own.device.emulated.fill(queue, target, value, size))
