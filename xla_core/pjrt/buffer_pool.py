"""Pools of buffers' handles that native code gives to hosts and takes back without Python.

A pool belongs to one device and one shape, and the slots of every buffer of that device and shape point to it. The
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

import ctypes
import functools
import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xla_core.backend.device_memory import DeviceMemory
from xla_core.hlo.shape import Shape
from xla_core.pjrt.handles import SLOTS, Handle, Slots, native_handles
from xla_core.pjrt.native import NativeCode, libc
from xla_core.runtime import Buffer
from xla_core.runtime.host_event import ready_event

if TYPE_CHECKING:
    from xla_core.pjrt.client import PjrtDevice

POOL = {name: index for index, name in enumerate(("first_free", "free", "most_free", "description", "bytes"))}
"""The words of a pool: the head and the length of its free list and the length from which Python frees what comes back,
the slots that all its buffers have in common, and the bytes of an array (0 for layouts other than row-major)."""

_POOLED_BYTES = 16 << 20  # a pool keeps this much in its free list at most, or `_FEW` handles
_FEW = 4
_MOST_ADDED = 64


def slot(result: str, handle: str, name: str) -> str:
    """IR that computes the address of a buffer's slot."""
    return f"%{result} = getelementptr i64, ptr %{handle}, i64 {SLOTS['Buffer'][name]}"


def word(result: str, pool: str, name: str) -> str:
    """IR that computes the address of a pool's word."""
    return f"%{result} = getelementptr i64, ptr %{pool}, i64 {POOL[name]}"


def _code() -> str:
    lock, unlock = (
        ctypes.cast(getattr(libc, f"pthread_mutex_{do}"), ctypes.c_void_p).value for do in ("lock", "unlock")
    )
    return f"""
@mutex = global [16 x i64] zeroinitializer, align 64
@enabled = global i64 1

define void @lock() {{
  call i32 inttoptr (i64 {lock} to ptr)(ptr @mutex)
  ret void
}}
define void @unlock() {{
  call i32 inttoptr (i64 {unlock} to ptr)(ptr @mutex)
  ret void
}}

; Takes a handle from a pool's free list, or returns null. The caller has the mutex.
define ptr @pop(ptr %pool) {{
  {word("first_at", "pool", "first_free")}
  %handle = load ptr, ptr %first_at
  %empty = icmp eq ptr %handle, null
  br i1 %empty, label %done, label %take
take:
  {slot("next_at", "handle", "next_free")}
  %next = load ptr, ptr %next_at
  store ptr %next, ptr %first_at
  {word("free_at", "pool", "free")}
  %free = load i64, ptr %free_at
  %less = sub i64 %free, 1
  store i64 %less, ptr %free_at
  {slot("memory_at", "handle", "memory_address")}
  %memory = load i64, ptr %memory_at
  {slot("data_at", "handle", "data")}
  store i64 %memory, ptr %data_at
  br label %done
done:
  ret ptr %handle
}}

; Puts a handle in its pool's free list. The caller has the mutex.
define void @push(ptr %handle) {{
  {slot("data_at", "handle", "data")}
  store i64 0, ptr %data_at
  {slot("pool_at", "handle", "pool")}
  %pool = load ptr, ptr %pool_at
  {word("first_at", "pool", "first_free")}
  %first = load ptr, ptr %first_at
  {slot("next_at", "handle", "next_free")}
  store ptr %first, ptr %next_at
  store ptr %handle, ptr %first_at
  {word("free_at", "pool", "free")}
  %free = load i64, ptr %free_at
  %more = add i64 %free, 1
  store i64 %more, ptr %free_at
  ret void
}}

define void @add(ptr %handle) {{
  call void @lock()
  call void @push(ptr %handle)
  call void @unlock()
  ret void
}}

; Empties a free list and returns its first handle, from which `next_free` leads to the others.
define ptr @take_all(ptr %pool) {{
  call void @lock()
  {word("first_at", "pool", "first_free")}
  %first = load ptr, ptr %first_at
  store ptr null, ptr %first_at
  {word("free_at", "pool", "free")}
  store i64 0, ptr %free_at
  call void @unlock()
  ret ptr %first
}}

; Ends native reads of a buffer. Returns its external references, of which Python has to take care from now on.
define i64 @withdraw(ptr %handle) {{
  call void @lock()
  {slot("data_at", "handle", "data")}
  store i64 0, ptr %data_at
  {slot("holds_at", "handle", "holds")}
  %holds = load i64, ptr %holds_at
  store i64 0, ptr %holds_at
  call void @unlock()
  ret i64 %holds
}}

; Sets a slot of a buffer or of an executable.
define void @set(ptr %place, i64 %value) {{
  call void @lock()
  store i64 %value, ptr %place
  call void @unlock()
  ret void
}}"""


class PoolCode(NativeCode):
    """The native functions on pools. Python calls them without giving up the GIL, because they are short."""

    def __init__(self) -> None:
        super().__init__(_code())
        self._reset()
        os.register_at_fork(after_in_child=self._after_fork)
        self.add = self._function("add", None)
        self.take_all = self._function("take_all", ctypes.c_void_p)
        self.withdraw = self._function("withdraw", ctypes.c_int64)
        self.set: Callable[[int, int], None] = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(
            self.address("set")
        )

    def _function(self, name: str, result: Any) -> Callable[[int], Any]:
        return ctypes.PYFUNCTYPE(result, ctypes.c_void_p)(self.address(name))

    def _reset(self) -> None:
        libc.pthread_mutex_init(ctypes.c_void_p(self.address("mutex")), None)

    def _after_fork(self) -> None:
        """Leaves everything to Python in a child process, which says that devices stay in the parent."""
        ctypes.c_int64.from_address(self.address("enabled")).value = 0
        self._reset()


@functools.cache
def code() -> PoolCode:
    return PoolCode()


class NativeBuffer:
    """A handle that native code gives to hosts, with memory of the device's allocator."""

    def __init__(self, pool: BufferPool, device: PjrtDevice, memory: DeviceMemory) -> None:
        self.pool, self._device, self.memory = pool, device, memory
        common = pool.description.words
        address = libc.malloc(ctypes.sizeof(common))  # outlives the interpreter, as hosts call until the process ends
        if not address:
            raise MemoryError
        ctypes.memmove(address, common, ctypes.sizeof(common))
        self.address: int = address
        self.slots = pool.description.copy(type(common).from_address(address))
        self.slots.set(
            is_ready=True, is_native=True, pool=pool.address, memory_address=device.device.executor.address(memory) or 0
        )
        native_handles[address] = self
        code().add(address)

    def is_live(self) -> bool:
        return self.slots["data"] != 0

    def make_object(self) -> Handle:
        from xla_core.pjrt.buffer import PjrtBuffer  # which imports this module

        code().set(self.slots.address_of("is_native"), 0)
        made = PjrtBuffer(Buffer(self._device.device, self.memory, self.pool.shape, None), self._device, self.slots)
        weakref.finalize(made, libc.free, self.address).atexit = False
        return made


class BufferPool:
    """The handles of one device and shape.

    Args:
        description: the slots that are the same in all its buffers.
        array_bytes: the bytes of an array, or None where its layout is not row-major.

    Attributes:
        programs: the number of executables that have its address.
    """

    def __init__(self, device: PjrtDevice, shape: Shape, description: Slots, array_bytes: int | None) -> None:
        self.shape, self.description, self.programs = shape, description, 0
        self.bytes = self._memory_bytes = device.device.byte_size(shape)
        self._device = weakref.ref(device)
        self._space = shape.layout.memory_space if shape.layout is not None else 0
        self._added = 0
        self.words = (ctypes.c_uint64 * len(POOL))()
        self.address = ctypes.addressof(self.words)
        self._most_added = min(_MOST_ADDED, max(1, _POOLED_BYTES // max(1, self.bytes)))
        self.words[POOL["most_free"]] = max(_FEW, _POOLED_BYTES // max(1, self.bytes))
        self.words[POOL["description"]] = ctypes.addressof(description.words)
        self.words[POOL["bytes"]] = array_bytes or 0

    def refill(self) -> None:
        """Adds handles to an empty pool: as many as it got so far, so that a long loop needs Python rarely.

        It adds none while the device is at work, because that work may still use the allocator's free memory.
        """
        pjrt_device = self._device()
        if self.words[POOL["free"]] or pjrt_device is None:
            return
        device = pjrt_device.device
        memories: list[DeviceMemory] = []
        with device.lock:
            for _ in range(min(max(1, self._added), self._most_added)):
                memories.append(device.allocator.allocate(self.bytes, self._space))
            is_idle = device.compute_stream.finish() is ready_event()
        for memory in memories:
            if is_idle:
                NativeBuffer(self, pjrt_device, memory)
            else:
                device.allocator.free(memory)
        self._added += len(memories)
        self._memory_bytes = memories[0].size

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
        if (device := self._device()) is not None:
            for memory in self.take():
                device.device.allocator.free(memory)


_SHAPES = 4096


class BufferPools:
    """The pools of one device. Its allocator counts the memory in their free lists as pooled, and takes it at need."""

    def __init__(self) -> None:
        self._of_shapes: dict[int, BufferPool] = {}  # by id; the pool keeps the shape, so that no other gets its id
        self._all: weakref.WeakSet[BufferPool] = weakref.WeakSet()

    def find(self, shape: Shape) -> BufferPool | None:
        return self._of_shapes.get(id(shape))

    def add(self, pool: BufferPool) -> BufferPool:
        if len(self._of_shapes) >= _SHAPES:
            unused = [other for other in list(self._of_shapes.values()) if not other.programs]
            for other in unused:
                del self._of_shapes[id(other.shape)]
                other.close()
        self._all.add(pool)
        return self._of_shapes.setdefault(id(pool.shape), pool)

    def pooled_bytes(self) -> int:
        return sum(pool.pooled_bytes() for pool in list(self._all))

    def take(self) -> list[DeviceMemory]:
        return [memory for pool in list(self._all) for memory in pool.take()]
