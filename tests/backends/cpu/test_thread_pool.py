"""The native thread pool: every task runs once, with any number of callers, and a forked child doesn't hang."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from xla_backend_cpu import native_runtime
from xla_backend_cpu.host import host_triple
from xla_backend_cpu.machine_code import LlvmCodeGenerator

from tests.fresh_process import in_fresh_process
from xla_core.codegen.llvm import IrBuilder, IrFunction, IrModule, IrPart, LoopAbi


@pytest.fixture(scope="module", name="increment")
def increment_fixture():
    return make_increment()


def make_increment():
    """A kernel that adds 1 to buffers[begin..end) (the table itself is the array)."""
    module = IrModule("increment")
    function = module.add_function(IrFunction("k", "void", [("ptr", "", "a"), ("i64", "", "b"), ("i64", "", "e")]))
    b = IrBuilder(module, function)
    array, begin, end = function.parameters
    loop, _ = b.open_loop(begin, end)
    place = b.gep("i64", array, loop.index)
    b.store(b.add(b.load("i64", place, align=8), b.int_(1)), place, align=8)
    b.close_loop(loop)
    b.ret()
    generator = LlvmCodeGenerator()
    code = generator.compile([IrPart(module.to_text())], LoopAbi(host_triple()), 2, what="increment", threads=1)
    library = generator.load(code, ["k"], {})
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        native_runtime.runtime_symbols(generator)["xla_cpu_parallel_for"]
    )
    native_runtime.start_workers(4, LlvmCodeGenerator())

    def call(array: np.ndarray, size: int, chunk: int) -> None:
        run(library.addresses["k"], array.ctypes.data, size, chunk)

    return call


@pytest.mark.parametrize(("size", "chunk"), [(1, 1), (7, 3), (1000, 64), (1000, 1000), (5000, 1)])
def test_every_piece_runs_once(increment, size, chunk):
    array = np.zeros(size + 10, np.int64)
    for _ in range(20):
        increment(array, size, chunk)
    assert (array[:size] == 20).all()
    assert (array[size:] == 0).all()


def test_callers_on_several_threads_share_the_pool(increment):
    arrays = [np.zeros(5000, np.int64) for _ in range(4)]

    def work(array):
        for _ in range(500):
            increment(array, 5000, 70)

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((array == 500).all() for array in arrays)


@in_fresh_process
def test_a_forked_child_runs_alone():
    increment = make_increment()
    increment(np.zeros(1000, np.int64), 1000, 64)
    array = np.zeros(1000, np.int64)
    pid = os.fork()
    if pid == 0:
        increment(array, 1000, 64)
        os._exit(0 if (array == 1).all() else 1)
    assert os.waitpid(pid, 0)[1] == 0


@in_fresh_process
def test_a_child_forked_in_the_middle_of_a_job_is_right():
    increment = make_increment()
    busy, stop = np.zeros(1 << 16, np.int64), threading.Event()

    def work():
        while not stop.is_set():
            increment(busy, busy.size, 16)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                native_runtime.start_workers(4, LlvmCodeGenerator())
                array = np.zeros(1000, np.int64)
                for _ in range(50):
                    increment(array, 1000, 10)
                os._exit(0 if (array == 50).all() else 1)
            assert os.waitpid(pid, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_threads_that_come_first_together_share_one_runtime():
    code = (
        "import threading, ctypes\n"
        "from xla_backend_cpu import blas, native_runtime\n"
        "from xla_backend_cpu.machine_code import LlvmCodeGenerator\n"
        "found, errors = [], []\n"
        "def use():\n"
        "    try:\n"
        "        symbols = native_runtime.runtime_symbols(LlvmCodeGenerator())\n"
        "        found.append((symbols['xla_cpu_parallel_for'], blas.symbol_address('cblas_sgemm')))\n"
        "    except Exception as error:\n"
        "        errors.append(error)\n"
        "threads = [threading.Thread(target=use) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "assert not errors, errors\n"
        "assert len(set(found)) == 1 and len(found) == 8\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
