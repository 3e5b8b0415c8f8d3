"""Asynchronous runs: order, memory, errors, interruption, threads, a fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import xla_core
from tests.xla_core.runtime import programs
from xla_core.errors import (
    InternalError,
)

A = np.arange(4, dtype=np.float32)
B = np.ones(4, np.float32)


@pytest.fixture
def gated(client, monkeypatch):
    """A program that waits for a gate."""
    exe = client.compile(programs.add())
    gate = threading.Event()
    monkeypatch.setattr(exe.executable, "gate", gate, raising=False)
    yield exe, gate
    gate.set()
    client.synchronize()


def test_execution_returns_at_once_and_results_wait(client, gated) -> None:
    exe, gate = gated
    (first,) = exe(A, B)
    (second,) = exe(first, B)
    assert not second.is_ready()
    assert "not ready" in repr(second)
    other = client.compile(programs.negate(), xla_core.CompileOptions(device_assignment=((1,),)))
    assert np.asarray(other(A)[0]).tolist() == [0, -1, -2, -3]  # the other device is free meanwhile
    threading.Timer(0.05, gate.set).start()
    assert np.asarray(second).tolist() == [2, 3, 4, 5]
    assert second.is_ready()


def test_memory_returns_after_the_last_reader(client, gated) -> None:
    exe, gate = gated
    array = np.full(4, 5, np.float32)
    argument = client.buffer_from_host(array)
    (result,) = exe(argument, B)
    argument.delete()
    others = [client.buffer_from_host(np.full(4, 99, np.float32)) for _ in range(5)]
    gate.set()
    assert np.asarray(result).tolist() == [6, 6, 6, 6]
    assert all(np.asarray(o).tolist() == [99] * 4 for o in others)


def test_reading_while_the_buffer_is_deleted(client, gated) -> None:
    exe, gate = gated
    (result,) = exe(A, B)
    values: list[object] = []

    def read() -> None:
        values.append(np.asarray(result).tolist())

    thread = threading.Thread(target=read)
    thread.start()
    time.sleep(0.05)
    gate.set()
    thread.join()
    assert values == [[1, 2, 3, 4]]


def test_an_error_reaches_every_dependent_and_nobody_else(client, monkeypatch) -> None:
    bad, good = client.compile(programs.add()), client.compile(programs.add())
    other = client.compile(programs.negate(), xla_core.CompileOptions(device_assignment=((1,),)))
    cause = ValueError("first")
    monkeypatch.setattr(bad.executable, "failure", cause, raising=False)
    for microseconds in (1.0, float("inf")):
        monkeypatch.setattr(bad.executable, "microseconds", microseconds, raising=False)
        (broken,) = bad(A, B)
        (next_,) = good(broken, B)
        (last,) = good(next_, broken)
        (fine,) = good(A, B)
        for buffer in (broken, next_, last):
            with pytest.raises(InternalError, match="first") as caught:
                np.asarray(buffer)
            assert caught.value.__cause__ is cause
            with pytest.raises(InternalError, match="first"):
                buffer.block_until_ready()
        with pytest.raises(InternalError, match="first"):
            np.asarray(other(last.copy_to_device(client.devices[1]))[0])
        assert np.asarray(fine).tolist() == [1, 2, 3, 4]


def test_control_c_while_waiting_leaves_the_client_usable(client, gated) -> None:
    exe, gate = gated
    (result,) = exe(A, B)
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        np.asarray(result)
    assert "the executable's delete() ends" in caught.value.__notes__[0]
    gate.set()
    assert np.asarray(result).tolist() == [1, 2, 3, 4]
    assert np.asarray(exe(A, B)[0]).tolist() == [1, 2, 3, 4]


def test_control_c_ends_a_long_compilation(client, toy, monkeypatch) -> None:
    ended: list[BaseException] = []
    started = threading.Event()

    def slow(self, module, options, executor=None):
        started.set()
        try:
            while True:
                time.sleep(0.001)
        except BaseException as error:
            ended.append(error)
            raise

    monkeypatch.setattr(toy.ToyCompiler, "run_hlo_passes", slow)

    def interrupt() -> None:
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        client.compile(programs.add())
    for _ in range(1000):
        if ended:
            break
        time.sleep(0.01)
    assert not isinstance(ended[0], Exception)  # which no pass can take for a failure of its own
    monkeypatch.undo()
    assert np.asarray(client.compile(programs.add())(A, B)[0])[0] == 1


def test_many_threads_run_one_program(client) -> None:
    exe = client.compile(programs.step(donate=False))
    failures: list[object] = []

    def work(seed: int) -> None:
        x = np.full(4, seed, np.float32)
        for _ in range(50):
            total, product = exe(A, x)
            if np.asarray(total).tolist() != (A + x).tolist() or np.asarray(product).tolist() != (A * x).tolist():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_after_a_fork_the_child_is_told(install, toy) -> None:
    source = """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        sys.path.insert(0, PATH)
        import numpy as np, toy_backend
        import xla_core.runtime.client as client_module
        from xla_core.errors import FailedPreconditionError
        from xla_core.runtime.platform_choice import open_platform
        client_module.open_devices = lambda name: open_platform("toy", toy_backend.spec())
        from xla_core.runtime import Client
        from xla_core.hlo import *
        module, main = HloModule("f"), HloComputation("main")
        module.add_computation(main, entry=True)
        main.add("negate", main.parameter(0, Shape.array(ElementType.F32)))
        client = Client()
        exe = client.compile(module)
        buffer = client.buffer_from_host(np.float32(1))
        pid = os.fork()
        if pid == 0:
            told = 0
            for use in (lambda: exe(buffer), lambda: np.asarray(buffer), lambda: client.buffer_from_host(1)):
                try:
                    use()
                except FailedPreconditionError as error:
                    told += "before a fork" in str(error)
            told += float(Client().compile(module)(2)[0]) == -2
            os._exit(told)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), float(exe(buffer)[0]))
    """
    path = repr(str(Path(__file__).parent.parent))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source).replace("PATH", path, 1)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.stdout == "4 -1.0\n", result.stderr
