"""Runs whose calls of Python are short, which the thread of their caller does."""

from __future__ import annotations

import gc
import threading
import time
import types

import numpy as np
import pytest
from xla_backend_cpu.calling_convention import ContextField
from xla_backend_cpu.host_calls import HostCalls, HostRun

import xla_core as xla
from tests.backends.cpu.host_functions import X, program, register
from xla_core.errors import XlaError


@pytest.fixture
def briefly(client):
    """Compiles a program that calls a function, after a run that shows that the function is short."""

    def compile_and_run(function):
        calls = []

        def call(it):
            it.results[0][...] = it.operands[0]
            if calls.append(threading.current_thread()) or len(calls) > 2:
                function()

        executable = client.compile(program(register(call)))
        for _ in range(2):
            np.asarray(executable(X)[0])
        assert calls[0] is not threading.current_thread()  # nobody knows how long it takes
        return executable, calls

    return compile_and_run


def test_the_caller_runs_programs_with_short_calls(briefly):
    executable, calls = briefly(lambda: None)
    for number in range(20):
        np.testing.assert_array_equal(np.asarray(executable(X + number)[0]), 2 * (X + number))
    assert calls.count(threading.main_thread()) > 10


def test_the_caller_runs_no_programs_with_long_calls(client):
    threads = []
    executable = client.compile(
        program(register(lambda call: threads.append(threading.current_thread()) or time.sleep(0.005)))
    )
    for _ in range(4):
        np.asarray(executable(X)[0])
    assert threading.main_thread() not in threads


@pytest.mark.timeout(60)
def test_a_short_call_in_the_caller_may_wait_for_another_thread_that_uses_the_device(client, briefly):
    double = client.compile("HloModule d\nENTRY e { x = f32[3,4] parameter(0)  ROOT y = f32[3,4] add(x, x) }")
    made = []

    def wait():
        thread = threading.Thread(target=lambda: made.append((client.buffer_from_host(X), double(X)[0])))
        thread.start()
        thread.join()

    executable, calls = briefly(wait)
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(executable(X)[0]), 2 * X)
    for uploaded, doubled in made:
        np.testing.assert_array_equal(2 * np.asarray(uploaded), np.asarray(doubled))
    assert len(made) == 3
    assert threading.main_thread() in calls


def test_what_a_call_in_the_caller_raises_is_an_error_of_the_results(client, briefly):
    executable, _ = briefly(lambda: 1 / 0)
    for _ in range(3):
        results = executable(X)
        with pytest.raises(XlaError, match="ZeroDivisionError"):
            np.asarray(results[0])


def test_an_interrupt_of_a_call_in_the_caller_is_raised_there(client, briefly):
    def interrupt():
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    executable, _ = briefly(interrupt)
    before = client.devices[0].memory_stats().bytes_in_use

    def run_often():
        for _ in range(50):
            np.asarray(executable(X)[0])

    with pytest.raises(KeyboardInterrupt):
        run_often()
    double = client.compile("HloModule d\nENTRY e { x = f32[3,4] parameter(0)  ROOT y = f32[3,4] add(x, x) }")
    np.testing.assert_array_equal(np.asarray(double(X)[0]), X + X)
    assert client.devices[0].memory_stats().bytes_in_use == before


def test_few_of_many_runs_that_wait_are_kept_for_later_ones(client):
    gate = threading.Event()
    executable = client.compile(program(register(lambda call: gate.wait(30) and call.results[0].fill(1))))
    before = _count_runs()
    results = [executable(X)[0] for _ in range(200)]
    gate.set()
    for result in results:
        np.testing.assert_array_equal(np.asarray(result), X + 1)
    assert _count_runs() - before < 50


def _count_runs():
    gc.collect()
    return sum(isinstance(thing, HostRun) for thing in gc.get_objects())


def test_a_run_that_is_cancelled_when_it_has_ended_serves_no_later_one():
    calls = HostCalls(xla.parse("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }"), (), 1.0)
    options = types.SimpleNamespace(replica_id=0, partition_id=0)
    with calls.begin(options) as run:
        (seen,) = calls.live  # by `cancel`, in another thread
    assert calls.begin(options) is run
    with run:
        pass
    seen.context[ContextField.CANCELLED] = 1
    assert calls.begin(options).context[ContextField.CANCELLED] == 0
