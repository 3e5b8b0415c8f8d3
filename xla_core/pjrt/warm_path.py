"""The calls that a host makes all the time, as native functions: Execute and the life of its results.

Each function handles the usual case, and leaves every other one to the Python function of the same name: values that
are still being computed, buffers that Python has an object for, free lists that are empty, errors. `buffer_pool` says
what native code knows of a buffer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from xla_core import profiler
from xla_core.backend.native_entry import NativeEntry
from xla_core.pjrt import abi
from xla_core.pjrt.buffer_pool import BufferPool, code, slot, word
from xla_core.pjrt.handles import SLOTS
from xla_core.pjrt.native import NativeCode
from xla_core.pjrt.ready_events import READY_EVENT
from xla_core.runtime import INLINE_MICROSECONDS

FUNCTIONS = (
    "LoadedExecutable_Execute",
    "Buffer_Destroy",
    "Buffer_IncreaseExternalReferenceCount",
    "Buffer_DecreaseExternalReferenceCount",
    "Buffer_OpaqueDeviceMemoryDataPointer",
    "Buffer_UnsafePointer",
)

_PROGRAM_WORDS = (
    "entry device table table_words parameters parameter_pools parameter_slots results taken taken_pools taken_slots"
)
PROGRAM = {name: index for index, name in enumerate(_PROGRAM_WORDS.split())}
"""The words of a native program: the fields of its NativeEntry, and for each argument and each block of memory that a
call takes (results, then temporaries) its pool and its entry in the table."""

_MOST_WORDS = 2048  # the longest table that a call makes on the stack


class NativeProgram:
    """What native code needs to run an executable.

    Args:
        parameters, taken: the pools of the arguments, and of the results and then temporaries.
    """

    def __init__(
        self, entry: NativeEntry, device: int, parameters: Sequence[BufferPool], taken: Sequence[BufferPool]
    ) -> None:
        self.taken = tuple(dict.fromkeys(taken))
        self._pools = [*parameters, *taken]
        for pool in self._pools:
            pool.programs += 1
        slots = [*entry.results, *(number for number, _ in entry.temporaries)]
        self._arrays = {
            "table": abi.pointers(entry.table),
            "parameter_pools": abi.pointers(pool.address for pool in parameters),
            "parameter_slots": abi.int64s(entry.parameters),
            "taken_pools": abi.pointers(pool.address for pool in taken),
            "taken_slots": abi.int64s(slots),
        }
        self._words = (ctypes.c_uint64 * len(PROGRAM))()
        self.address = ctypes.addressof(self._words)
        numbers = {
            "entry": entry.address,
            "device": device,
            "table_words": len(entry.table),
            "parameters": len(parameters),
            "results": len(entry.results),
            "taken": len(slots),
        }
        for name, value in (numbers | {name: abi.address_of(array) for name, array in self._arrays.items()}).items():
            self._words[PROGRAM[name]] = value

    def refill(self) -> None:
        for pool in self.taken:
            pool.refill()

    def close(self) -> None:
        for pool in self._pools:
            pool.programs -= 1


def is_suitable(entry: NativeEntry) -> bool:
    """Whether a program is so short that callers run it, and has a table that fits on the stack."""
    return entry.microseconds <= INLINE_MICROSECONDS and len(entry.table) <= _MOST_WORDS


def compile_functions(entries: NativeCode) -> NativeCode:
    """Compiles FUNCTIONS. `entries` has the Python functions of the same names."""
    pools = code()

    def switch(active: object) -> None:
        code().set(pools.address("enabled"), active is None)  # a profiler sees what Python does

    profiler.listeners.append(switch)
    bodies = {
        "LoadedExecutable_Execute": _execute,
        "Buffer_Destroy": _destroy,
        "Buffer_IncreaseExternalReferenceCount": _increase,
        "Buffer_DecreaseExternalReferenceCount": _decrease,
        "Buffer_OpaqueDeviceMemoryDataPointer": _pointer,
        "Buffer_UnsafePointer": _pointer,
    }
    texts = [
        _DECLARATIONS.format(**{name: pools.address(name) for name in ("enabled", "lock", "unlock", "pop", "push")})
    ]
    for name, body in bodies.items():
        struct = abi.STRUCTS[f"{name}_Args"]
        handle = getattr(struct, abi.FIELDS[f"{name}_Args"][2]).offset
        texts.append(f"""
define ptr @{name}(ptr %args) {{
  %size = load i64, ptr %args
  %is_new = icmp uge i64 %size, {struct.full_size}
  %handle_at = getelementptr i8, ptr %args, i64 {handle}
  %handle = load ptr, ptr %handle_at
  %exists = icmp ne ptr %handle, null
  %fits = and i1 %is_new, %exists
  br i1 %fits, label %usual, label %python
usual:
{body(struct)}
python:
  %error = call ptr inttoptr (i64 {entries.address(name)} to ptr)(ptr %args)
  ret ptr %error
}}""")
    return NativeCode("\n".join(texts), (entries, pools))


_DECLARATIONS = """
define i64 @is_enabled() {{
  %enabled = load i64, ptr inttoptr (i64 {enabled} to ptr)
  ret i64 %enabled
}}
define void @lock() {{
  call void inttoptr (i64 {lock} to ptr)()
  ret void
}}
define void @unlock() {{
  call void inttoptr (i64 {unlock} to ptr)()
  ret void
}}
define ptr @pop(ptr %pool) {{
  %handle = call ptr inttoptr (i64 {pop} to ptr)(ptr %pool)
  ret ptr %handle
}}
define void @push(ptr %handle) {{
  call void inttoptr (i64 {push} to ptr)(ptr %handle)
  ret void
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""


def _loop(name: str, count: str, body: str, start: str = "0") -> str:
    """IR that runs `body` for `%NAME` from `start` to `count`, and goes on at the label NAME_done.

    A body may leave the loop by a branch, and ends without one.
    """
    return f"""
  store i64 {start}, ptr %{name}_at
  br label %{name}_test
{name}_test:
  %{name} = load i64, ptr %{name}_at
  %{name}_left = icmp ult i64 %{name}, {count}
  br i1 %{name}_left, label %{name}_body, label %{name}_done
{name}_body:
{body}
  br label %{name}_next
{name}_next:
  %{name}_more = add i64 %{name}, 1
  store i64 %{name}_more, ptr %{name}_at
  br label %{name}_test
{name}_done:"""


def _field(result: str, struct: Any, field: str, kind: str = "ptr", of: str = "args") -> str:
    return f"""
  %{result}_at = getelementptr i8, ptr %{of}, i64 {getattr(struct, field).offset}
  %{result} = load {kind}, ptr %{result}_at"""


def _item(result: str, array: str, index: str, kind: str = "ptr") -> str:
    return f"""
  %{result}_at = getelementptr i64, ptr %{array}, i64 %{index}
  %{result} = load {kind}, ptr %{result}_at"""


def _execute(struct: Any) -> str:
    options = abi.STRUCTS["ExecuteOptions"]
    program = "".join(
        f"""
  %{name}_field = getelementptr i64, ptr %program, i64 {index}
  %{name} = load {"i64" if name in ("table_words", "parameters", "results", "taken") else "ptr"}, ptr %{name}_field"""
        for name, index in PROGRAM.items()
    )
    loops = ("argument", "taking", "using", "leaving", "giving", "returning", "undoing")

    def count_user(loop: str, change: int) -> str:
        return f"""
{_item(f"{loop}_handle", "row", loop)}
  {slot(f"{loop}_users_at", f"{loop}_handle", "users")}
  %{loop}_users = load i64, ptr %{loop}_users_at
  %{loop}_changed = add i64 %{loop}_users, {change}
  store i64 %{loop}_changed, ptr %{loop}_users_at"""

    return f"""
  %program_at = getelementptr i64, ptr %handle, i64 {SLOTS["LoadedExecutable"]["native_program"]}
  %program = load ptr, ptr %program_at
  %is_native = icmp ne ptr %program, null
  br i1 %is_native, label %read, label %python
read:
{program}
{_field("options", struct, "options")}
{_field("sends", options, "num_send_ops", "i64", "options")}
{_field("receives", options, "num_recv_ops", "i64", "options")}
{_field("rows", struct, "num_devices", "i64")}
{_field("count", struct, "num_args", "i64")}
{_field("wanted", struct, "execute_device")}
  %transfers = or i64 %sends, %receives
  %is_pure = icmp eq i64 %transfers, 0
  %is_single = icmp eq i64 %rows, 1
  %counts = icmp eq i64 %count, %parameters
  %is_any = icmp eq ptr %wanted, null
  %is_here = icmp eq ptr %wanted, %device
  %place = or i1 %is_any, %is_here
  %enabled = call i64 @is_enabled()
  %is_enabled = icmp ne i64 %enabled, 0
  %c1 = and i1 %is_pure, %is_single
  %c2 = and i1 %counts, %place
  %c3 = and i1 %c1, %c2
  %c4 = and i1 %c3, %is_enabled
  br i1 %c4, label %run, label %python
run:
{"".join(f"  %{loop}_at = alloca i64{chr(10)}" for loop in loops)}
  %own_table = alloca i64, i64 %table_words, align 64
  %own_handles = alloca i64, i64 %taken
  %table_bytes = mul i64 %table_words, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %own_table, ptr %table, i64 %table_bytes, i1 false)
{_field("lists", struct, "argument_lists")}
  %has_arguments = icmp ne i64 %count, 0
  br i1 %has_arguments, label %find_row, label %begin
find_row:
  %first_row = load ptr, ptr %lists
  br label %begin
begin:
  %row = phi ptr [ null, %run ], [ %first_row, %find_row ]
  call void @lock()
{
        _loop(
            "argument",
            "%count",
            f'''
{_item("buffer", "row", "argument")}
  %is_buffer = icmp ne ptr %buffer, null
  br i1 %is_buffer, label %check, label %refused
check:
{_item("pool", "parameter_pools", "argument")}
{_item("entry_number", "parameter_slots", "argument", "i64")}
  {slot("own_pool_at", "buffer", "pool")}
  %own_pool = load ptr, ptr %own_pool_at
  {slot("data_at", "buffer", "data")}
  %data = load i64, ptr %data_at
  %has_shape = icmp eq ptr %own_pool, %pool
  %is_ready = icmp ne i64 %data, 0
  %is_plain = and i1 %has_shape, %is_ready
  %entry_at = getelementptr i64, ptr %own_table, i64 %entry_number
  store i64 %data, ptr %entry_at
  br i1 %is_plain, label %accepted, label %refused
accepted:''',
        )
    }
{
        _loop(
            "taking",
            "%taken",
            f'''
{_item("taken_pool", "taken_pools", "taking")}
{_item("taken_number", "taken_slots", "taking", "i64")}
  %free = call ptr @pop(ptr %taken_pool)
  %own_handle_at = getelementptr i64, ptr %own_handles, i64 %taking
  store ptr %free, ptr %own_handle_at
  %is_empty = icmp eq ptr %free, null
  br i1 %is_empty, label %undo, label %took
took:
  {slot("free_data_at", "free", "data")}
  %free_data = load i64, ptr %free_data_at
  %taken_entry_at = getelementptr i64, ptr %own_table, i64 %taken_number
  store i64 %free_data, ptr %taken_entry_at''',
        )
    }
{_loop("using", "%count", count_user("using", 1))}
  call void @unlock()
  %status = call i32 %entry(ptr %own_table)
  call void @lock()
{_loop("leaving", "%count", count_user("leaving", -1))}
  %has_failed = icmp ne i32 %status, 0
  br i1 %has_failed, label %undo_all, label %give
give:
{
        _loop(
            "giving",
            "%taken",
            _item("temporary", "own_handles", "giving") + chr(10) + "  call void @push(ptr %temporary)",
            "%results",
        )
    }
  call void @unlock()
  %has_results = icmp ne i64 %results, 0
  br i1 %has_results, label %answer, label %end
answer:
{_field("output_lists", struct, "output_lists")}
  %outputs = load ptr, ptr %output_lists
{
        _loop(
            "returning",
            "%results",
            f'''
{_item("result", "own_handles", "returning")}
  %output_at = getelementptr i64, ptr %outputs, i64 %returning
  store ptr %result, ptr %output_at''',
        )
    }
  br label %end
end:
{_field("events", struct, "device_complete_events")}
  %wants_event = icmp ne ptr %events, null
  br i1 %wants_event, label %complete, label %done
complete:
  store ptr inttoptr (i64 {READY_EVENT} to ptr), ptr %events
  br label %done
done:
  ret ptr null
undo_all:
  store i64 %taken, ptr %taking_at
  br label %undo
undo:
  %took_count = load i64, ptr %taking_at
{
        _loop(
            "undoing",
            "%took_count",
            _item("unused", "own_handles", "undoing") + chr(10) + "  call void @push(ptr %unused)",
        )
    }
  br label %refused
refused:
  call void @unlock()
  br label %python"""


def _destroy(struct: Any) -> str:
    return f"""
  call void @lock()
  {slot("is_native_at", "handle", "is_native")}
  %is_native = load i64, ptr %is_native_at
  {slot("data_at", "handle", "data")}
  %data = load i64, ptr %data_at
  {slot("users_at", "handle", "users")}
  %users = load i64, ptr %users_at
  {slot("holds_at", "handle", "holds")}
  %holds = load i64, ptr %holds_at
  %used = or i64 %users, %holds
  %is_unused = icmp eq i64 %used, 0
  %without_object = icmp ne i64 %is_native, 0
  %is_live = icmp ne i64 %data, 0
  %c1 = and i1 %is_unused, %without_object
  %c2 = and i1 %c1, %is_live
  br i1 %c2, label %look, label %leave
look:
  {slot("pool_at", "handle", "pool")}
  %pool = load ptr, ptr %pool_at
  {word("free_at", "pool", "free")}
  %free = load i64, ptr %free_at
  {word("most_at", "pool", "most_free")}
  %most = load i64, ptr %most_at
  %has_place = icmp ult i64 %free, %most
  br i1 %has_place, label %keep, label %leave
keep:
  call void @push(ptr %handle)
  call void @unlock()
  ret ptr null
leave:
  call void @unlock()
  br label %python"""


def _increase(struct: Any) -> str:
    return _change_holds("data", 1)


def _decrease(struct: Any) -> str:
    return _change_holds("holds", -1)


def _change_holds(needed: str, change: int) -> str:
    return f"""
  call void @lock()
  {slot("needed_at", "handle", needed)}
  %needed = load i64, ptr %needed_at
  %is_usual = icmp ne i64 %needed, 0
  br i1 %is_usual, label %count, label %leave
count:
  {slot("holds_at", "handle", "holds")}
  %holds = load i64, ptr %holds_at
  %changed = add i64 %holds, {change}
  store i64 %changed, ptr %holds_at
  call void @unlock()
  ret ptr null
leave:
  call void @unlock()
  br label %python"""


def _pointer(struct: Any) -> str:
    field = next(name for name in ("device_memory_ptr", "buffer_pointer") if hasattr(struct, name))
    return f"""
  {slot("data_at", "handle", "data")}
  %data = load i64, ptr %data_at
  %is_ready = icmp ne i64 %data, 0
  br i1 %is_ready, label %tell, label %python
tell:
  %to = getelementptr i8, ptr %args, i64 {getattr(struct, field).offset}
  store i64 %data, ptr %to
  ret ptr null"""
