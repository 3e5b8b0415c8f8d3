"""Buffers over the memory of other buffers, and values that wait for the host."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xla_core.backend.event import Event
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo.values.shape import Shape
from xla_core.runtime.buffers.buffer import Buffer
from xla_core.runtime.device import Device, wait_for
from xla_core.runtime.host.event import ready_event
from xla_core.runtime.shape_cache import intern_shape


def event_after(device: Device, events: Sequence[Event], name: str) -> Event:
    """Makes an event of a device that is ready after all of the events, which may be the host's, and has their error.

    Args:
        name: what the events are, for messages about waiting.
    """
    stream = device.executor.create_stream()
    stream.name = f"{device.platform.name}:{device.id} {name}"
    for event in events:
        stream.host_callback(functools.partial(wait_for, event, device))
    after = stream.finish()
    after.when_ready(lambda _: stream.close())
    return after


def view_of(buffer: Buffer, shape: Shape, after: Event | None = None) -> Buffer:
    """Makes a buffer of a shape over the memory of another one, without a copy.

    The memory lives until both are gone. A program that is given one of them as a donated argument writes to a copy.

    Args:
        after: an event of the host before which the value is not defined.

    Raises:
        InvalidArgumentError: for a shape of another size.
        UnimplementedError: for layouts with tiles, whose padding depends on the shape.
    """
    device = buffer.device
    for given in (buffer.shape, shape) if shape != buffer.shape else ():
        if given.layout is not None and given.layout.tiles:
            raise UnimplementedError(
                f"{given} has tiles: its padding depends on the shape, so its memory can't be seen as another shape"
            )
    if _bits(shape) != _bits(buffer.shape) or device.byte_size(shape) != buffer.byte_size:
        raise InvalidArgumentError(f"{buffer.shape.without_layout()} and {shape.without_layout()} differ in size")
    with device.lock:
        memory = buffer.require_memory()
        event = buffer.definition_event or ready_event()
        if after is not None:
            event = event_after(device, [event, after], "waits for the host")
        view = Buffer(device, memory, intern_shape(shape), event)
        view.borrow_from(buffer.share())
        view.define(event)
        return view


def _bits(shape: Shape) -> int:
    return shape.num_elements * shape.element_type.bit_width
