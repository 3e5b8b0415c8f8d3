"""A client that is dropped without `close` closes its devices, once nothing of them is left."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("xla_backend_template")
pytest.importorskip("xla_backend_cpu")

from xla_backend_template.executor import TemplateExecutor, TemplateStream

import xla_core as xla
from xla_core.errors import ResourceExhaustedError, UnavailableError
from xla_core.runtime import open_devices

DOUBLE = "HloModule double\nENTRY e { x = f32[4] parameter(0)\n ROOT y = f32[4] add(x, x) }"
ONES = np.ones(4, np.float32)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How often each stream and each executor was closed, by its id."""
    gc.collect()  # earlier tests may have left clients in reference cycles, whose closes are not for this test
    open_devices.wait_until_opening()
    counts: Counter[int] = Counter()
    kept = []
    for kind in (TemplateExecutor, TemplateStream):

        def close(self, close=kind.close) -> None:
            kept.append(self)  # so that no other object gets its id
            counts[id(self)] += 1
            close(self)

        monkeypatch.setattr(kind, "close", close)
    return counts


def wait_for(condition) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    return condition()


def test_devices_are_closed_with_the_last_that_uses_them(closed: Counter[int]) -> None:
    client = xla.Client("template")
    count = 4 * len(client.devices)  # streams and executors
    executable = client.compile(DOUBLE)
    buffer = client.buffer_from_host(ONES)
    host = buffer.copy_to_device(client.devices[0].host_memory)
    del client
    gc.collect()
    (result,) = executable.execute([buffer])
    np.testing.assert_array_equal(np.asarray(result), 2 * ONES)
    del executable, buffer, result
    gc.collect()
    np.testing.assert_array_equal(np.asarray(host), ONES)
    assert not closed
    del host
    assert wait_for(lambda: len(closed) == count)
    assert set(closed.values()) == {1}


class Left:
    """A client in a reference cycle, as the traceback of a failed test leaves it."""

    def __init__(self) -> None:
        self.itself, self.client = self, xla.Client("template")


@pytest.fixture
def left() -> None:
    gc.collect()
    gc.disable()  # no collection may come between this fixture and the next
    Left()
    gc.enable()


def test_clients_of_earlier_tests_are_not_counted(left: None, closed: Counter[int]) -> None:
    gc.collect()
    open_devices.wait_until_opening()
    assert not closed


def test_nobody_waits_for_devices_that_no_thread_can_close(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = []

    def refuse(thread: threading.Thread) -> None:
        raise ResourceExhaustedError(f"no thread can be started for {thread.name}")

    monkeypatch.setattr(open_devices, "start_thread", refuse)
    monkeypatch.setattr(sys, "excepthook", lambda _, error, __: failures.append(str(error)))
    client = xla.Client("template")
    del client
    assert wait_for(lambda: bool(failures))
    assert "no thread can be started for close template" in failures[0]
    start = time.monotonic()
    xla.Client("template").close()
    assert time.monotonic() - start < open_devices._OPENING_SECONDS / 2


def test_a_stream_that_comes_while_others_are_closed_is_closed_too() -> None:
    parts: list[open_devices.Closable] = []
    closed = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)
            if len(closed) == 1:
                parts.insert(0, Part("further"))

    parts += [Part("first"), Part("last")]
    open_devices.close_all(parts)
    assert closed == ["first", "further", "last"]


def test_an_array_over_a_buffer_keeps_its_device_open() -> None:
    """The device may free all its memory when it is closed."""
    client = xla.Client("cpu")
    devices = client.devices
    array = np.asarray(client.buffer_from_host(ONES))
    allocator = devices[0].allocator
    del client, devices
    gc.collect()
    assert allocator.stats().bytes_in_use
    np.testing.assert_array_equal(array, ONES)
    del array
    assert wait_for(lambda: not allocator.stats().bytes_reserved)


def test_a_closed_client_is_not_closed_again(closed: Counter[int]) -> None:
    client = xla.Client("template")
    client.close()
    del client
    gc.collect()
    xla.Client("template").close()  # waits for what is being closed
    assert set(closed.values()) == {1}


def test_an_exclusive_device_can_be_opened_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: set[int] = set()
    make, close = TemplateExecutor.__init__, TemplateExecutor.close

    def open_once(self, ordinal: int, *rest) -> None:
        if ordinal in opened:
            raise UnavailableError(f"device {ordinal} is in use")
        make(self, ordinal, *rest)
        opened.add(ordinal)

    def give_up(self) -> None:
        time.sleep(0.1)
        close(self)
        opened.discard(self.ordinal)

    monkeypatch.setattr(TemplateExecutor, "__init__", open_once)
    monkeypatch.setattr(TemplateExecutor, "close", give_up)
    client = xla.Client("template")
    with pytest.raises(UnavailableError, match="is in use"):
        xla.Client("template")
    del client
    gc.collect()
    xla.Client("template").close()
    assert not opened


def test_a_stream_may_drop_the_last_reference(closed: Counter[int]) -> None:
    """The finalizer runs in the thread that it must wait for."""
    client = xla.Client("template")
    count = 4 * len(client.devices)
    last = [client]
    go = threading.Event()

    def drop() -> None:
        go.wait(20)
        last.clear()
        gc.collect()

    client.devices[0].compute_stream.host_callback(drop)
    del client
    go.set()
    assert wait_for(lambda: len(closed) == count)


@pytest.mark.parametrize("end", ["", "del client, result; gc.collect()", "client.keep = client; del client, result"])
def test_the_process_ends_in_order_after_a_client_was_dropped(end: str) -> None:
    text = f"""
import gc, os, sys
import numpy as np
import xla_core as xla
from xla_backend_template.executor import TemplateExecutor

client = xla.Client("template")
(result,) = client.compile({DOUBLE!r})(np.ones(4, np.float32))
child = os.fork()
if not child:
    TemplateExecutor.close = lambda self: print("closed in the child", flush=True)
    del client, result
    gc.collect()
    os._exit(0)
os.waitpid(child, 0)
{end}
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
