"""Functions of the host that ask their own device for memory while another thread waits for some."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import xla_core as xla
from tests.backends.cpu.host_functions import X, program, register
from xla_core.errors import ResourceExhaustedError, XlaError

MIB = 1 << 20
DOUBLE = "HloModule double\nENTRY e { p = u8[3145728] parameter(0)\n ROOT r = u8[3145728] add(p, p) }"
DONATE = DOUBLE.replace("HloModule double", "HloModule donate, input_output_alias={ {}: (0, {}, may-alias) }")


@pytest.fixture(autouse=True)
def _no_limit_afterwards(client) -> Iterator[None]:
    """Other tests use the client, too."""
    yield
    client.devices[0].memory_limit = None


def fill_the_pool(client, limit: int) -> None:
    client.buffer_from_host(np.ones(4 * MIB, np.uint8)).block_until_ready().delete()
    client.devices[0].memory_limit = limit


@pytest.mark.parametrize("what", ["upload", "run", "donation", "copy"])
def test_a_function_makes_a_buffer_while_another_thread_waits_for_memory(client, what: str) -> None:
    """The thread that waits for the function must not hold a lock that the function needs."""
    waits, made = threading.Event(), threading.Event()
    buffers: list[xla.Buffer] = []

    def make(call) -> None:
        waits.wait(10)
        made.wait(0.2)  # until the main thread waits for memory
        buffers.append(client.buffer_from_host(X))
        call.results[0][...] = call.operands[0]
        made.set()

    exe = client.compile(program(register(make)))
    double, donate = client.compile(DOUBLE), client.compile(DONATE)
    x = client.buffer_from_host(X)
    p = client.buffer_from_host(np.arange(3 * MIB, dtype=np.uint8))
    shared = p.__array__()  # so that a donated argument is copied
    fill_the_pool(client, 9 * MIB)
    (result,) = exe.execute([x])
    waits.set()
    actions = {
        "upload": lambda: client.buffer_from_host(np.array(shared)),
        "run": lambda: double.execute([p])[0],
        "donation": lambda: donate.execute([p])[0],
        "copy": lambda: p.copy(),
    }
    got = np.asarray(actions[what]())
    assert made.is_set()
    np.testing.assert_array_equal(got, shared if what in ("upload", "copy") else shared + shared)
    np.testing.assert_array_equal(np.asarray(result), X + X)
    np.testing.assert_array_equal(np.asarray(buffers[0]), X)


def test_a_function_that_finds_no_memory_fails_at_once(client) -> None:
    """It would wait for another thread, which waits for the function."""
    waits = threading.Event()
    errors: list[XlaError] = []

    def make(call) -> None:
        waits.wait(10)
        waits.clear()
        waits.wait(0.2)
        try:
            client.buffer_from_host(np.ones(2 * MIB, np.uint8))
        except XlaError as error:
            errors.append(error)
        call.results[0][...] = call.operands[0]

    exe = client.compile(program(register(make)))
    x = client.buffer_from_host(X)
    fill_the_pool(client, 5 * MIB)
    (result,) = exe.execute([x])
    waits.set()
    assert client.buffer_from_host(np.ones(3 * MIB, np.uint8)).size == 3 * MIB
    np.testing.assert_array_equal(np.asarray(result), X + X)
    assert [type(error) for error in errors] == [ResourceExhaustedError]
