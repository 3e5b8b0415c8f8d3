"""The emulated device, whose streams are threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted
from xla_backend_gpu.driver import LaunchArguments
from xla_backend_gpu.emulated_driver import EmulatedDriver
from xla_backend_gpu.kernel import DeviceCode

from xla_core import CompileOptions, profiler
from xla_core.errors import CancelledError, InvalidArgumentError

BRANCHES = """HloModule branches

ENTRY e {
  x = f32[20000] parameter(0)
  y = f32[30000] parameter(1)
  a = f32[20000] negate(x)
  b = f32[30000] negate(y)
  ROOT t = (f32[20000], f32[30000]) tuple(a, b)
}
"""


def test_launches_on_two_streams_are_all_counted(client) -> None:
    executable = client.compile(BRANCHES)
    arguments = [client.buffer_from_host(np.ones(n, np.float32)) for n in (20000, 30000)]
    with counted(client) as count:
        for _ in range(300):
            executable(*arguments)
    assert count.counters.launches == 2 * 300


def test_a_timeline_names_each_instruction_of_those_that_share_a_kernel(client) -> None:
    program = BRANCHES.replace("30000", "20000")
    executable = client.compile(program, CompileOptions(keep_artifacts=True))
    assert executable.artifacts()["ptx"].count(".entry") == 1
    with profiler.trace() as recorded:
        executable(*[np.ones(20000, np.float32)] * 2)
        client.synchronize()
    names = [event["name"] for event in recorded.to_chrome_trace()["traceEvents"]]
    assert [names.count(name) for name in ("a", "b")] == [1, 1]


AFTER_MAIN = """
import threading
import numpy as np
import xla_core as xla

client = xla.Client("gpu")
exe = client.compile({program!r})

def work():
    threading.main_thread().join()
    large, small = exe(np.ones(20000, np.float32), np.ones(30000, np.float32))
    print(np.asarray(large)[0], np.asarray(small)[-1])

threading.Thread(target=work).start()
"""


def test_a_program_runs_after_the_main_thread_ended() -> None:
    script = AFTER_MAIN.format(program=BRANCHES)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "-1.0 -1.0\n", done.stderr


def test_a_library_is_opened_once_by_all_threads() -> None:
    class Slow(EmulatedDriver):
        opened = 0

        def open_blas(self) -> None:
            self.opened += 1
            time.sleep(0.05)

    driver = Slow(1 << 20)
    assert not driver.has_opened_blas
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: driver.blas, range(4))) == [None] * 4
    assert driver.has_opened_blas
    assert driver.opened == 1
    driver.close_blas()
    assert not driver.has_opened_blas


class Recording(EmulatedDriver):
    """Records which threads do its work."""

    def __init__(self) -> None:
        super().__init__(1 << 20)
        self.threads: list[int] = []

    def _run(self, work) -> None:
        self.threads.append(threading.get_ident())
        super()._run(work)


INFINITY = float("inf")

NEGATE = "HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] negate(x)\n}\n"


def test_the_caller_does_short_work_of_an_idle_stream(client) -> None:
    driver, here = Recording(), threading.get_ident()
    stream = driver.create_stream(client.devices[0].executor)
    (kernel,) = driver.load(client.compile(NEGATE).artifacts()["ptx"], "fast").values()
    source, result = driver.allocate(32), driver.allocate(32)
    launch = LaunchArguments((1, 1, 1), (32, 1, 1), 0, (source, result))
    values = np.arange(8, dtype=np.float32)
    try:
        driver.write(stream, source, values.view(np.uint8))
        assert driver.is_idle(stream)
        assert driver.threads == [here]
        driver.launch(stream, kernel, launch)
        assert driver.reached(driver.record(stream), INFINITY)
        assert driver.threads[-1] != here, "The first launch compiles the kernel."
        for _ in range(50):  # a busy machine may measure one launch as long
            driver.launch(stream, kernel, launch)
            assert driver.reached(driver.record(stream), INFINITY)
        assert here in driver.threads[2:]
        read = np.empty(32, np.uint8)
        driver.read(stream, read, result)
        np.testing.assert_array_equal(read.view(np.float32), -values)
    finally:
        driver.close_stream(stream)


@pytest.mark.parametrize("engine", ["fast", "checked"])
def test_a_kernel_is_launched_again_with_each_of_its_arguments(client, engine) -> None:
    driver = EmulatedDriver(1 << 20)
    stream = driver.create_stream(client.devices[0].executor)
    (kernel,) = driver.load(client.compile(NEGATE).artifacts()["ptx"], engine).values()
    pairs = [(driver.allocate(32), driver.allocate(32)) for _ in range(10)]
    read = np.empty(32, np.uint8)
    try:
        for turn in range(3):
            for number, (source, result) in enumerate(pairs):
                values = np.arange(8, dtype=np.float32) + 100 * number + turn
                driver.write(stream, source, values.view(np.uint8))
                for _ in range(2):
                    driver.fill(stream, result, 0, 32)
                    driver.launch(stream, kernel, LaunchArguments((1, 1, 1), (32, 1, 1), 0, (source, result)))
                    driver.read(stream, read, result)
                    np.testing.assert_array_equal(read.view(np.float32), -values)
        assert driver.counters.launches == 60
    finally:
        driver.close_stream(stream)


def test_code_that_was_launched_does_not_keep_a_device_s_memory(client) -> None:
    code = DeviceCode(client.compile(NEGATE).artifacts()["ptx"], "fast")
    driver = EmulatedDriver(1 << 20)
    stream = driver.create_stream(client.devices[0].executor)
    address = driver.allocate(32)
    driver.launch(stream, code.function(driver, "y"), LaunchArguments((1, 1, 1), (32, 1, 1), 0, (address, address)))
    driver.close_stream(stream)
    driver.free(address)
    memory = weakref.ref(driver.memory)
    del driver, stream
    gc.collect()
    assert memory() is None


def test_the_device_outlives_a_launch_that_is_refused(client) -> None:
    driver = EmulatedDriver(1 << 20)
    stream = driver.create_stream(client.devices[0].executor)
    (kernel,) = driver.load(client.compile(NEGATE).artifacts()["ptx"], "fast").values()
    source, result = driver.allocate(32), driver.allocate(32)
    try:
        driver.fill(stream, source, 0, 32)
        with pytest.raises(InvalidArgumentError, match="of shared memory; a block has"):
            driver.launch(stream, kernel, LaunchArguments((1, 1, 1), (32, 1, 1), 1 << 18, (source, result)))
        driver.launch(stream, kernel, LaunchArguments((1, 1, 1), (32, 1, 1), 1 << 10, (source, result)))
        assert driver.reached(driver.record(stream), INFINITY)
    finally:
        driver.close_stream(stream)


def test_long_copies_are_the_streams_own(client) -> None:
    driver, here = Recording(), threading.get_ident()
    stream = driver.create_stream(client.devices[0].executor)
    address = driver.allocate(1 << 19)
    try:
        driver.fill(stream, address, 7, 1 << 19)
        assert driver.reached(driver.record(stream), INFINITY)
        assert here not in driver.threads
    finally:
        driver.close_stream(stream)


def test_a_stream_goes_on_after_an_interrupted_call(client) -> None:
    driver = EmulatedDriver(1 << 20)
    stream = driver.create_stream(client.devices[0].executor)
    address = driver.allocate(4)
    view = driver.memory.view

    def interrupted(address: int, size: int) -> np.ndarray:
        raise KeyboardInterrupt

    try:
        driver.memory.view = interrupted
        with pytest.raises(KeyboardInterrupt):
            driver.fill(stream, address, 7, 4)
        driver.memory.view = view
        assert isinstance(stream.error, CancelledError)
        driver.recover(stream)
        driver.fill(stream, address, 9, 4)
        assert driver.reached(driver.record(stream), INFINITY)
        assert view(address, 4).tolist() == [9] * 4
    finally:
        driver.close_stream(stream)
