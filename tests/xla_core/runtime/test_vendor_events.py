"""Events that belong to a driver: none is used after it was closed, and all are closed."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import xla_core
from xla_core.errors import InternalError, InvalidArgumentError

PLUGIN = Path(__file__).parents[1] / "backend" / "frozen" / "contract_1_1.py"
NEGATE = "HloModule m\n\nENTRY e {\n  p = f32[1024] parameter(0)\n  ROOT n = f32[1024] negate(p)\n}\n"
A = np.arange(1024, dtype=np.float32)


@pytest.fixture
def vendor(install):
    install("vendor", "vendor", PLUGIN.read_text())
    with xla_core.Client("vendor") as client:
        yield client, sys.modules["plugin_vendor"].Driver


def test_a_driver_sees_no_event_left(vendor) -> None:
    client, driver = vendor
    exe = client.compile(NEGATE)
    for _ in range(20):
        (out,) = exe(A)
        copy_ = out.copy_to_device(client.devices[1])
        assert np.asarray(copy_)[3] == -3
    del out, copy_
    client.synchronize()
    for device in client.devices:
        device.memory_stats()  # looks at what was freed while other streams used it
    gc.collect()
    assert driver.events == 0
    assert driver.used_after_close == 0


def test_buffers_in_a_reference_cycle_use_no_closed_event(vendor) -> None:
    client, driver = vendor
    exe = client.compile(NEGATE)
    for _ in range(20):
        buffer = client.buffer_from_host(A)
        (out,) = exe(buffer)
        np.asarray(out)

        class Node:
            pass

        node = Node()
        node.me, node.buffers = node, [buffer, out, client.buffer_from_host(A)]
        node.event = out.definition_event
        del buffer, out, node
        gc.collect()
    client.synchronize()
    for device in client.devices:
        device.memory_stats()
    gc.collect()
    assert (driver.events, driver.used_after_close) == (0, 0)


def test_the_default_of_when_ready_calls_off_the_devices_thread(vendor) -> None:
    client, _ = vendor
    gate, called = threading.Event(), threading.Event()
    found: list[object] = []
    stream = client.devices[0].compute_stream
    stream.host_callback(lambda: gate.wait(10))
    event = stream.create_event()
    stream.record(event)

    def callback(error) -> None:
        found.append((error, threading.current_thread().name))
        called.set()

    event.when_ready(callback)
    assert not called.wait(0.05)
    gate.set()
    assert called.wait(10)
    assert found == [(None, "xla event callbacks")]
    stream.recover()
    failed = client.error_buffer(InternalError("upstream"), xla_core.Shape(xla_core.ElementType.F32, (2,)))
    called.clear()
    failed.when_ready(callback)
    assert called.wait(10)
    assert "upstream" in str(found[1][0])


def test_copies_share_and_pickle_refuses(client) -> None:
    exe = client.compile(NEGATE)
    buffer = client.buffer_from_host(A)
    for thing, instead in ((buffer, "np.asarray"), (exe, "serialize"), (client, "make a Client")):
        assert copy.copy(thing) is thing
        assert copy.deepcopy([thing])[0] is thing
        with pytest.raises(InvalidArgumentError, match="cannot be pickled") as caught:
            pickle.dumps(thing)
        assert instead in str(caught.value)


def test_copies_share_what_a_backend_owns(vendor) -> None:
    client, driver = vendor
    device = client.devices[0]
    exe, buffer = client.compile(NEGATE), client.buffer_from_host(A)
    (out,) = exe(buffer)
    owned = [device.compute_stream.create_event(), device.compute_stream, device.executor, device.allocator]
    owned += [device, client.platform, exe.executable, buffer.memory]
    for thing in owned:
        assert copy.copy(thing) is thing
        assert copy.deepcopy([thing])[0] is thing
        with pytest.raises(InvalidArgumentError, match="cannot be pickled"):
            pickle.dumps(thing)
    owned.clear()
    del thing, out, buffer
    client.synchronize()
    device.memory_stats()
    gc.collect()
    assert (driver.events, driver.used_after_close) == (0, 0)
