"""Pools of buffers' handles that native code gives to hosts and takes back without Python.

A pool belongs to one memory and one shape, and the slots of every buffer of that memory and shape point to it. The
handles in its free list own memory from the device's allocator. Native code (`warm_path`) takes a handle from the list
for a result, and puts it back where the host destroys it. Where the list is empty, Python adds handles (`refill`).
Where Python needs a handle that native code gave to a host, it makes an object for it, which owns the memory from then
on.

All native code here and in `warm_path` runs under one mutex, which is held for some nanoseconds and never while
something else is awaited. The slots of a buffer that it guards:

    data            where the value is if native code may read it: it is computed, and the host can address it; else 0
    users           the number of native reads in progress, which Python awaits before it frees or overwrites the memory
    holds           the number of a host's external references that Python doesn't know
    is_native       1 if the buffer has no Python object
    memory_address  its memory, for a native one
    next_free       the next handle of the free list
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from xla_core.backend.device_memory import DeviceMemory
from xla_core.backend.stream_executor import Allocator
from xla_core.errors import ResourceExhaustedError
from xla_core.hlo.values.shape import Shape
from xla_core.pjrt import abi
from xla_core.pjrt.handles import Handle, Slots, keep_for_ever, native_handles
from xla_core.pjrt.native import libc
from xla_core.pjrt.native_text import POOL
from xla_core.pjrt.pool_code import HASH_FACTOR, UPLOADS, code
from xla_core.runtime import Buffer, Device
from xla_core.runtime.host.event import ready_event
from xla_core.runtime.memory.memory_stats import MemoryHolder
from xla_core.runtime.shape_cache import row_major_bytes

_POOLED_BYTES = 16 << 20  # a pool keeps this much in its free list at most, or `_FEW` handles
_FEW = 4
_MOST_ADDED = 64


def strides_of(shape: Shape, minor_to_major: Sequence[int] | None = None) -> tuple[int, ...]:
    """Returns the strides in bytes of a dense array: row-major, or of another order of dimensions."""
    strides, stride = [0] * shape.rank, shape.dtype.itemsize
    for dimension in range(shape.rank)[::-1] if minor_to_major is None else minor_to_major:
        strides[dimension] = stride
        stride *= shape.dimensions[dimension]
    return tuple(strides)


class Place(Protocol):
    """A memory whose buffers are pooled."""

    is_host_addressable: bool

    @property
    def storage(self) -> Device:
        """The device of the runtime that has the memory."""


MakeHandle = Callable[[Buffer, Any, Slots], Handle]
"""(buffer, its memory, its slots) -> the object of a buffer that native code made."""


class NativeBuffer(MemoryHolder):
    """A handle that native code gives to hosts, with memory of the device's allocator."""

    def __init__(self, pool: BufferPool, place: Place, memory: DeviceMemory) -> None:
        self.pool, self._place, self.memory = pool, place, memory
        common = pool.description.words
        address = libc.malloc(ctypes.sizeof(common))  # outlives the interpreter, as hosts call until the process ends
        if not address:
            raise MemoryError
        ctypes.memmove(address, common, ctypes.sizeof(common))
        self.address: int = address
        self.slots = pool.description.copy(type(common).from_address(address))
        self.slots.set(
            is_ready=True, is_native=True, pool=pool.address, memory_address=place.storage.executor.address(memory) or 0
        )
        native_handles[address] = self
        code().add(address)

    def is_live(self) -> bool:
        return bool(self.slots["data"] or self.slots["is_deleted"])

    def held(self, allocator: Allocator) -> tuple[int, str] | None:
        if not self.is_live() or self._place.storage.allocator is not allocator:
            return None
        return self.pool.bytes, str(self.pool.shape.without_layout())

    def make_object(self) -> Handle:
        code().set(self.slots.address_of("is_native"), 0)
        made = self.pool.make_handle(
            Buffer(self._place.storage, self.memory, self.pool.shape, None), self._place, self.slots
        )
        weakref.finalize(made, libc.free, self.address).atexit = False
        return made


class BufferPool:
    """The handles of one memory and shape.

    Args:
        description: the slots that are the same in all its buffers.
        make_handle: makes the object of a buffer where Python needs one.

    Attributes:
        owners: the number of owners of its address besides its handles.
        takes_uploads: whether native code copies the host's arrays to its memory.
    """

    def __init__(self, place: Place, shape: Shape, description: Slots, make_handle: MakeHandle) -> None:
        self.shape, self.description, self.owners = shape, description, 0
        self.takes_uploads = False
        self.make_handle = make_handle
        self.bytes = self._memory_bytes = place.storage.byte_size(shape)
        self._place = weakref.ref(place)
        self.is_host_addressable = place.is_host_addressable
        self._space = shape.layout.memory_space if shape.layout is not None else 0
        self._asked = self._added = 0
        self.array_bytes = row_major_bytes(shape)
        self._strides = abi.int64s(strides_of(shape))
        self.words = (ctypes.c_uint64 * len(POOL))()
        self.address: int = ctypes.addressof(self.words)
        self._most_added = min(_MOST_ADDED, max(1, _POOLED_BYTES // max(1, self.bytes)))
        self.words[POOL["most_free"]] = max(_FEW, _POOLED_BYTES // max(1, self.bytes))
        self.words[POOL["description"]] = ctypes.addressof(description.words)
        self.words[POOL["bytes"]] = self.array_bytes or 0
        self.words[POOL["strides"]] = abi.address_of(self._strides)

    def refill(self, needed: int = 1) -> bool:
        """Adds handles to a pool that has fewer than `needed`: as many as it got so far, so that a long loop rarely
        needs Python.

        It adds none the first time, because many programs run once. It adds none while the device is at work, because
        that work may still use the allocator's free memory; it returns False then.
        """
        place = self._place()
        self._asked += 1
        missing = needed - int(self.words[POOL["free"]])
        if self._asked == 1 or missing <= 0 or place is None:
            return True
        device = place.storage
        memories: list[DeviceMemory] = []
        with device.lock:
            with contextlib.suppress(ResourceExhaustedError):  # without more memory, Python goes on as before
                for _ in range(max(missing, min(self._added, self._most_added))):
                    memories.append(device.allocator.allocate(self.bytes, self._space))
            is_idle = device.compute_stream.finish() is ready_event()
        for memory in memories:
            if is_idle:
                NativeBuffer(self, place, memory)
            else:
                device.allocator.free(memory)
            self._memory_bytes = memory.size
        self._added += len(memories)
        return is_idle

    def take(self) -> list[DeviceMemory]:
        """Removes the handles of the free list, and returns their memory."""
        memories = []
        address = code().take_all(self.address)
        while address:
            handle: Any = native_handles.pop(address)
            memories.append(handle.memory)
            following = handle.slots["next_free"]
            libc.free(address)
            address = following
        return memories

    def pooled_bytes(self) -> int:
        return int(self.words[POOL["free"]]) * self._memory_bytes

    def close(self) -> None:
        """Returns the memory of the free list to the allocator, now and whenever a handle comes back."""
        self.words[POOL["most_free"]] = 0
        if (place := self._place()) is not None:
            for memory in self.take():
                place.storage.allocator.free(memory)


_SHAPES = 4096


class BufferPools:
    """The pools of one memory. Its allocator counts the memory in their free lists as pooled, and takes it back when it
    needs memory.
    """

    def __init__(self) -> None:
        # By id. A pool keeps its shape alive, so that no other shape gets the id.
        self._of_shapes: dict[int, BufferPool] = {}
        self._all: weakref.WeakSet[BufferPool] = weakref.WeakSet()

    def find(self, shape: Shape) -> BufferPool | None:
        return self._of_shapes.get(id(shape))

    def add(self, pool: BufferPool) -> BufferPool:
        if len(self._of_shapes) >= _SHAPES:
            unused = [other for other in list(self._of_shapes.values()) if not other.owners]
            for other in unused:
                del self._of_shapes[id(other.shape)]
                other.close()
        self._all.add(pool)
        return self._of_shapes.setdefault(id(pool.shape), pool)

    def pooled_bytes(self) -> int:
        return sum(pool.pooled_bytes() for pool in list(self._all))

    def close(self) -> None:
        pools = list(self._all)
        _forget_uploads(pools)
        for pool in pools:
            pool.close()

    def take(self) -> list[DeviceMemory]:
        return [memory for pool in list(self._all) for memory in pool.take()]


_UPLOADED_BYTES = 1 << 16  # Python handles larger arrays, because it can use an immutable array's own memory
_uploads: dict[int, BufferPool] = keep_for_ever({})


def use_for_uploads(pool: BufferPool) -> None:
    """Lets native code copy the host's arrays of the pool's shape to its memory, if they are small."""
    if not pool.array_bytes or pool.array_bytes > _UPLOADED_BYTES or not pool.is_host_addressable:
        return
    number = pool.description["type"]
    for size in pool.shape.dimensions:
        number = (number * HASH_FACTOR + size) % (1 << 64)
    number %= UPLOADS
    if (before := _uploads.get(number)) is not pool:
        _set_upload(number, pool)
        if before is not None:
            before.owners -= 1
    pool.takes_uploads = True
    pool.refill()


def _set_upload(number: int, pool: BufferPool | None) -> None:
    code().set(code().address("uploads") + 8 * number, pool.address if pool is not None else 0)
    if pool is None:
        del _uploads[number]
    else:
        pool.owners += 1
        _uploads[number] = pool


def _forget_uploads(pools: Iterable[BufferPool]) -> None:
    gone = set(pools)
    for number, pool in list(_uploads.items()):
        if pool in gone:
            _set_upload(number, None)
