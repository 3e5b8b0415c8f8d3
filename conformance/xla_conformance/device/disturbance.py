"""Disturbance: what the profile stress changes around a test, and other profiles hold fixed.

Threads are delayed and switched at other times, garbage is collected, memory is in use, and other streams of the device
copy data and fail. The results of the test and of that other work have to stay right.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np

from xla_conformance.bits import require_bits
from xla_conformance.device.gates import Boom, fail
from xla_conformance.device.memories import LEAST_MEMORY
from xla_conformance.results import group_of
from xla_core.backend import StreamExecutor

_GROUPS = {"transfers", "ops", "programs"}
_FILES = {
    "test_executables_results.py",
    "test_streams_edges.py",
    "test_streams_graphs.py",
    "test_streams_schedules.py",
}
_SWITCH_SECONDS = (1e-5, 1e-4, 5e-3, 2e-2)
_DELAY_SECONDS = 4e-3  # the longest one
_PAUSE_SECONDS = 1e-2  # between two actions of a thread, on average
_LARGEST = 1 << 16  # bytes of a copy beside the test
_BLOCKS = 6
_LARGEST_BLOCK = 1 << 20  # bytes
_SHARE = 256  # a block is at most one part in so many of the device's memory: the tests may need most of it


def may_be_disturbed(file: str) -> bool:
    """Whether the tests of a file check data alone: others measure times, memory or threads."""
    return file in _FILES or group_of(file) in _GROUPS


@contextlib.contextmanager
def disturb(executor: StreamExecutor, random: np.random.Generator) -> Iterator[None]:
    """Disturbs the block by a random choice of all ways. Raises what went wrong in the work beside it."""
    ended = threading.Event()
    errors: list[Exception] = []

    def repeat(action: Callable[[np.random.Generator], None], own: np.random.Generator) -> None:
        try:
            while not ended.wait(float(own.exponential(_PAUSE_SECONDS))):
                action(own)
        except Exception as error:
            errors.append(error)

    def copy(own: np.random.Generator) -> None:
        _copy(executor, own)

    actions = [action for action in (_delay, _collect, copy, copy) if random.random() < 0.6] or [copy]
    threads = [
        threading.Thread(target=repeat, args=(action, own))
        for action, own in zip(actions, random.spawn(len(actions)), strict=True)
    ]
    with _switches(float(random.choice(_SWITCH_SECONDS))), _blocks(executor, random):
        if random.random() < 0.3:
            _fail(executor)
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join()
    if errors:
        raise errors[0]


@contextlib.contextmanager
def _switches(seconds: float) -> Iterator[None]:
    """Lets Python switch between threads at another interval."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextlib.contextmanager
def _blocks(executor: StreamExecutor, random: np.random.Generator) -> Iterator[None]:
    """Holds blocks of the device's memory, between which others were freed."""
    largest = min(_LARGEST_BLOCK, (executor.description.memory_bytes or LEAST_MEMORY) // _SHARE)
    sizes = random.integers(1, largest, int(random.integers(_BLOCKS + 1)))
    held = [memory for size in sizes if (memory := executor.allocate(int(size))) is not None]
    for memory in held[1::2]:
        executor.deallocate(memory)
    try:
        yield
    finally:
        for memory in held[::2]:
            executor.deallocate(memory)


def _delay(random: np.random.Generator) -> None:
    """Holds the interpreter, so that every other thread of Python is late."""
    end = time.monotonic() + float(random.uniform(0, _DELAY_SECONDS))
    while time.monotonic() < end:
        pass


def _collect(random: np.random.Generator) -> None:
    gc.collect(int(random.integers(3)))


def _copy(executor: StreamExecutor, random: np.random.Generator) -> None:
    """Copies data to the device and back on a stream of its own."""
    sent = random.integers(0, 256, int(random.integers(1, _LARGEST)), np.uint8)
    got = np.zeros_like(sent)
    memory = executor.allocate(sent.nbytes)
    if memory is None:  # the test uses all of it
        return
    stream = executor.create_stream()
    stream.memcpy_h2d(memory, sent)
    stream.memcpy_d2h(got, memory)
    stream.synchronize()
    error = stream.error
    stream.close()
    executor.deallocate(memory)
    if error is not None:
        raise error
    require_bits("A copy beside other work has its data.", [got], [sent], promise="stream.in-order")


def _fail(executor: StreamExecutor) -> None:
    """Lets a stream fail, and closes it as it is. Its failure is no other stream's."""
    stream = executor.create_stream()
    stream.host_callback(fail("before a test"))
    stream.synchronize()
    error = stream.error
    stream.close()
    assert isinstance(getattr(error, "__cause__", None), Boom), "A stream whose callback raised has its error."
