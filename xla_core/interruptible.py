"""Runs work in another thread while the main thread waits, so that Ctrl-C takes effect at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["run_interruptible", "run_uninterrupted"]

T = TypeVar("T")

_SIGNAL_SECONDS = 0.1  # a signal just before a wait doesn't wake it, so waits are short
_IMPORT_SECONDS = 0.005


class _Interrupted(BaseException):
    """Ends a worker whose result is no longer awaited. It is not an Exception, so that the work doesn't handle it."""


def run_interruptible(work: Callable[[], T], name: str) -> T:
    """Runs `work()` in another thread; returns its result or raises its exception.

    In the main thread, foreign code such as LLVM would keep signal handlers from running. When a signal handler raises
    here (Ctrl-C), the worker ends at its next Python instruction, but never within an import, because a half-imported
    module would break every later use of it.
    """
    return _run(work, name, ends=True)


def run_uninterrupted(work: Callable[[], T], name: str) -> T:
    """Does what `run_interruptible` does, but lets the worker finish after Ctrl-C. It is for imports."""
    return _run(work, name, ends=False)


def _run(work: Callable[[], T], name: str, *, ends: bool) -> T:
    if threading.current_thread() is not threading.main_thread() or is_importing(threading.get_ident()):
        return work()
    import contextvars  # here and below: deferred, so that `import xla_core` is quick

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
            if not cancelled:  # otherwise error, traceback and `failure` would form a reference cycle
                failure.append(error)
        finally:
            done.release()

    worker = threading.Thread(target=run, name=name)
    try:
        try:
            worker.start()  # a signal may arrive within this call too
        except RuntimeError:  # the system can't start more threads
            return work()
        while not done.acquire(timeout=_SIGNAL_SECONDS):
            pass
    except BaseException:
        if ends:
            cancelled = True
            threading.Thread(target=_end, args=(worker,), name=f"end {name}", daemon=True).start()
        raise
    if failure:
        raise failure.pop()
    return result[0]


def _end(worker: threading.Thread) -> None:
    """Raises `_Interrupted` in `worker` as soon as it is not within an import."""
    import ctypes
    import sys
    import time

    if worker.ident is None:
        return
    interval = sys.getswitchinterval()
    while worker.is_alive():
        # Without a switch of threads, nothing happens between inspecting the stack and raising the exception.
        sys.setswitchinterval(60.0)
        try:
            time.sleep(0)
            if not is_importing(worker.ident):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(_Interrupted))
                return
        finally:
            sys.setswitchinterval(interval)
        time.sleep(_IMPORT_SECONDS)


def is_importing(thread: int) -> bool:
    """Whether the thread of this identifier is within an import."""
    import sys

    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
