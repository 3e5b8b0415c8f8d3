"""The emulated device, whose streams are threads."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted
from xla_backend_gpu.emulated_driver import EmulatedDriver

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
