"""The native functions on pools of buffers: see `buffer_pool`."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

from xla_core.pjrt.native import NativeCode, libc
from xla_core.pjrt.native_text import pool_word, set_slot, slot

UPLOADS = 256
"""The size of the table of pools into which native code copies the host's arrays, by a hash of type and sizes."""

HASH_FACTOR = 31


_FUNCTIONS = f"""
; Takes a handle from a pool's free list, or returns null. The caller has the mutex.
define ptr @pop(ptr %pool) {{
{pool_word("first", "first_free", "ptr")}
  %empty = icmp eq ptr %first, null
  br i1 %empty, label %done, label %take
take:
{slot("next", "first", "next_free", "ptr")}
  store ptr %next, ptr %first_at
{pool_word("free", "free")}
  %less = sub i64 %free, 1
  store i64 %less, ptr %free_at
{slot("memory", "first", "memory_address")}
{set_slot("first", "data", "%memory")}
  br label %done
done:
  ret ptr %first
}}

; Puts a handle in its pool's free list. The caller has the mutex.
define void @push(ptr %handle) {{
{set_slot("handle", "data", "0")}
{set_slot("handle", "is_deleted", "0")}
{slot("pool", "handle", "pool", "ptr")}
{pool_word("first", "first_free", "ptr")}
{set_slot("handle", "next_free", "%first", "ptr")}
  store ptr %handle, ptr %first_at
{pool_word("free", "free")}
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
{pool_word("first", "first_free", "ptr")}
  store ptr null, ptr %first_at
{pool_word("free", "free")}
  store i64 0, ptr %free_at
  call void @unlock()
  ret ptr %first
}}

; Ends native reads of a buffer. Returns its external references, of which Python has to take care from now on.
define i64 @withdraw(ptr %handle) {{
  call void @lock()
{set_slot("handle", "data", "0")}
{slot("holds", "handle", "holds")}
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


def _code() -> str:
    lock, unlock = (
        ctypes.cast(getattr(libc, f"pthread_mutex_{do}"), ctypes.c_void_p).value for do in ("lock", "unlock")
    )
    return f"""
@mutex = global [16 x i64] zeroinitializer, align 64
@enabled = global i64 1
@uploads = global [{UPLOADS} x ptr] zeroinitializer

define void @lock() {{
  call i32 inttoptr (i64 {lock} to ptr)(ptr @mutex)
  ret void
}}
define void @unlock() {{
  call i32 inttoptr (i64 {unlock} to ptr)(ptr @mutex)
  ret void
}}
{_FUNCTIONS}"""


class PoolCode(NativeCode):
    """The native functions on pools. Python calls them without giving up the GIL, because they are short."""

    def __init__(self) -> None:
        super().__init__(_code())
        self._is_forked = False
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
        self._is_forked = True
        self._reset()
        self.enable(False)

    def enable(self, on: bool) -> None:
        """Lets native code run programs and copy values, or leaves that to Python."""
        self.set(self.address("enabled"), on and not self._is_forked)


@functools.cache
def code() -> PoolCode:
    return PoolCode()
