"""What must not crash or hang: many executables and threads, and processes that end at a bad moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from tests.xla_core.pjrt.host import Host
from xla_core.pjrt.handles import live_handles

pytest.importorskip("jax")

X = np.arange(4, dtype=np.float32)


def program(number: int) -> str:
    return f"""
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.constant dense<{float(number)}> : tensor<4xf32>
  %1 = stablehlo.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}}"""


def compile_and_run(host: Host, numbers: range, failures: list[object]) -> None:
    try:
        for number in numbers:
            x, executable = host.upload(X), host.compile(program(number))
            for _ in range(5):
                (result,) = host.execute(executable, [x], 1)
                if not np.array_equal(host.download(result, np.float32), X + number):
                    failures.append(number)
                host.call("Buffer_Destroy", buffer=result)
            host.call("Buffer_Destroy", buffer=x)
            host.call("LoadedExecutable_Destroy", executable=executable)
    except Exception as error:
        failures.append(error)


@pytest.mark.parametrize("each", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_threads_compile_and_run(each: int) -> None:
    host, failures = Host("cpu"), list[object]()
    before = live_handles()
    threads = [
        threading.Thread(target=compile_and_run, args=(host, range(each * n, each * (n + 1)), failures))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(500)
    assert failures == []
    assert live_handles() == before


def mappings_and_descriptors() -> tuple[int, int]:
    with open("/proc/self/maps") as file:
        return sum(1 for _ in file), len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_executables_are_alive(count: int) -> None:
    """Each takes few mappings of memory, of which Linux allows a process 65,530, and no file descriptor."""
    host = Host("cpu")
    before = live_handles()
    x = host.upload(X)
    host.call("LoadedExecutable_Destroy", executable=host.compile(program(-1)))
    mappings, descriptors = mappings_and_descriptors()
    executables = [host.compile(program(number)) for number in range(count)]
    with_all = mappings_and_descriptors()
    assert with_all[0] - mappings <= 4 * count + 20
    assert with_all[1] <= descriptors + 5
    for _ in range(3):
        for number, executable in enumerate(executables):
            (result,) = host.execute(executable, [x], 1)
            assert np.array_equal(host.download(result, np.float32), X + number)
            host.call("Buffer_Destroy", buffer=result)
    for executable in executables:
        host.call("LoadedExecutable_Destroy", executable=executable)
    host.call("Buffer_Destroy", buffer=x)
    assert live_handles() == before


@pytest.mark.parametrize("count", [2_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_calls_leave_nothing_behind(count: int) -> None:
    host = Host("cpu")
    executable, x = host.compile(program(1)), host.upload(X)

    def call() -> None:
        (result,) = host.execute(executable, [x], 1)
        y = host.upload(X)
        host.call("Buffer_IncreaseExternalReferenceCount", buffer=result)
        host.call("Buffer_DecreaseExternalReferenceCount", buffer=result)
        host.call("Buffer_Destroy", buffer=result)
        host.call("Buffer_Destroy", buffer=y)

    def resident_bytes() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(500):
        call()
    handles, memory = live_handles(), resident_bytes()
    for _ in range(count):
        call()
    assert live_handles() == handles
    assert resident_bytes() - memory < 4 << 20


# A short program, and one that takes some tenths of a second.
_JAX = """
import os, signal, sys, threading
import jax, jax.numpy as jnp, numpy as np
short = jax.jit(lambda x: x + 1)
long = jax.jit(lambda x: jax.lax.fori_loop(0, 30_000, lambda i, v: jnp.sin(v) + 1, x))
x = jnp.arange(1000.0)
def work():
    while True:
        np.asarray(short(x))
short(x).block_until_ready()
long.lower(x).compile()
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    text = textwrap.dedent(_JAX) + textwrap.dedent(code)
    environment = os.environ | {"JAX_PLATFORMS": "xla_cpu,cpu"}
    return subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


_START_THREADS = """
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
"""


@pytest.mark.parametrize("end", ["", pytest.param("sys.exit(0)", marks=pytest.mark.slow)])
def test_a_process_ends_while_programs_run(end: str) -> None:
    """Without threads that use JAX, because jaxlib aborts where a daemon thread is inside of it, on its own CPU too."""
    done = run(f"""
        results = [long(x) for _ in range(2)], [short(x) for _ in range(9)]
        view = np.asarray(short(x))
        {end}
        """)
    assert done.returncode == 0, done.stderr


def test_a_process_ends_at_once_while_threads_run() -> None:
    done = run(_START_THREADS + "results = [long(x) for _ in range(2)]\nos._exit(0)")
    assert done.returncode == 0, done.stderr


def test_a_killed_process_is_gone() -> None:
    done = run(_START_THREADS + "results = [long(x) for _ in range(2)]\nos.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL


def test_a_child_of_a_fork_ends_and_the_parent_goes_on() -> None:
    done = run("""
        import warnings
        warnings.simplefilter("ignore")
        threading.Thread(target=work, daemon=True).start()
        result = long(x)
        child = os.fork()
        if not child:
            try:
                np.asarray(short(x))
            except Exception as error:
                os._exit(0 if "fork" in str(error) else 3)
            os._exit(4)
        status = os.waitpid(child, 0)[1]
        assert status == 0, status
        assert np.isfinite(np.asarray(result)).all()
        assert np.array_equal(np.asarray(short(x)), np.asarray(x) + 1)
        os._exit(0)
        """)
    assert done.returncode == 0, done.stderr


def test_exceptions_in_finalizers_disturb_nothing() -> None:
    done = run("""
        class Fragile:
            def __init__(self):
                self.array = short(x)
            def __del__(self):
                self.array = None
                raise ValueError("in a finalizer")
        sys.unraisablehook = lambda unraisable: None
        for _ in range(200):
            Fragile()
        def fail():
            arrays = [short(x), jax.device_put(np.ones(3)), long(x)]
            raise KeyError("with arrays in its frame")
        for _ in range(2):
            try:
                fail()
            except KeyError:
                pass
        assert np.array_equal(np.asarray(short(x)), np.asarray(x) + 1)
        left = [Fragile() for _ in range(3)]
        """)
    assert done.returncode == 0, done.stderr
