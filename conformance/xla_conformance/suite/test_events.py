"""Events and memory as a PJRT host uses them: callbacks, events recorded again, reads at an offset, foreign memory."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from xla_core import Client, XlaError
from xla_core.backend import Stream, StreamExecutor
from xla_core.target import TargetConfig


def fail() -> None:
    raise XlaError("on purpose")


def test_a_callback_is_called_once_when_the_event_is_ready(stream: Stream) -> None:
    gate, called = threading.Event(), threading.Event()
    given: list[XlaError | None] = []

    def callback(error: XlaError | None) -> None:
        given.append(error)
        called.set()

    stream.host_callback(lambda: None if gate.wait(20) else fail())
    event = stream.create_event()
    stream.record(event)
    event.when_ready(callback)
    assert not called.is_set()
    gate.set()
    assert called.wait(20)
    stream.synchronize()
    assert given == [None]
    event.when_ready(callback)  # immediately, if the event is ready
    assert given == [None, None]


def test_a_callback_may_use_the_device(client: Client, stream: Stream) -> None:
    gate, done = threading.Event(), threading.Event()
    values: list[list[float]] = []

    def callback(error: XlaError | None) -> None:
        values.append(np.asarray(client.buffer_from_host(np.array([1, 2], np.float32))).tolist())
        done.set()

    stream.host_callback(lambda: None if gate.wait(20) else fail())
    event = stream.create_event()
    stream.record(event)
    event.when_ready(callback)
    gate.set()
    assert done.wait(20)
    assert values == [[1, 2]]


def test_a_callback_is_given_the_error(stream: Stream) -> None:
    stream.host_callback(fail)
    event = stream.create_event()
    stream.record(event)
    stream.recover()
    called = threading.Event()
    given: list[XlaError | None] = []

    def callback(error: XlaError | None) -> None:
        given.append(error)
        called.set()

    event.when_ready(callback)
    assert called.wait(20)
    assert "on purpose" in str(given[0])


def test_a_wait_is_for_the_record_that_was_made_before_it(executor: StreamExecutor, stream: Stream) -> None:
    other = executor.create_stream()
    gate = threading.Event()
    event = stream.create_event()
    stream.record(event)
    other.wait(event)
    passed = other.finish()
    stream.host_callback(lambda: None if gate.wait(20) else fail())
    stream.record(event)  # the other stream doesn't wait for this record
    try:
        assert passed.synchronize(10)
        assert passed.error is None
        assert not event.ready
    finally:
        gate.set()
        stream.synchronize()
        other.close()
    assert event.ready


@pytest.mark.parametrize(("offset", "size"), [(0, 256), (0, 1), (64, 64), (255, 1), (17, 100)])
def test_bytes_at_an_offset(executor: StreamExecutor, stream: Stream, offset: int, size: int) -> None:
    data = np.arange(256, dtype=np.uint8)
    memory = executor.allocate(256)
    assert memory is not None
    stream.memcpy_h2d(memory, data)
    read = np.zeros(size, np.uint8)
    executor.read_at(stream, read, memory, offset)
    stream.synchronize()
    np.testing.assert_array_equal(read, data[offset : offset + size])
    executor.write_at(stream, memory, data[:size].copy(), offset)
    data[offset : offset + size] = data[:size].copy()
    whole = np.zeros(256, np.uint8)
    stream.memcpy_d2h(whole, memory)
    stream.synchronize()
    np.testing.assert_array_equal(whole, data)
    executor.deallocate(memory)


def test_foreign_memory_is_used_or_declined(client: Client, executor: StreamExecutor, target: TargetConfig) -> None:
    """Immutable arrays have the right values on the device, whether it uses their memory or copies it."""
    alignment = target.alignment.allocation
    raw = np.empty(1024 + alignment, np.uint8)
    start = -raw.__array_interface__["data"][0] % alignment
    array = raw[start : start + 1024].view(np.float32)
    array[:] = np.arange(256)
    for given in (array, array[1:], array[:0]):
        buffer = client.buffer_from_host(given, immutable=True)
        np.testing.assert_array_equal(np.asarray(buffer), given)
        shared = given is array and executor.wrap_memory(array.__array_interface__["data"][0], 1024) is not None
        assert np.shares_memory(np.asarray(buffer), given) == shared
