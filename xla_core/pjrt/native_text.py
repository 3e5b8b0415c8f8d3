"""Pieces of LLVM IR that the native functions of the warm path have in common."""

from __future__ import annotations

from typing import Any

from xla_core.pjrt.handles import SLOTS

_WORDS = "first_free free most_free description bytes strides"
POOL = {name: index for index, name in enumerate(_WORDS.split())}
"""The words of a pool (`buffer_pool`): the head and the length of its free list, the length from which Python frees
what comes back, the slots that all its buffers have in common, and the bytes (0 for layouts other than row-major) and
strides of an array."""


def slot(result: str, handle: str, name: str) -> str:
    """IR that computes the address of a buffer's slot."""
    return f"%{result} = getelementptr i64, ptr %{handle}, i64 {SLOTS['Buffer'][name]}"


def word(result: str, pool: str, name: str) -> str:
    """IR that computes the address of a pool's word."""
    return f"%{result} = getelementptr i64, ptr %{pool}, i64 {POOL[name]}"


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
    return f"""
  %{result}_at = getelementptr i8, ptr %{of}, i64 {getattr(struct, field).offset}
  %{result} = load {kind}, ptr %{result}_at"""


def item(result: str, array: str, index: str, kind: str = "ptr") -> str:
    return f"""
  %{result}_at = getelementptr i64, ptr %{array}, i64 %{index}
  %{result} = load {kind}, ptr %{result}_at"""
