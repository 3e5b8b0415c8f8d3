"""Transfers, external references and the end of buffers as native functions."""

from __future__ import annotations

from typing import Any

from xla_core.pjrt.native_text import (
    LEAVE,
    add_to_slot,
    answer_ready,
    every,
    field,
    indices,
    item,
    loop,
    pool_word,
    slot,
)
from xla_core.pjrt.pool_code import HASH_FACTOR, UPLOADS

_IMMUTABLE_ZERO_COPY = 2  # PJRT_HostBufferSemantics; arrays with a lower number are always copied
_SHORT_COPY = 400_000  # bytes that are copied in the caller's thread


_ADD_TO_HASH = f"""
{item("size_hashed", "sizes", "hashing", "i64")}
  %hash = load i64, ptr %hash_at
  %product = mul i64 %hash, {HASH_FACTOR}
  %sum = add i64 %product, %size_hashed
  store i64 %sum, ptr %hash_at"""
_COMPARE_SIZE = f"""
{item("size", "sizes", "comparing", "i64")}
{item("own_size", "own_sizes", "comparing", "i64")}
  %same_size = icmp eq i64 %size, %own_size
  br i1 %same_size, label %equal, label %leave
equal:"""
_COMPARE_STRIDE = f"""
{item("stride", "strides", "striding", "i64")}
{item("own_stride", "own_strides", "striding", "i64")}
  %same_stride = icmp eq i64 %stride, %own_stride
  br i1 %same_stride, label %dense, label %leave
dense:"""


def upload(struct: Any) -> str:
    """Copies a small row-major array to memory of the pool that the table of uploads has for its type and sizes."""
    return f"""
{indices("hashing", "comparing", "striding")}
  %hash_at = alloca i64
{field("data", struct, "data")}
{field("type", struct, "type", "i32")}
{field("sizes", struct, "dims")}
{field("rank", struct, "num_dims", "i64")}
{field("strides", struct, "byte_strides")}
{field("num_strides", struct, "num_byte_strides", "i64")}
{field("semantics", struct, "host_buffer_semantics", "i32")}
{field("device", struct, "device")}
{field("memory", struct, "memory")}
{field("layout", struct, "device_layout")}
  %is_enabled = call i1 @is_enabled()
  %may_copy = icmp ule i32 %semantics, {_IMMUTABLE_ZERO_COPY}
  %is_default = icmp eq ptr %layout, null
  %has_data = icmp ne ptr %data, null
{every("is_usual", "is_enabled", "may_copy", "is_default", "has_data")}
  br i1 %is_usual, label %look, label %python
look:
  %kind = zext i32 %type to i64
  store i64 %kind, ptr %hash_at
{loop("hashing", "%rank", _ADD_TO_HASH)}
  %full_hash = load i64, ptr %hash_at
  %number = urem i64 %full_hash, {UPLOADS}
  call void @lock()
  %pool = call ptr @pool_of_upload(i64 %number)
  %is_known = icmp ne ptr %pool, null
  br i1 %is_known, label %compare, label %leave
compare:
{_compared()}
copy:
{pool_word("bytes", "bytes")}
  call void @unlock()
{slot("value", "buffer", "data", "ptr")}
  call void @llvm.memcpy.p0.p0.i64(ptr %value, ptr %data, i64 %bytes, i1 false)
  %buffer_to = getelementptr i8, ptr %args, i64 {struct.buffer.offset}
  store ptr %buffer, ptr %buffer_to
{answer_ready(struct, "done_with_host_buffer")}
{LEAVE}"""


def _compared() -> str:
    """IR that leaves the call to Python unless the pool fits the array and has a buffer, `%buffer`."""
    return f"""{pool_word("common", "description", "ptr")}
{slot("own_type", "common", "type")}
{slot("own_rank", "common", "num_dims")}
{slot("own_sizes", "common", "dims", "ptr")}
{slot("own_device", "common", "device", "ptr")}
{slot("own_memory", "common", "memory", "ptr")}
  %same_type = icmp eq i64 %own_type, %kind
  %same_rank = icmp eq i64 %own_rank, %rank
  %names_memory = icmp ne ptr %memory, null
  %same_memory = icmp eq ptr %own_memory, %memory
  %same_device = icmp eq ptr %own_device, %device
  %same_place = select i1 %names_memory, i1 %same_memory, i1 %same_device
  %without_strides = icmp eq i64 %num_strides, 0
  %all_strides = icmp eq i64 %num_strides, %rank
  %fit_strides = or i1 %without_strides, %all_strides
{every("is_alike", "same_type", "same_rank", "same_place", "fit_strides")}
  br i1 %is_alike, label %compare_sizes, label %leave
compare_sizes:
{loop("comparing", "%rank", _COMPARE_SIZE)}
{pool_word("own_strides", "strides", "ptr")}
{loop("striding", "%num_strides", _COMPARE_STRIDE)}
  %buffer = call ptr @pop(ptr %pool)
  %is_empty = icmp eq ptr %buffer, null
  br i1 %is_empty, label %leave, label %copy"""


def download(struct: Any) -> str:
    """Copies a short row-major array to the host."""
    return f"""
{field("layout", struct, "host_layout")}
{field("to", struct, "dst")}
{field("room", struct, "dst_size", "i64")}
  %is_enabled = call i1 @is_enabled()
  %is_default = icmp eq ptr %layout, null
  %is_wanted = icmp ne ptr %to, null
{every("is_usual", "is_enabled", "is_default", "is_wanted")}
  br i1 %is_usual, label %look, label %python
look:
  call void @lock()
{slot("data", "handle", "data", "ptr")}
{slot("pool", "handle", "pool", "ptr")}
  %is_ready = icmp ne ptr %data, null
  br i1 %is_ready, label %measure, label %leave
measure:
{pool_word("bytes", "bytes")}
  %is_row_major = icmp ne i64 %bytes, 0
  %is_short = icmp ule i64 %bytes, {_SHORT_COPY}
  %has_room = icmp uge i64 %room, %bytes
{every("may_copy", "is_row_major", "is_short", "has_room")}
  br i1 %may_copy, label %copy, label %leave
copy:
{add_to_slot("users", "handle", "users", 1)}
  call void @unlock()
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %data, i64 %bytes, i1 false)
  call void @lock()
{add_to_slot("users_now", "handle", "users", -1)}
  call void @unlock()
{answer_ready(struct, "event")}
{LEAVE}"""


def destroy(struct: Any) -> str:
    """Puts a buffer without a Python object back in its pool, unless something still uses it."""
    return f"""
  call void @lock()
{slot("is_native", "handle", "is_native")}
{slot("data", "handle", "data")}
{slot("users", "handle", "users")}
{slot("holds", "handle", "holds")}
  %used = or i64 %users, %holds
  %is_unused = icmp eq i64 %used, 0
  %without_object = icmp ne i64 %is_native, 0
{slot("is_deleted", "handle", "is_deleted")}
  %data_or_end = or i64 %data, %is_deleted
  %is_live = icmp ne i64 %data_or_end, 0
{every("may_keep", "is_unused", "without_object", "is_live")}
  br i1 %may_keep, label %look, label %leave
look:
{slot("pool", "handle", "pool", "ptr")}
{pool_word("free", "free")}
{pool_word("most", "most_free")}
  %has_place = icmp ult i64 %free, %most
  br i1 %has_place, label %keep, label %leave
keep:
  call void @push(ptr %handle)
  call void @unlock()
  ret ptr null
{LEAVE}"""


def increase(struct: Any) -> str:
    """Counts an external reference of the host."""
    return _change_holds("data", 1)


def decrease(struct: Any) -> str:
    """Ends an external reference that native code counted."""
    return _change_holds("holds", -1)


def _change_holds(needed: str, change: int) -> str:
    return f"""
  call void @lock()
{slot("needed", "handle", needed)}
  %is_usual = icmp ne i64 %needed, 0
  br i1 %is_usual, label %count, label %leave
count:
{add_to_slot("holds", "handle", "holds", change)}
  call void @unlock()
  ret ptr null
{LEAVE}"""


def pointer(struct: Any) -> str:
    """Returns the address of the value."""
    field = next(name for name in ("device_memory_ptr", "buffer_pointer") if hasattr(struct, name))
    return f"""
{slot("data", "handle", "data")}
  %is_ready = icmp ne i64 %data, 0
  br i1 %is_ready, label %tell, label %python
tell:
  %to = getelementptr i8, ptr %args, i64 {getattr(struct, field).offset}
  store i64 %data, ptr %to
  ret ptr null"""
