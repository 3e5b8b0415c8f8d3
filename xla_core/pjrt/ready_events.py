"""Native functions for events that are ready, which most events of short programs are.

All ready events are one handle, `READY_EVENT`. Functions on it answer without Python, and so does the ready event of a
buffer whose slot `is_ready` is set. On other handles they call the Python function of the same name.
"""

from __future__ import annotations

import ctypes

from xla_core.backend.event import Event
from xla_core.pjrt import abi
from xla_core.pjrt.handles import SLOTS
from xla_core.pjrt.native import NativeCode

_block = (ctypes.c_uint64 * 2)()
READY_EVENT = ctypes.addressof(_block)
"""The handle of every event that is ready and has no error. No object belongs to it, and nothing destroys it."""

FUNCTIONS = ("Event_IsReady", "Event_Error", "Event_Await", "Event_Destroy", "Event_OnReady", "Buffer_ReadyEvent")


def is_ready(event: Event | None) -> bool:
    """Whether the event is ready without an error. None stands for an event that is known to be."""
    return event is None or (event.ready and event.error is None)


def compile_functions(entries: NativeCode) -> NativeCode:
    """Compiles FUNCTIONS. `entries` has the Python functions of the same names."""
    is_ready = abi.STRUCTS["Event_IsReady_Args"].is_ready.offset
    on_ready = abi.STRUCTS["Event_OnReady_Args"]
    ready_event = abi.STRUCTS["Buffer_ReadyEvent_Args"]
    bodies = {
        "Event_IsReady": f"  %to = getelementptr i8, ptr %args, i64 {is_ready}\n  store i8 1, ptr %to",
        "Event_OnReady": f"""
  %callback_at = getelementptr i8, ptr %args, i64 {on_ready.callback.offset}
  %callback = load ptr, ptr %callback_at
  %user_at = getelementptr i8, ptr %args, i64 {on_ready.user_arg.offset}
  %user = load ptr, ptr %user_at
  call void %callback(ptr null, ptr %user)""",
        "Buffer_ReadyEvent": f"""
  %to = getelementptr i8, ptr %args, i64 {ready_event.event.offset}
  store ptr inttoptr (i64 {READY_EVENT} to ptr), ptr %to""",
    }
    of_event = f"  %known = icmp eq ptr %handle, inttoptr (i64 {READY_EVENT} to ptr)"
    of_buffer = f"""
  %slot = getelementptr i64, ptr %handle, i64 {SLOTS["Buffer"]["is_ready"]}
  %flag = load i64, ptr %slot
  %known = icmp ne i64 %flag, 0"""
    texts = []
    for name in FUNCTIONS:
        handle = getattr(abi.STRUCTS[f"{name}_Args"], abi.FIELDS[f"{name}_Args"][2]).offset
        texts.append(f"""
define ptr @{name}(ptr %args) {{
  %at = getelementptr i8, ptr %args, i64 {handle}
  %handle = load ptr, ptr %at
  %exists = icmp ne ptr %handle, null
  br i1 %exists, label %look, label %python
look:
{of_buffer if name == "Buffer_ReadyEvent" else of_event}
  br i1 %known, label %ready, label %python
ready:
{bodies.get(name, "")}
  ret ptr null
python:
  %error = call ptr inttoptr (i64 {entries.address(name)} to ptr)(ptr %args)
  ret ptr %error
}}""")
    return NativeCode("\n".join(texts), entries)
