"""Streams and events."""

from __future__ import annotations

from ctypes import POINTER, c_float, c_uint, c_void_p

from tests.backends.gpu.cuda_stub.memory import Pool
from tests.backends.gpu.cuda_stub.state import (
    CAPTURE_INVALIDATED,
    CAPTURE_UNSUPPORTED,
    CAPTURED_EVENT,
    INVALID_HANDLE,
    NOT_READY,
    Event,
    Stream,
    current,
    function,
    handles,
    new,
    require,
    take,
)


@function(POINTER(c_void_p), c_uint)
def cuStreamCreate(stream, flags):
    require(flags in (0, 1))
    stream[0] = new(Stream(current()))


@function(c_void_p)
def cuStreamDestroy(stream):
    take(stream, Stream).queue.close()
    del handles[stream]


@function(c_void_p)
def cuStreamSynchronize(stream):
    own = take(stream, Stream)
    require(own.capture is None, CAPTURE_UNSUPPORTED)
    own.queue.synchronize()
    own.device.check()
    for pool in [p for p in handles.values() if isinstance(p, Pool)]:
        pool.kept += pool.freed.pop(stream, 0)


@function(c_void_p, c_void_p, c_uint)
def cuStreamWaitEvent(stream, event, flags):
    own, awaited = take(stream, Stream), take(event, Event)
    require(not flags)
    if awaited.capture is not None:
        capture, known = awaited.capture
        require(own.capture in (None, capture), CAPTURE_INVALIDATED)
        if own.capture is None:
            own.capture, own.captured, own.known = capture, 0, {}
            capture.open.add(own)
        own.see(known)
        own.step()
        return
    require(own.capture is None, CAPTURE_INVALIDATED)
    if awaited.recorded is not None:
        own.queue.wait(awaited.recorded)


@function(POINTER(c_void_p), c_uint)
def cuEventCreate(event, flags):
    require(not flags & ~7)
    event[0] = new(Event(timing=not flags & 2))


@function(c_void_p)
def cuEventDestroy(event):
    take(event, Event).check()
    del handles[event]


@function(c_void_p, c_void_p)
def cuEventRecord(event, stream):
    mark, own = take(event, Event), take(stream, Stream)
    mark.device = own.device
    mark.capture = None if own.capture is None else (own.capture, dict(own.known))
    if own.capture is None:
        if mark.timing:
            own.device.emulated.later(own.queue, mark.reach, "time")
        mark.recorded = own.device.emulated.record(own.queue)


@function(c_void_p)
def cuEventQuery(event):
    mark = take(event, Event)
    mark.check()
    require(mark.capture is None, CAPTURED_EVENT)
    if mark.recorded is None:
        return
    require(mark.recorded.ready, NOT_READY)
    mark.device.check()


@function(POINTER(c_float), c_void_p, c_void_p)
def cuEventElapsedTime(milliseconds, start, end):
    first, last = take(start, Event), take(end, Event)
    require(first.timing and last.timing and first.recorded and last.recorded, INVALID_HANDLE)
    require(first.recorded.ready and last.recorded.ready, NOT_READY)
    milliseconds[0] = 1e3 * (last.time - first.time)
