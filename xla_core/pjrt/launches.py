"""Executions that a host names by a number, and marks of work that a host has under way."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from xla_core.errors import XlaError, error_of_status
from xla_core.pjrt import abi
from xla_core.pjrt.client import PjrtDevice
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, handle_at
from xla_core.runtime import Buffer, HostEvent
from xla_core.runtime.buffers.views import event_after

_lock = threading.Lock()


def _after_fork() -> None:
    """Replaces the lock, which another thread of the parent may have held."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def remember_launch(device: PjrtDevice, number: int, results: Sequence[Buffer]) -> None:
    """Remembers the results of an execution until they are ready, if the host gave the execution a number."""
    pending = [buffer for buffer in results if not buffer.is_ready()] if number else []
    if not pending:
        return
    with _lock:
        launches = device.launches
        for old in [n for n, buffers in launches.items() if all(buffer.is_ready() for buffer in buffers)]:
            del launches[old]
        launches[number] = weakref.WeakSet(pending)


@implements("Device_PoisonExecution")
def _poison_execution(args: Any) -> None:
    device = handle_at(args.device, PjrtDevice)
    error = error_of_status(args.error_code, abi.text_at(args.error_message, args.error_message_size))
    with _lock:
        buffers = list(device.launches.pop(args.launch_id, ()))
    poisoned = [_poison(buffer, error) for buffer in buffers]
    args.poisoned = any(poisoned)


def _poison(buffer: Buffer, error: XlaError) -> bool:
    """Makes later uses of a buffer fail unless it is ready. Returns whether it did.

    Work that has been enqueued still gets the value that is being computed.
    """
    failed = HostEvent()
    failed.arm().complete(error)
    with buffer.device.lock:
        if buffer.is_ready():
            return False
        buffer.define(event_after(buffer.device, [failed], "waits for the host"))
        return True


@implements("Device_ClearMemoryStats")
def _clear_memory_stats(args: Any) -> None:
    handle_at(args.device, PjrtDevice).device.allocator.clear_peak()


class PjrtAsyncTrackingEvent(Handle):
    """A mark of work of the host's that is under way. It says in a debugger what a process waits for."""

    kind = "AsyncTrackingEvent"

    def __init__(self, device: PjrtDevice, description: str) -> None:
        super().__init__()
        self.device, self.description = device, description


@implements("Device_CreateAsyncTrackingEvent")
def _create_async_tracking_event(args: Any) -> None:
    text = abi.text_at(args.description, args.description_size)
    args.event = PjrtAsyncTrackingEvent(handle_at(args.device, PjrtDevice), text).address


@implements("AsyncTrackingEvent_Destroy")
def _async_tracking_event_destroy(args: Any) -> None:
    handle_at(args.event, PjrtAsyncTrackingEvent).destroy()
