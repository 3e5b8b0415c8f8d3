"""Ctrl-C during an import or a compilation raises, and leaves nothing half done."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xla_core import interruptible
from xla_core.errors import ResourceExhaustedError
from xla_core.interruptible import run_in_threads, run_interruptible, run_uninterrupted

SLOW = """
import time
for _ in range(100):
    time.sleep(0.005)
whole = True
"""

FIRST_USE = """
import os, signal, sys, threading, time
import numpy as np
import xla_core as xla
PROGRAM = "HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }"
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    xla.Client("cpu").compile(PROGRAM)
    time.sleep(60)
except KeyboardInterrupt:
    pass
exe = xla.Client("cpu").compile(PROGRAM)
assert np.asarray(exe(np.ones(4, np.float32))[0]).tolist() == [2.0] * 4
"""


def interrupt_when(begun: Callable[[], bool]) -> None:
    def wait() -> None:
        while not begun():
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=wait).start()


def test_no_later_thread_is_ended_in_the_worker_s_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system soon gives the identifier of an ended thread to another one."""
    monkeypatch.setattr(interruptible, "_IMPORT_SECONDS", 0.05)  # the worker ends by itself before it is ended
    started, finish = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        finish.wait(10)

    interrupt_when(started.is_set)
    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work, "short")
    finish.set()
    while any(thread.name == "short" for thread in threading.enumerate()):
        time.sleep(0.001)
    failures: list[BaseException] = []

    def bystander() -> None:
        try:
            time.sleep(0.2)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=bystander) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("run", [run_interruptible, run_uninterrupted])
def test_an_import_goes_on_to_its_end(
    run: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"slow_{run.__name__}"
    (tmp_path / f"{name}.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    first: list[object] = []
    interrupt_when(lambda: name in sys.modules)
    with pytest.raises(KeyboardInterrupt):
        run(lambda: first.append(importlib.import_module(name)), "test")
    assert name in sys.modules
    module = importlib.import_module(name)  # waits for the worker
    assert module.whole
    assert module is sys.modules[name]


def test_other_work_ends_at_once() -> None:
    steps: list[int] = []

    def work() -> None:
        for step in range(10_000):
            steps.append(step)
            time.sleep(0.01)

    interrupt_when(lambda: bool(steps))
    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work, "endless")
    deadline = time.monotonic() + 20
    while any(thread.name == "endless" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(steps) < 5_000


def test_a_lock_is_never_left_taken() -> None:
    """llvmlite's lock is such a context manager."""

    class PythonLock:
        lock = threading.Lock()

        def __enter__(self) -> None:
            self.lock.acquire()
            for _ in range(20):
                time.sleep(0.001)

        def __exit__(self, *failure: object) -> None:
            for _ in range(20):
                time.sleep(0.001)
            self.lock.release()

    def work() -> None:
        for _ in range(10_000):
            with PythonLock():
                sum(range(1000))

    interrupt_when(PythonLock.lock.locked)
    with pytest.raises(KeyboardInterrupt):
        run_interruptible(work, "locking")
    assert PythonLock.lock.acquire(timeout=20)
    PythonLock.lock.release()  # the worker may wait for it


COLLECTIONS = """
import gc, threading
from xla_core.interruptible import innermost_frame

class Cycle:
    def __init__(self):
        self.itself, self.local = self, threading.local()
        self.local.value = 1

for further in range(6):
    end = threading.Event()
    thread = threading.Thread(target=end.wait, daemon=True)
    thread.start()
    gc.collect()
    gc.disable()
    Cycle()
    gc.set_threshold(gc.get_count()[0] + further)  # the next objects begin a collection
    gc.enable()
    frame = innermost_frame(thread.ident)
    end.set()
    thread.join()
    assert gc.isenabled() and frame is not None
print("done")
"""


def test_a_collection_of_garbage_does_not_hang_the_look_at_a_thread() -> None:
    """Python frees a `threading.local` under a lock that it also holds while it lists the threads' frames."""
    done = subprocess.run([sys.executable, "-c", COLLECTIONS], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "done", done.stderr


def test_within_an_import_no_thread_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread would wait for the import's lock, and the import for that thread."""
    (tmp_path / "nested_import.py").write_text(
        "import threading\nfrom xla_core.interruptible import run_uninterrupted\n"
        "where = run_uninterrupted(threading.current_thread, 'test')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("nested_import").where is threading.main_thread()


@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.6, 0.9])
def test_the_first_client_and_compilation_can_be_repeated(seconds: float) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE, str(seconds)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


WITHOUT_MEMORY = """
import resource
import xla_core as xla
client = xla.Client("cpu")
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used, used))
try:
    client.compile("HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }")
except (MemoryError, ImportError, OSError, xla.XlaError):
    pass
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of address space are Linux's")
def test_a_compilation_without_memory_for_a_thread_ends() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_MEMORY], timeout=60, check=False, capture_output=True)


def test_tasks_in_threads_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3)
    assert run_in_threads([lambda n=n: (meeting.wait(30), n)[1] for n in range(3)], "task") == [0, 1, 2]

    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_in_threads([lambda: 1, fail], "task")


def test_no_task_runs_unless_each_has_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    ran, started = [], []

    def start(thread: threading.Thread) -> None:
        if len(started) == 2:
            raise ResourceExhaustedError("no thread can be started")
        started.append(thread)
        thread.start()

    monkeypatch.setattr("xla_core.interruptible.start_thread", start)
    with pytest.raises(ResourceExhaustedError, match="no thread"):
        run_in_threads([lambda n=n: ran.append(n) for n in range(3)], "task")
    for thread in started:
        thread.join(30)
    assert not ran
    assert not any(thread.is_alive() for thread in started)


AFTER_MAIN = """
import threading
from xla_core.interruptible import run_in_threads

def work():
    threading.main_thread().join()
    print(run_in_threads([lambda: 1, lambda: 2], "task"))

threading.Thread(target=work).start()
"""


def test_tasks_run_in_threads_after_the_main_thread_ended() -> None:
    done = subprocess.run([sys.executable, "-c", AFTER_MAIN], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("[1, 2]\n", "")


_FORKS = """
import os, threading, time
import xla_core as xla

def compile():
    return xla.Client("cpu").compile("HloModule m\\nENTRY e { p = f32[4] parameter(0)\\n ROOT r = f32[4] add(p, p) }")

thread = threading.Thread(target=compile)
thread.start()
children = []
for _ in range(3):
    time.sleep(0.05)
    child = os.fork()
    if not child:
        import signal
        signal.alarm(120)
        compile()
        os._exit(0)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
thread.join()
"""


def test_a_child_compiles_that_was_forked_during_the_first_compilation() -> None:
    pytest.importorskip("xla_backend_cpu")
    done = subprocess.run([sys.executable, "-c", _FORKS], capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout, done.stderr) == ("[0, 0, 0]\n", "")


@contextlib.contextmanager
def a_gated_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[[Callable[[], object]], object]
) -> Iterator[threading.Event]:
    """A thread in which `run` imports a module, which waits for the event."""
    (tmp_path / "gated.py").write_text("import threading\nthreading.gate.wait(60)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    gate = threading.Event()
    monkeypatch.setattr(threading, "gate", gate, raising=False)
    thread = threading.Thread(target=lambda: run(lambda: importlib.import_module("gated")))
    thread.start()
    while "gated" not in sys.modules:
        time.sleep(0.01)
    yield gate
    gate.set()
    thread.join()
    del sys.modules["gated"]


def forked(in_child: Callable[[], object] = lambda: None) -> tuple[float, int]:
    """Forks. Returns how long that takes, and the number of the child, which calls a function and ends."""
    start = time.monotonic()
    child = os.fork()
    if not child:
        try:
            in_child()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return time.monotonic() - start, child


@pytest.mark.parametrize("ends", [True, False])
def test_a_fork_waits_for_an_import_but_not_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    """An import that never ends may wait for the thread that forks."""
    monkeypatch.setattr(interruptible, "_FORK_SECONDS", 30.0 if ends else 0.3)

    def imports() -> None:
        signal.alarm(30)
        importlib.import_module("gated")

    with a_gated_import(tmp_path, monkeypatch, lambda work: run_uninterrupted(work, "import")) as gate:
        start = time.monotonic()
        if ends:
            threading.Timer(0.3, gate.set).start()
        _, child = forked(imports if ends else lambda: None)
        waited = time.monotonic() - start
    assert os.waitpid(child, 0)[1] == 0
    assert 0.2 < waited < 20


@pytest.mark.parametrize("lock", ["logging._lock", "object_linker.llvm_initialization"])
def test_a_fork_holds_no_lock_while_it_waits_for_an_import(lock: str) -> None:
    text = f"""
import importlib, os, sys, threading, time
import xla_core
from xla_core.interruptible import run_uninterrupted
from xla_core.codegen import object_linker
import logging

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "needs_lock":
            began.set()
            time.sleep(0.5)
            with {lock}:
                pass

began = threading.Event()
sys.meta_path.insert(0, Finder())

def load():
    try:
        run_uninterrupted(lambda: importlib.import_module("needs_lock"), "import")
    except ModuleNotFoundError:
        pass

thread = threading.Thread(target=load)
thread.start()
began.wait()
start = time.monotonic()
child = os.fork()
if not child:
    with {lock}:
        os._exit(0)
print(0.3 < time.monotonic() - start < 10, os.waitpid(child, 0)[1])
thread.join()
with {lock}:
    pass
free = []
thread = threading.Thread(target=lambda: free.append({lock}.acquire(timeout=5) and {lock}.release()))
thread.start()
thread.join()
print(free)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.stderr) == ("True 0\n[None]\n", "")


def test_a_fork_does_not_wait_for_imports_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_gated_import(tmp_path, monkeypatch, lambda work: work()):
        waited, child = forked()
    assert os.waitpid(child, 0)[1] == 0
    assert waited < interruptible._FORK_SECONDS


def test_a_fork_does_not_wait_for_threads_with_deep_stacks() -> None:
    """A look at many stacks takes longer than a thread keeps the GIL."""
    gate = threading.Event()

    def wait(depth: int) -> None:
        if depth:
            wait(depth - 1)
        else:
            gate.wait(60)

    threads = [threading.Thread(target=wait, args=(100,)) for _ in range(64)]
    for thread in threads:
        thread.start()
    waited, child = forked()
    gate.set()
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert waited < interruptible._FORK_SECONDS / 2
