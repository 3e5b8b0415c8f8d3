"""Mutants that change on import, or as a device is opened, what belongs to the whole process."""

from __future__ import annotations

import atexit
import ctypes
import decimal
import functools
import gc
import locale
import logging
import multiprocessing
import os
import random
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, HloKernel, Platform, broken, template
from xla_core.errors import InternalError

MUTANTS: list[Mutant] = []
says = broken("loading", "loading", MUTANTS)

_CHANGES: Mapping[str, Callable[[], object]] = {
    "prints": lambda: print("acme driver 1.2"),
    "writes-to-standard-error": lambda: os.write(2, b"acme driver 1.2\n"),
    "sets-a-variable": lambda: os.environ.update(ACME_CACHE="/tmp"),
    "removes-a-variable": lambda: os.environ.pop("PATH"),
    "sets-a-variable-natively": lambda: ctypes.CDLL(None).setenv(b"LD_PRELOAD", b"", 1),
    "changes-the-directory": lambda: os.chdir("/"),
    "sets-the-umask": lambda: os.umask(0o077),
    "binds-to-one-processor": lambda: os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]),
    "lowers-its-priority": lambda: os.nice(1),
    "handles-a-signal": lambda: signal.signal(signal.SIGUSR1, lambda *arguments: None),
    "ignores-a-signal-natively": lambda: ctypes.CDLL(None).signal(int(signal.SIGUSR1), ctypes.c_void_p(1)),
    "blocks-a-signal": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]),
    "starts-a-timer": lambda: signal.setitimer(signal.ITIMER_REAL, 3600),
    "replaces-the-standard-output": lambda: setattr(sys, "stdout", sys.stderr),
    "replaces-the-hook-of-exceptions": lambda: setattr(threading, "excepthook", lambda arguments: None),
    "ignores-all-warnings": lambda: warnings.simplefilter("ignore"),
    "configures-logging": lambda: logging.basicConfig(level=logging.DEBUG),
    "extends-sys-path": lambda: sys.path.insert(0, "/opt/acme"),
    "raises-the-recursion-limit": lambda: sys.setrecursionlimit(100_000),
    "switches-threads-seldom": lambda: sys.setswitchinterval(1.0),
    "disables-garbage-collection": gc.disable,
    "sets-the-locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    "sets-decimal-precision": lambda: setattr(decimal.getcontext(), "prec", 5),
    "seeds-random": lambda: random.seed(0),
    "seeds-numpy": lambda: np.random.seed(0),
    "makes-numpy-raise": lambda: np.seterr(all="raise"),
    "sets-numpy-print-options": lambda: np.set_printoptions(precision=2),
    "replaces-a-function-of-numpy": lambda: setattr(np, "float_power", np.power),
    "sets-a-timeout-of-sockets": lambda: socket.setdefaulttimeout(5),
    "sets-the-start-method": lambda: multiprocessing.set_start_method("spawn", force=True),
}
_PRINTS = ("prints", "writes-to-standard-error")


def _opening(change: Callable[[], object]) -> type[Platform]:
    class Opens(Platform):
        def create_executor(self, ordinal):
            change()
            return super().create_executor(ordinal)

    return Opens


for _name, _change in _CHANGES.items():
    _fault = _name.replace("-", " ").capitalize()
    _promise = "hooks.prints-nothing" if _name in _PRINTS else "hooks.changes-nothing"
    _common = {"breaks": _promise, "select": "loading"}
    MUTANTS.append(
        Mutant(
            name=f"loading/import-{_name}", fault=f"{_fault} on import.", make=template, on_import=_change, **_common
        )
    )
    if _name != "writes-to-standard-error":
        _make = functools.partial(template, platform=_opening(_change))
        MUTANTS.append(Mutant(name=f"loading/open-{_name}", fault=f"{_fault} on opening.", make=_make, **_common))


def _hang_in_children() -> None:
    os.register_at_fork(after_in_child=lambda: time.sleep(1000))


for _name, _fault, _promise, _change in (
    ("hangs-after-a-fork", "A forked process hangs.", "platform.close", _hang_in_children),
    ("hangs-at-exit", "The interpreter hangs at its end.", "platform.close", lambda: atexit.register(time.sleep, 1000)),
):
    MUTANTS.append(
        Mutant(
            name=f"loading/{_name}", breaks=_promise, fault=_fault, make=template, select="loading", on_import=_change
        )
    )


@says("platform.device-count", "After twenty questions there is one device.")
class CountShrinks(Platform):
    asked = 0

    def visible_device_count(self):
        self.asked += 1
        return 2 if self.asked < 20 else 1


@says("platform.close", "Closing the platform closes no device.")
class ClosesNothing(Platform):
    def close(self):
        self._executors.clear()


@says("executor.close", "A device that was closed leaves a file open and a thread.")
class CloseLeavesAThread(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        threading.Thread(target=threading.Event().wait, name="driver").start()


@says("platform.create-executor-thread", "Only the main thread can open a device.")
class OpensInTheMainThread(Platform):
    def create_executor(self, ordinal):
        if threading.current_thread() is not threading.main_thread():
            raise InternalError("the driver belongs to the main thread")
        return super().create_executor(ordinal)


_opened_by: set[int] = set()


@says("platform.create-executor-in-child", "A child of fork hangs as it opens a device that its parent opened.")
class HangsInAChild(Platform):
    def create_executor(self, ordinal):
        if _opened_by - {os.getpid()}:
            time.sleep(1000)
        _opened_by.add(os.getpid())
        return super().create_executor(ordinal)


@says("hooks.changes-nothing", "The process of an opened device ends with code 0, whatever it was asked to.")
class EndsWithCodeZero(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        atexit.register(_end, os.getpid())


def _end(process: int) -> None:
    if os.getpid() == process:
        os._exit(0)


@says("hooks.changes-nothing", "A launch leaves the caller's thread rounding upwards.", select="")
class RoundsUpwards(HloKernel):
    def launch(self, stream, arguments, dimensions):
        super().launch(stream, arguments, dimensions)
        ctypes.CDLL("libm.so.6").fesetround(0x800)  # FE_UPWARD on x86


@says("hooks.prints-nothing", "A device without memory says so on the standard output.", select="memory")
class PrintsWhenFull(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size, memory_space)
        if memory is None:
            os.write(1, b"acme: out of memory\n")
        return memory
