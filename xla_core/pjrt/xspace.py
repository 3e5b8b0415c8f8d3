"""Writes spans as an XSpace, the format of XLA's profiler. (XLA: tsl/profiler/protobuf/xplane.proto.)

An XSpace consists of planes, a plane of lines, a line of events. A device is a plane, and each of its streams a line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from xla_core.hlo.proto.wire import write_field
from xla_core.profiler import Span

HOST_PLANE = "/host:xla-core"
DEVICE_PREFIX = "/device:CUSTOM:"
"""Viewers show the planes whose names begin like this as those of devices."""

_DEVICE = re.compile(r"\w+:\d+").match
_PLANES = 1
_NAME, _LINES, _EVENT_METADATA = 2, 3, 4  # of a plane
_LINE_ID, _LINE_NAME, _TIMESTAMP, _EVENTS = 1, 2, 3, 4
_METADATA_ID, _OFFSET, _DURATION = 1, 2, 3  # of an event


def write_xspace(spans: Iterable[Span], epoch: int) -> bytes:
    """Returns spans as a serialized XSpace, the profile that TensorBoard reads.

    Args:
        spans: the events. One whose track begins with a device's name, as in "gpu:0 programs", belongs to the device's
            plane; the others to the plane HOST_PLANE.
        epoch: the nanoseconds since 1970 at which the clock of the spans was 0.
    """
    planes: dict[str, dict[str, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for span in spans:
        device = _DEVICE(span.track)
        planes[f"{DEVICE_PREFIX}{device[0]}" if device else HOST_PLANE][span.track].append(span)
    return b"".join(write_field(_PLANES, _plane(name, planes[name], epoch)) for name in sorted(planes))


def _plane(name: str, lines: dict[str, list[Span]], epoch: int) -> bytes:
    names = sorted({span.name for spans in lines.values() for span in spans})
    numbers = {event: number for number, event in enumerate(names, 1)}
    parts = [write_field(_NAME, name)]
    for number, track in enumerate(sorted(lines), 1):
        parts.append(write_field(_LINES, _line(number, track, lines[track], numbers, epoch)))
    for event, number in numbers.items():
        metadata = write_field(1, number) + write_field(2, event)
        parts.append(write_field(_EVENT_METADATA, write_field(1, number) + write_field(2, metadata)))
    return b"".join(parts)


def _line(number: int, track: str, spans: Sequence[Span], numbers: dict[str, int], epoch: int) -> bytes:
    spans = sorted(spans, key=lambda span: span.start)
    first = spans[0].start
    parts = [write_field(_LINE_ID, number), write_field(_LINE_NAME, track), write_field(_TIMESTAMP, epoch + first)]
    for span in spans:
        event = write_field(_METADATA_ID, numbers[span.name])
        event += write_field(_OFFSET, 1000 * (span.start - first))
        parts.append(write_field(_EVENTS, event + write_field(_DURATION, 1000 * (span.end - span.start))))
    return b"".join(parts)
