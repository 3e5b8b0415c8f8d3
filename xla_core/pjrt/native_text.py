"""Pieces of LLVM IR that the native functions of the warm path have in common."""

from __future__ import annotations

from typing import Any

from xla_core.pjrt.handles import SLOTS
from xla_core.pjrt.ready_events import READY_EVENT

_WORDS = "first_free free most_free description bytes strides"
POOL = {name: index for index, name in enumerate(_WORDS.split())}
"""The words of a pool (`buffer_pool`): the head and the length of its free list, the length from which Python frees
returned handles, the slots that all its buffers have in common, and the bytes (0 for layouts other than row-major) and
strides of an array.
"""

LEAVE = """leave:
  call void @unlock()
  br label %python"""
"""IR that gives up the mutex and leaves the call to Python."""


def answer_ready(struct: Any, event: str) -> str:
    """IR that ends a call and answers that its event, a field of the structure of the host, is ready."""
    return f"""
  %event_to = getelementptr i8, ptr %args, i64 {getattr(struct, event).offset}
  store ptr inttoptr (i64 {READY_EVENT} to ptr), ptr %event_to
  ret ptr null"""


def every(result: str, *conditions: str) -> str:
    """IR that makes `%RESULT` true if all of these conditions are."""
    names = [conditions[0], *(f"{result}_{n}" for n in range(2, len(conditions))), result]
    steps = zip(names, conditions[1:], names[1:], strict=False)
    return "\n".join(f"  %{after} = and i1 %{before}, %{condition}" for before, condition, after in steps)


def slot(result: str, handle: str, name: str, kind: str = "i64", of: str = "Buffer") -> str:
    """IR that reads a slot of a handle; its address is `%RESULT_at`."""
    return _word(result, handle, SLOTS[of][name], kind)


def set_slot(handle: str, name: str, value: str, kind: str = "i64") -> str:
    """IR that sets a slot of a buffer's handle."""
    return f"""
  %{handle}_{name}_to = getelementptr i64, ptr %{handle}, i64 {SLOTS["Buffer"][name]}
  store {kind} {value}, ptr %{handle}_{name}_to"""


def add_to_slot(result: str, handle: str, name: str, change: int) -> str:
    """IR that adds a number to a slot of a buffer's handle. The slot's old value is `%RESULT`."""
    return f"""{slot(result, handle, name)}
  %{result}_changed = add i64 %{result}, {change}
  store i64 %{result}_changed, ptr %{result}_at"""


def pool_word(result: str, name: str, kind: str = "i64") -> str:
    """IR that reads a word of the pool at `%pool`; its address is `%RESULT_at`."""
    return _word(result, "pool", POOL[name], kind)


def _word(result: str, block: str, number: int, kind: str) -> str:
    return f"""
  %{result}_at = getelementptr i64, ptr %{block}, i64 {number}
  %{result} = load {kind}, ptr %{result}_at"""


def indices(*loops: str) -> str:
    """IR that makes the variables of `loop`s."""
    return "\n".join(f"  %{name}_at = alloca i64" for name in loops)


def loop(name: str, count: str, body: str, start: str = "0") -> str:
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


def field(result: str, struct: Any, field: str, kind: str = "ptr", of: str = "args") -> str:
    """IR that reads a field of a structure of the host."""
    return f"""
  %{result}_at = getelementptr i8, ptr %{of}, i64 {getattr(struct, field).offset}
  %{result} = load {kind}, ptr %{result}_at"""


def item(result: str, array: str, index: str, kind: str = "ptr") -> str:
    """IR that reads an element of 8 bytes at the index in `%INDEX`."""
    return f"""
  %{result}_at = getelementptr i64, ptr %{array}, i64 %{index}
  %{result} = load {kind}, ptr %{result}_at"""
