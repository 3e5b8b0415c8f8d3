"""The calls that a host makes all the time, as native functions: Execute and the life of its results.

Each function handles the usual case, and leaves every other one to the Python function of the same name: values that
are still being computed, buffers that Python has an object for, free lists that are empty, errors. `buffer_pool`
describes the data that native code has about a buffer.
"""

from __future__ import annotations

from xla_core import profiler
from xla_core.pjrt import abi, native_buffers
from xla_core.pjrt.native import NativeCode
from xla_core.pjrt.native_execute import execute
from xla_core.pjrt.pool_code import code

_BODIES = {
    "LoadedExecutable_Execute": execute,
    "Client_BufferFromHostBuffer": native_buffers.upload,
    "Buffer_ToHostBuffer": native_buffers.download,
    "Buffer_Destroy": native_buffers.destroy,
    "Buffer_IncreaseExternalReferenceCount": native_buffers.increase,
    "Buffer_DecreaseExternalReferenceCount": native_buffers.decrease,
    "Buffer_OpaqueDeviceMemoryDataPointer": native_buffers.pointer,
    "Buffer_UnsafePointer": native_buffers.pointer,
}

FUNCTIONS = tuple(_BODIES)


def compile_functions(entries: NativeCode) -> NativeCode:
    """Compiles FUNCTIONS. `entries` has the Python functions of the same names."""
    pools = code()

    profiler.listeners.append(lambda active: pools.enable(active is None))  # a profiler records only calls in Python
    shared = ("enabled", "uploads", "lock", "unlock", "pop", "push")
    texts = [_DECLARATIONS.format(**{name: pools.address(name) for name in shared})]
    for name, body in _BODIES.items():
        struct = abi.STRUCTS[f"{name}_Args"]
        handle = getattr(struct, abi.FIELDS[f"{name}_Args"][2]).offset
        texts.append(f"""
define ptr @{name}(ptr %args) {{
  %struct_size = load i64, ptr %args
  %is_new = icmp uge i64 %struct_size, {struct.full_size}
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
define i1 @is_enabled() {{
  %enabled = load i64, ptr inttoptr (i64 {enabled} to ptr)
  %is_enabled = icmp ne i64 %enabled, 0
  ret i1 %is_enabled
}}
define ptr @pool_of_upload(i64 %number) {{
  %place = getelementptr ptr, ptr inttoptr (i64 {uploads} to ptr), i64 %number
  %pool = load ptr, ptr %place
  ret ptr %pool
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
