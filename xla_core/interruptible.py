"""Work in a thread of its own while the main thread waits: Ctrl-C reaches the main thread alone.

A fork waits until no other thread imports for this package, because the child would wait for ever for the lock of a
module that such a thread was importing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, TypeVar

from xla_core.errors import ResourceExhaustedError

T = TypeVar("T")

_SIGNAL_SECONDS = 0.1  # a signal that comes just before a wait doesn't wake it, so the wait is cut into pieces
_IMPORT_SECONDS = 0.005
_FORK_SECONDS = 30.0  # the longest wait of a fork for imports, as one may wait for the fork; a busy machine needs ten
_FREE_ROUNDS = 10  # looks at the stacks in sequence that find no import, where a look takes longer than the GIL is kept
_STACK_BYTES = 16 << 20  # more than the stack of a thread


def start_thread(thread: threading.Thread) -> None:
    """Starts a thread. Raises ResourceExhaustedError if the system has no more threads or no memory for its stack.

    Memory is tried before, because `Thread.start` waits for ever for a thread that runs out of memory as it begins.
    """
    try:
        import mmap  # here and below: `import xla_core` loads little

        mmap.mmap(-1, _STACK_BYTES).close()
        thread.start()
    except (RuntimeError, MemoryError, OSError, ImportError) as error:
        raise ResourceExhaustedError(
            f"no thread can be started for {thread.name}: {error or 'out of memory'}",
            hint="raise the limits on threads and memory (ulimit -u, ulimit -v, or the container's)",
        ) from None


def run_in_threads(tasks: Sequence[Callable[[], T]], name: str) -> list[T]:
    """Runs tasks at the same time, each in a thread of its own. Returns their results in order, or raises one's error.

    No task runs unless a thread could be started for each, because tasks may wait for each other. These are plain
    threads, because executors of `concurrent.futures` refuse work once the main thread has ended.
    """
    results: dict[int, T] = {}
    errors: list[BaseException] = []
    gate = threading.Event()
    all_started = False

    def run(number: int) -> None:
        gate.wait()
        if not all_started:
            return
        try:
            results[number] = tasks[number]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,), name=name, daemon=True) for n in range(len(tasks))]
    try:
        for thread in threads:
            start_thread(thread)
        all_started = True
    finally:
        gate.set()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(tasks))]


class _Interrupted(BaseException):
    """Ends a worker whose result nobody waits for. No subclass of Exception, so that the work doesn't handle it."""


def run_interruptible(work: Callable[[], T], name: str) -> T:
    """Returns what `work()` returns, or raises what it raises.

    Called in the main thread, it runs `work` in another one, because foreign code (LLVM) lets no signal handler run.
    When a signal handler raises here (Ctrl-C), the worker ends at its next Python instruction, but never in the middle
    of an import, nor while a context manager is entered or left: a half-imported module would break every later use of
    it, and a lock that was just taken would never be released.
    """
    return _run(work, name, ends=True)


def run_uninterrupted(work: Callable[[], T], name: str) -> T:
    """As `run_interruptible`, but the worker goes on to its end after Ctrl-C: for imports."""
    return _run(work, name, ends=False)


def _run(work: Callable[[], T], name: str, *, ends: bool) -> T:
    in_worker = threading.current_thread() is not threading.main_thread()
    if in_worker or any(map(_is_import, _stack(sys._getframe()))):
        return work()
    import contextvars

    result: list[T] = []
    failure: list[BaseException] = []
    done = threading.Lock()
    done.acquire()
    context = contextvars.copy_context()
    cancelled = False

    def run() -> None:
        try:
            if not cancelled:
                result.append(context.run(work))
        except BaseException as error:
            if not cancelled:  # else a cycle of error, traceback and `failure` would wait for the garbage collector
                failure.append(error)
        finally:
            done.release()

    worker = threading.Thread(target=run, name=name)
    try:
        start_thread(worker)  # a signal may come within this, too
        while not done.acquire(timeout=_SIGNAL_SECONDS):
            pass
    except ResourceExhaustedError:
        return work()
    except BaseException:
        if ends:
            cancelled = True
            start_thread(threading.Thread(target=_end, args=(worker,), name=f"end {name}", daemon=True))
        raise
    if failure:
        raise failure.pop()
    return result[0]


def _end(worker: threading.Thread) -> None:
    """Raises `_Interrupted` in `worker` as soon as no import and no context manager would be left half done."""
    import ctypes
    import time

    while True:
        time.sleep(_IMPORT_SECONDS)
        # This thread has just got the GIL, which it keeps for a switch interval. The worker stands still meanwhile, so
        # the exception is raised at the place that its stack shows. If reading the stack took too long, the worker may
        # have moved on. The worker must be alive in the same interval, because the system gives the identifier of an
        # ended thread to a new one.
        began = time.perf_counter()
        if worker.ident is None or not worker.is_alive():
            return
        busy = any(
            _is_import(f) or f.f_code.co_name in ("__enter__", "__exit__")
            for f in _stack(innermost_frame(worker.ident))
        )
        if not busy and time.perf_counter() - began < sys.getswitchinterval() / 4:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(_Interrupted))
            return


def _is_import(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")


def innermost_frame(thread: int) -> FrameType | None:
    """Returns the innermost frame of a thread, given by its identifier."""
    return _innermost_frames().get(thread)


def _innermost_frames() -> dict[int, FrameType]:
    """Returns the innermost frame of each thread, by its identifier.

    Python holds a lock while it collects the frames. A garbage collection meanwhile may free a `threading.local`, which
    waits for that lock: the process would hang.
    """
    import gc

    is_enabled = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        if is_enabled:
            gc.enable()


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of a thread, from the innermost one on."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _before_fork() -> None:
    """Waits until no other thread holds a lock of Python that the child needs for this package, but not for long.

    Then it acquires the locks that are released after the fork. None of them is held during the wait, because a thread
    that is waited for may need it. If another import begins meanwhile, they are released for another wait.
    """
    import contextlib
    import time

    deadline = time.monotonic() + _FORK_SECONDS
    locks = _locks_at_fork()  # the functions of these modules have run before this one
    while True:
        for lock in locks:
            with contextlib.suppress(RuntimeError):  # of a module that has just been imported
                lock.release()
        try:
            _wait_for_imports(deadline)
        finally:  # Ctrl-C may interrupt the wait
            locks = _locks_at_fork()
            _acquire(locks)
        if time.monotonic() >= deadline or not _others_import():
            return


def _acquire(locks: list[Any]) -> None:
    """Acquires all locks, also if Ctrl-C interrupts the wait for one: each is released after the fork."""
    if locks:
        try:
            locks[0].acquire()
        finally:
            _acquire(locks[1:])


def _wait_for_imports(deadline: float) -> None:
    import time

    free = 0
    while len(_innermost_frames()) > 1 and time.monotonic() < deadline and free < _FREE_ROUNDS:
        time.sleep(_IMPORT_SECONDS / 50)
        # As in `_end`: the other threads stand still while this one keeps the GIL that it has just got. Where a look
        # at all stacks takes longer, several of them say that the locks are probably free.
        began = time.perf_counter()
        busy = _others_import()
        if not busy and time.perf_counter() - began < sys.getswitchinterval() / 4:
            break
        free = 0 if busy else free + 1


def _others_import() -> bool:
    here = threading.get_ident()
    return any(_holds_a_lock(frame) for thread, frame in _innermost_frames().items() if thread != here)


_own_locks: list[Any] = []


def hold_at_fork(lock: Any) -> None:
    """Lets each fork acquire a lock after its wait for imports, and both processes release it."""
    _own_locks.append(lock)
    os.register_at_fork(after_in_parent=lock.release, after_in_child=lock.release)


def _locks_at_fork() -> list[Any]:
    """Returns the locks in the order in which threads acquire them: one that compiles may write to a log."""
    modules = [(sys.modules.get(name), lock) for name, lock in _LOCKED_AT_FORK.items() if name not in _LOCKED_LATER]
    return [*_own_locks, *(getattr(module, lock) for module, lock in modules if hasattr(module, lock))]


_LOCKED_AT_FORK = {
    "logging": "_lock",
    "concurrent.futures.thread": "_global_shutdown_lock",
}
"""Locks of Python's modules, which release them after a fork."""

_LOCKED_LATER = _LOCKED_AT_FORK.keys() & sys.modules.keys()
"""Those whose own functions acquire them after this module's wait, since they were imported before it."""


def _holds_a_lock(frame: FrameType) -> bool:
    """Whether a thread, given by its innermost frame, may hold a lock that nobody replaces in a child.

    These are the locks of modules that this package or others on its behalf import, of `functools.cached_property` up
    to Python 3.11, and of pydantic's classes.
    """
    found = False
    for outer in _stack(frame):
        name = outer.f_globals.get("__name__", "")
        if _is_import(outer):
            found = True
            name = outer.f_locals.get("name", "") if outer.f_code.co_name == "_find_and_load" else ""
        elif name.startswith("pydantic.") or (name == "functools" and outer.f_code.co_name == "__get__"):
            found = True
        if found and name.partition(".")[0] == __package__:
            return True
    return False


os.register_at_fork(before=_before_fork)
