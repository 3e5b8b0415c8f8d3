"""PJRT_Event: the runtime's events, and those that a host sets itself."""

from __future__ import annotations

import ctypes
from collections import deque
from typing import Any

from xla_core.backend.event import Event
from xla_core.errors import XlaError, error_of_status
from xla_core.pjrt import native
from xla_core.pjrt.abi import text_at
from xla_core.pjrt.functions import implements
from xla_core.pjrt.handles import Handle, handle_at
from xla_core.pjrt.ready_events import READY_EVENT, is_ready
from xla_core.runtime import HostEvent

_OnReady = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


errors_of_values: deque[str] = deque(maxlen=64)
"""The newest errors that hosts got where they asked for a value."""


class PjrtEvent(Handle):
    """An event that a host owns. `of_value` tells that the host asks for the value of a buffer."""

    kind = "Event"

    def __init__(self, event: Event, *, of_value: bool = False) -> None:
        super().__init__()
        self.event = event
        self.of_value = of_value


def _noted(error: XlaError, of_value: bool) -> XlaError:
    """Returns the error that the host gets, and remembers that of a value."""
    if of_value:
        errors_of_values.append(error.message)
    return error


def event_address(event: Event | None, *, of_value: bool = False) -> int:
    """Returns the address of a handle for the event. None stands for an event that is ready."""
    return READY_EVENT if event is None or is_ready(event) else PjrtEvent(event, of_value=of_value).address


@implements("Event_Destroy")
def _event_destroy(args: Any) -> None:
    handle_at(args.event, PjrtEvent).destroy()


@implements("Event_IsReady")
def _event_is_ready(args: Any) -> None:
    args.is_ready = handle_at(args.event, PjrtEvent).event.ready


@implements("Event_Error")
def _event_error(args: Any) -> None:
    handle = handle_at(args.event, PjrtEvent)
    if handle.event.error is not None:
        raise _noted(handle.event.error, handle.of_value)


@implements("Event_Await")
def _event_await(args: Any) -> None:
    handle = handle_at(args.event, PjrtEvent)
    handle.event.synchronize()
    if handle.event.error is not None:
        raise _noted(handle.event.error, handle.of_value)


@implements("Event_OnReady")
def _event_on_ready(args: Any) -> None:
    handle = handle_at(args.event, PjrtEvent)
    callback, argument, make_error = _OnReady(args.callback), args.user_arg, native.common().error
    of_value = handle.of_value  # the lambda must not keep the handle
    handle.event.when_ready(
        lambda error: callback(make_error(_noted(error, of_value)) if error is not None else None, argument)
    )


class PjrtHostEvent(PjrtEvent):
    """An event that the host sets."""

    def __init__(self) -> None:
        event = HostEvent()
        self.complete = event.arm().complete
        super().__init__(event)


@implements("Event_Create")
def _event_create(args: Any) -> None:
    args.event = PjrtHostEvent().address


@implements("Event_Set")
def _event_set(args: Any) -> None:
    event = handle_at(args.event, PjrtHostEvent)
    failed = args.error_code != 0
    event.complete(
        error_of_status(args.error_code, text_at(args.error_message, args.error_message_size)) if failed else None
    )
