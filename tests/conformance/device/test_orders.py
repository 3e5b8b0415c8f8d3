"""The order of work on several streams, and which promises a failure names where bytes are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.device.bench import DeviceBench
from xla_conformance.device.gates import Gate
from xla_conformance.device.orders import EVENT, HOST, IN_ORDER, WAIT, Orders, described, listed, narrowed
from xla_conformance.device.schedules import chain
from xla_conformance.failures import Failure

from tests.conformance.zoo.parts import Stream, template


class RecordsEarly(Stream):
    def record(self, event):
        event.arm(self).complete(self._error)


class IgnoresWaits(Stream):
    def wait(self, event):
        pass


class ReturnsEarly(Stream):
    def synchronize(self):
        pass


class FillsAtOnce(Stream):
    def memset(self, destination, value):
        self.fill(destination, value)


class SendsZeros(Stream):
    def memcpy_h2d(self, destination, source):
        super().memcpy_h2d(destination, np.zeros_like(source))


@pytest.mark.parametrize(
    ("stream", "way", "hop", "promises"),
    [
        (RecordsEarly, "h2d", True, EVENT),
        (IgnoresWaits, "h2d", True, f"{IN_ORDER} {EVENT} {WAIT}"),
        (ReturnsEarly, "h2d", False, HOST),
        (ReturnsEarly, "h2d", True, HOST),
        (FillsAtOnce, "memset", False, IN_ORDER),
        (FillsAtOnce, "memset", True, f"{IN_ORDER} {EVENT} {WAIT}"),
    ],
)
def test_a_failure_names_the_promise_that_may_be_broken(stream: type, way: str, hop: bool, promises: str) -> None:
    executor = template(stream=stream).platform().executor(0)
    bench = DeviceBench(executor, np.random.default_rng(0), 3 if hop else 1, [64] * 5)
    with pytest.raises(Failure) as found:
        chain(bench, 60, way, hop=hop, gate=Gate())
    assert found.value.promise == promises, str(found.value)
    assert str(found.value).startswith(described(promises.split()))


@pytest.mark.parametrize("hop", [False, True])
def test_right_streams_have_no_failure(hop: bool) -> None:
    bench = DeviceBench(template().platform().executor(0), np.random.default_rng(0), 3 if hop else 1, [64] * 5)
    chain(bench, 60, "h2d", hop=hop)
    bench.close()


@pytest.mark.parametrize("promises", [{EVENT, WAIT}, {HOST, EVENT, WAIT}])
def test_wrong_bytes_that_never_come_are_no_early_event(promises: set[str]) -> None:
    executor = template(stream=SendsZeros).platform().executor(0)
    assert narrowed(promises, executor) == {EVENT, WAIT}


def test_an_order_by_the_host_alone_is_named_so() -> None:
    executor = template().platform().executor(0)
    assert narrowed({IN_ORDER, HOST}, executor) == {IN_ORDER, HOST}


def test_what_comes_after_what() -> None:
    orders = Orders(3)
    first = orders.next_place(0)
    assert orders.is_after(0, first)
    assert not orders.is_after(1, first)
    assert not orders.is_after(orders.host, first)
    orders.learn(1, 0, EVENT)
    second = orders.next_place(1)
    orders.learn(2, 1, WAIT)
    assert orders.reasons(0, first) == {IN_ORDER}
    assert orders.reasons(2, second) == {WAIT}
    assert orders.reasons(2, first) == {EVENT, WAIT}
    later = orders.next_place(0)
    assert not orders.is_after(2, later)
    orders.learn(orders.host, 0, HOST)
    assert not orders.is_after(2, later)
    orders.tell_streams()
    assert orders.reasons(2, later) == {HOST}
    assert orders.reasons(2, first) == {HOST}


def test_promises_in_words() -> None:
    assert listed({WAIT, IN_ORDER}) == "stream.in-order stream.wait"
    assert described({EVENT}) == "An event is ready once all work before it is done"
    assert described({EVENT, WAIT, IN_ORDER}) == (
        "A stream is an in-order queue, an event is ready once all work before it is done, and a stream that waits for an "
        "event does later work after it"
    )
