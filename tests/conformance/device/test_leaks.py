"""The suite's search for leaks finds one small block a run, beside threads that start and end.

Each test has a process of its own, as the suite's tests have: threads and garbage of other tests would count.
"""

from __future__ import annotations

import collections
import ctypes
import gc
import itertools
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable

import pytest
from xla_conformance.device.leaks import require_nothing_left
from xla_conformance.device.processes import own_temporary_folder

from tests.fresh_process import in_fresh_process
from xla_core import Client

pytest.importorskip("xla_backend_template")

RUNS = 100


def _with_threads(leak: Callable[[], object]) -> Callable[[], None]:
    """Work of which each second round starts threads and each other one ends them."""
    runs = itertools.count()
    waiting: list[tuple[threading.Thread, threading.Event]] = []

    def work() -> None:
        leak()
        number = next(runs) - RUNS // 3
        if number % RUNS == RUNS - 1 and waiting:
            for thread, event in waiting:
                event.set()
                thread.join()
            waiting.clear()
        elif number % RUNS == RUNS - 1:
            for _ in range(4):
                event = threading.Event()
                thread = threading.Thread(target=event.wait, daemon=True)
                thread.start()
                waiting.append((thread, event))

    return work


@in_fresh_process
def test_a_block_of_the_c_library_that_each_run_leaves_is_found() -> None:
    malloc = ctypes.CDLL(None).malloc
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    with Client("template") as client, pytest.raises(AssertionError, match="bytes of the C library"):
        require_nothing_left(client, lambda: malloc(64), "doing nothing", runs=RUNS)


@in_fresh_process
def test_temporary_files_that_runs_leave_are_found() -> None:
    folder = own_temporary_folder()
    try:
        with Client("template") as client, pytest.raises(AssertionError, match="temporary files"):
            require_nothing_left(client, lambda: os.close(tempfile.mkstemp()[0]), "doing nothing", runs=RUNS)
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
@in_fresh_process
def test_processes_that_runs_leave_are_found() -> None:
    runs = itertools.count()
    started: list[subprocess.Popen[bytes]] = []

    def work() -> None:
        if next(runs) % 50 == 0:
            started.append(subprocess.Popen(["sleep", "1000"]))

    try:
        with Client("template") as client, pytest.raises(AssertionError, match="child processes"):
            require_nothing_left(client, work, "doing nothing", runs=RUNS)
    finally:
        for process in started:
            process.kill()


@in_fresh_process
def test_threads_that_end_hide_no_leak() -> None:
    malloc = ctypes.CDLL(None).malloc
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    held: list[object] = []

    def leak() -> None:
        held.append(malloc(64))

    with Client("template") as client, pytest.raises(AssertionError, match="bytes of the C library"):
        require_nothing_left(client, _with_threads(leak), "doing nothing", runs=RUNS)


@pytest.mark.slow
@in_fresh_process
def test_threads_that_end_behind_their_round_hide_no_leak() -> None:
    """On a busy machine a thread that was told to end is there for a while, now one and now several of them."""
    malloc = ctypes.CDLL(None).malloc
    malloc.argtypes, malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    runs = itertools.count()
    ends: list[threading.Event] = []

    def wait(end: threading.Event, seconds: float) -> None:
        end.wait()
        time.sleep(seconds)

    def work() -> None:
        malloc(64)
        number, run = divmod(next(runs) - RUNS // 3, RUNS)
        if run == RUNS - 1 and number % 2 == 0:
            for thread in range(5):
                ends.append(threading.Event())
                late = 0.4 if thread <= number // 2 else 0.0
                threading.Thread(target=wait, args=(ends[-1], late), daemon=True).start()
        elif run == RUNS - 1:
            for end in ends:
                end.set()
            ends.clear()

    with Client("template") as client, pytest.raises(AssertionError, match="bytes of the C library"):
        require_nothing_left(client, work, "doing nothing", runs=RUNS)


@in_fresh_process
def test_threads_that_start_and_end_are_no_leak() -> None:
    with Client("template") as client:
        require_nothing_left(client, _with_threads(lambda: None), "doing nothing", runs=RUNS)


@in_fresh_process
def test_new_objects_in_the_place_of_frozen_ones_are_no_leak() -> None:
    last: collections.deque[list[int]] = collections.deque(([] for _ in range(100 * RUNS)), maxlen=100 * RUNS)
    gc.freeze()
    with Client("template") as client:
        require_nothing_left(client, lambda: last.append([]), "doing nothing", runs=RUNS)


@in_fresh_process
def test_objects_that_runs_leave_beside_frozen_ones_are_found() -> None:
    held: list[list[int]] = []
    gc.freeze()
    with Client("template") as client, pytest.raises(AssertionError, match="Python objects"):
        require_nothing_left(client, lambda: held.append([]), "doing nothing", runs=RUNS)
