"""Long work that Ctrl-C can end: it runs in another thread while the main thread waits."""

from __future__ import annotations

import contextvars
import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["run_interruptible"]

T = TypeVar("T")

_SIGNAL_SECONDS = 0.1  # a signal that comes just before a wait doesn't wake it; so wait in pieces


class _Interrupted(BaseException):
    """Raised within the worker; nobody waits for its result any more. No XlaError, nor an Exception: the work must not
    take it for a failure of its own and go on.
    """


def run_interruptible(work: Callable[[], T], name: str) -> T:
    """`work()`, or what it raises. Called in the main thread, it runs in a thread of its own, since foreign code (LLVM)
    lets no signal handler in; on an exception here (Ctrl-C), it is ended at its next Python instruction.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
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
            failure.append(error)
        finally:
            done.release()

    worker = threading.Thread(target=run, name=name)
    try:
        worker.start()  # a signal may come within this, too
        while not done.acquire(timeout=_SIGNAL_SECONDS):
            pass
    except BaseException:
        cancelled = True
        if worker.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(_Interrupted))
        raise
    if failure:
        raise failure[0]
    return result[0]
