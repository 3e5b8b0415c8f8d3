"""StreamEvent: a point in the work of a host stream."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from xla_core.errors import FailedPreconditionError
from xla_core.runtime.host_event import HostEvent

if TYPE_CHECKING:
    from xla_core.backend.stream import Event
    from xla_core.runtime.host_stream import HostStream

__all__ = ["StreamEvent"]


class StreamEvent(HostEvent):
    """Ready when the work before it is done. Who waits for it within that work, as a custom call may that uses the
    client it is run by, would wait for ever: they get a FailedPreconditionError.

    Attributes:
        stream: where it was recorded last.
    """

    __slots__ = ("stream",)

    def __init__(self) -> None:
        super().__init__()
        self.stream: HostStream | None = None

    def _check_wait(self) -> None:
        here = threading.get_ident()
        seen: set[HostStream] = set()
        event: Event | None = self
        while isinstance(event, StreamEvent) and event.stream is not None and event.stream not in seen:
            stream = event.stream
            if stream.turn == here:
                raise FailedPreconditionError(
                    f"work on {stream.name} waits for what comes after it there",
                    hint="a custom call can't wait for the device that it runs on: compute with numpy or "
                    "xla_core.evaluate, on another device, or with a Client of its own",
                )
            seen.add(stream)
            event = stream.awaited
