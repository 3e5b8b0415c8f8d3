"""Execute as a native function: it takes memory from pools and calls the entry of a program."""

from __future__ import annotations

import collections
import ctypes
from collections.abc import Sequence
from typing import Any

from xla_core.backend.native_entry import NativeEntry
from xla_core.pjrt import abi
from xla_core.pjrt.buffer_pool import BufferPool
from xla_core.pjrt.native_text import LEAVE, add_to_slot, every, field, indices, item, loop, set_slot, slot
from xla_core.pjrt.ready_events import READY_EVENT
from xla_core.runtime.host.short_work import CALLER_MICROSECONDS, RESULT_MICROSECONDS, SKIPPED_RUNS

_PROGRAM_WORDS = (
    "entry device table table_words parameters parameter_pools parameter_slots results taken taken_pools taken_slots "
    "released releases skips"
)
PROGRAM = {name: index for index, name in enumerate(_PROGRAM_WORDS.split())}
"""The words of a native program: the fields of its NativeEntry, and for each argument and each block of memory that a
call takes (results, then temporaries) its pool and its entry in the table. Then the parameters that the host loses, and
their number, and at last how many calls are left to Python because the entry failed."""

_COUNTS = ("table_words", "parameters", "results", "taken", "releases", "skips")
_MOST_WORDS = 2048  # the longest table that a call makes on the stack


class NativeProgram:
    """The data by which native code runs an executable.

    Args:
        parameters, taken: the pools of the arguments, and of the results and then temporaries.
        released: the donated parameters.

    Attributes:
        needs_idle_device: whether pools got nothing from `refill`, because the device was at work.
    """

    needs_idle_device = False

    def __init__(
        self,
        entry: NativeEntry,
        device: int,
        parameters: Sequence[BufferPool],
        taken: Sequence[BufferPool],
        released: Sequence[int] = (),
    ) -> None:
        self._taken, self._given = collections.Counter(taken), collections.Counter(parameters)
        self._pools = [*parameters, *taken]
        for pool in self._pools:
            pool.owners += 1
        slots = [*entry.results, *(number for number, _ in entry.temporaries)]
        self._arrays = {
            "table": abi.pointers(entry.table),
            "parameter_pools": abi.pointers(pool.address for pool in parameters),
            "parameter_slots": abi.int64s(entry.parameters),
            "taken_pools": abi.pointers(pool.address for pool in taken),
            "taken_slots": abi.int64s(slots),
            "released": abi.int64s(released),
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
            "releases": len(released),
        }
        for name, value in (numbers | {name: abi.address_of(array) for name, array in self._arrays.items()}).items():
            self._words[PROGRAM[name]] = value

    def refill(self) -> None:
        """Adds to the pools the handles that a call takes, and those of its arguments if hosts upload these for the
        call.
        """
        self.needs_idle_device = False
        for pool, count in self._taken.items():
            if not pool.refill(count + self._given[pool] * pool.takes_uploads):
                self.needs_idle_device = True

    def close(self) -> None:
        for pool in self._pools:
            pool.owners -= 1


def is_suitable(entry: NativeEntry) -> bool:
    """Whether a program has a table that fits on the stack, and is so short that callers run it.

    A longer program with many results is short too: Python would take longer to enqueue it.
    """
    limit = CALLER_MICROSECONDS + RESULT_MICROSECONDS * len(entry.results)
    return entry.microseconds <= limit and len(entry.table) <= _MOST_WORDS


def _count_user(name: str, change: int) -> str:
    return f"""
{item(f"{name}_handle", "row", name)}
{add_to_slot(f"{name}_users", f"{name}_handle", "users", change)}"""


def _give_back(name: str) -> str:
    return f"""
{item(f"{name}_handle", "own_handles", name)}
  call void @push(ptr %{name}_handle)"""


_PROGRAM_READ = "".join(
    f"""
  %{name}_field = getelementptr i64, ptr %program, i64 {index}
  %{name} = load {"i64" if name in _COUNTS else "ptr"}, ptr %{name}_field"""
    for name, index in PROGRAM.items()
)
# Nothing but this argument of this call may use the buffer; Python handles all other cases.
_CHECK_RELEASED = f"""
{item("checked_number", "released", "checking", "i64")}
{item("checked_handle", "row", "checked_number")}
{slot("checked_users", "checked_handle", "users")}
{slot("checked_holds", "checked_handle", "holds")}
  %is_single_user = icmp eq i64 %checked_users, 1
  %is_unheld = icmp eq i64 %checked_holds, 0
{every("may_release", "is_single_user", "is_unheld")}
  br i1 %may_release, label %releasable, label %undo_use
releasable:"""
_RELEASE = f"""
{item("released_number", "released", "releasing", "i64")}
{item("released_handle", "row", "released_number")}
{set_slot("released_handle", "data", "0")}
{set_slot("released_handle", "is_deleted", "1")}"""
_SET_ARGUMENT = f"""
{item("buffer", "row", "argument")}
  %is_buffer = icmp ne ptr %buffer, null
  br i1 %is_buffer, label %check, label %leave
check:
{item("pool", "parameter_pools", "argument")}
{item("entry_number", "parameter_slots", "argument", "i64")}
{slot("own_pool", "buffer", "pool", "ptr")}
{slot("data", "buffer", "data")}
  %has_shape = icmp eq ptr %own_pool, %pool
  %is_ready = icmp ne i64 %data, 0
{every("is_plain", "has_shape", "is_ready")}
  %entry_at = getelementptr i64, ptr %own_table, i64 %entry_number
  store i64 %data, ptr %entry_at
  br i1 %is_plain, label %accepted, label %leave
accepted:"""
_TAKE_MEMORY = f"""
{item("taken_pool", "taken_pools", "taking")}
{item("taken_number", "taken_slots", "taking", "i64")}
  %free = call ptr @pop(ptr %taken_pool)
  %own_handle_at = getelementptr i64, ptr %own_handles, i64 %taking
  store ptr %free, ptr %own_handle_at
  %is_empty = icmp eq ptr %free, null
  br i1 %is_empty, label %undo, label %took
took:
{slot("free_data", "free", "data")}
  %taken_entry_at = getelementptr i64, ptr %own_table, i64 %taken_number
  store i64 %free_data, ptr %taken_entry_at"""
_RETURN_RESULT = f"""
{item("result", "own_handles", "returning")}
  %output_at = getelementptr i64, ptr %outputs, i64 %returning
  store ptr %result, ptr %output_at"""


def _conditions(struct: Any) -> str:
    """IR that leaves a call to Python unless it is a common case."""
    options = abi.STRUCTS["ExecuteOptions"]
    return f"""{field("options", struct, "options")}
{field("sends", options, "num_send_ops", "i64", "options")}
{field("receives", options, "num_recv_ops", "i64", "options")}
{field("rows", struct, "num_devices", "i64")}
{field("count", struct, "num_args", "i64")}
{field("wanted", struct, "execute_device")}
  %transfers = or i64 %sends, %receives
  %is_pure = icmp eq i64 %transfers, 0
  %is_single = icmp eq i64 %rows, 1
  %counts = icmp eq i64 %count, %parameters
  %is_any = icmp eq ptr %wanted, null
  %is_here = icmp eq ptr %wanted, %device
  %place = or i1 %is_any, %is_here
  %is_enabled = call i1 @is_enabled()
{field("kept", options, "num_non_donatable_input_indices", "i64", "options")}
  %keeps_none = icmp eq i64 %kept, 0
  %releases_none = icmp eq i64 %releases, 0
  %loses = or i1 %keeps_none, %releases_none
{every("may_run", "is_pure", "is_single", "counts", "place", "is_enabled", "loses")}
  br i1 %may_run, label %run, label %python"""


def _ending(struct: Any) -> str:
    """IR that gives back the temporaries and answers with the results."""
    return f"""give:
{loop("releasing", "%releases", _RELEASE)}
{loop("giving", "%taken", _give_back("giving"), "%results")}
  call void @unlock()
  %has_results = icmp ne i64 %results, 0
  br i1 %has_results, label %answer, label %end
answer:
{field("output_lists", struct, "output_lists")}
  %outputs = load ptr, ptr %output_lists
{loop("returning", "%results", _RETURN_RESULT)}
  br label %end
end:
{field("events", struct, "device_complete_events")}
  %wants_event = icmp ne ptr %events, null
  br i1 %wants_event, label %complete, label %done
complete:
  store ptr inttoptr (i64 {READY_EVENT} to ptr), ptr %events
  br label %done
done:
  ret ptr null"""


def execute(struct: Any) -> str:
    """Checks that the arguments are plain, takes memory for the results and temporaries, and calls the entry."""
    return f"""
{slot("program", "handle", "native_program", "ptr", of="LoadedExecutable")}
  %is_native = icmp ne ptr %program, null
  br i1 %is_native, label %read, label %python
read:
{_PROGRAM_READ}
  %is_unskipped = icmp eq i64 %skips, 0
  br i1 %is_unskipped, label %consider, label %skip
skip:
  %skips_left = sub i64 %skips, 1
  store i64 %skips_left, ptr %skips_field
  br label %python
consider:
{_conditions(struct)}
run:
{indices("argument", "taking", "using", "checking", "leaving", "releasing", "giving", "returning")}
{indices("unusing", "undoing")}
  %own_table = alloca i64, i64 %table_words, align 64
  %own_handles = alloca i64, i64 %taken
  %table_bytes = mul i64 %table_words, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %own_table, ptr %table, i64 %table_bytes, i1 false)
{field("lists", struct, "argument_lists")}
  %has_arguments = icmp ne i64 %count, 0
  br i1 %has_arguments, label %find_row, label %begin
find_row:
  %first_row = load ptr, ptr %lists
  br label %begin
begin:
  %row = phi ptr [ null, %run ], [ %first_row, %find_row ]
  call void @lock()
{loop("argument", "%count", _SET_ARGUMENT)}
{loop("taking", "%taken", _TAKE_MEMORY)}
{loop("using", "%count", _count_user("using", 1))}
{loop("checking", "%releases", _CHECK_RELEASED)}
  call void @unlock()
  %status = call i32 %entry(ptr %own_table)
  call void @lock()
{loop("leaving", "%count", _count_user("leaving", -1))}
  %has_failed = icmp ne i32 %status, 0
  br i1 %has_failed, label %failed, label %give
{_ending(struct)}
failed:
  store i64 {SKIPPED_RUNS}, ptr %skips_field
  br label %undo_all
undo_use:
{loop("unusing", "%count", _count_user("unusing", -1))}
  br label %undo_all
undo_all:
  store i64 %taken, ptr %taking_at
  br label %undo
undo:
  %took_count = load i64, ptr %taking_at
{loop("undoing", "%took_count", _give_back("undoing"))}
  br label %leave
{LEAVE}"""
