"""The state that belongs to the whole process, which a backend must not change."""

from __future__ import annotations

import builtins
import contextlib
import decimal
import faulthandler
import gc
import locale
import logging
import multiprocessing
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from xla_conformance.native_state import native_handlers, native_variables

_SMALL, _DENORMAL = 2.0**-60, 5e-324


def floating_point_environment() -> tuple[str, ...]:
    """Values that depend on how this thread rounds, and on whether it flushes denormal numbers to zero.

    They are texts, because a thread that takes denormal numbers as zeros also compares them as zeros.
    """
    return tuple(repr(x) for x in (1.0 + _SMALL, 1.0 - _SMALL, -1.0 - _SMALL, _DENORMAL * 1.0))


QUICK_STATE: Mapping[str, Callable[[], object]] = {
    "how numbers are rounded": floating_point_environment,
    "the garbage collector": lambda: (gc.isenabled(), gc.get_threshold()),
    "decimal's context": lambda: repr(decimal.getcontext()),
    "numpy's error state": lambda: (np.geterr(), np.geterrcall()),
    "the recursion limit": sys.getrecursionlimit,
    "the switch interval of threads": sys.getswitchinterval,
    "the size of threads' stacks": threading.stack_size,
    "the trace function": lambda: (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
    "the working directory": os.getcwd,
    "environment variables": lambda: {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"},
    "the state of random": random.getstate,
    "the state of numpy.random": lambda: [np.asarray(part).tobytes() for part in np.random.get_state()],
}
"""Description of a state -> function that returns its value, in microseconds: every test is checked for these."""


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _limits() -> list[tuple[int, int]]:
    try:
        import resource
    except ImportError:  # not on this system
        return []
    return [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]


def _waits(descriptor: int) -> bool | None:
    """Whether reads and writes of a file descriptor wait; None if it is closed."""
    try:
        return os.get_blocking(descriptor)
    except OSError:
        return None


def _blanket_filters() -> list[object]:
    """Filters of all warnings. Others, of single libraries, may come with an import."""
    return [f for f in warnings.filters if f[1] is None and f[2] in (Warning, UserWarning) and f[3] is None]


def _functions() -> dict[str, int]:
    """The functions and classes of modules that every program uses."""
    return {
        f"{m.__name__}.{name}": id(value)
        for m in (builtins, np, os)
        for name, value in vars(m).items()
        if callable(value)
    }


_FINDERS = {"_distutils_hack", "pkg_resources", "setuptools", "six"}
"""Packages whose import adds a finder of modules, which a backend may depend on."""


def _package_of(finder: object) -> str:
    """The package that brings a finder, which is an object, a class or a function."""
    return str(getattr(finder, "__module__", "")).partition(".")[0]


def _wakeup_file() -> int | None:
    """The file descriptor that signals are written to; None in another thread than the main one."""
    try:
        number = signal.set_wakeup_fd(-1)
    except ValueError:
        return None
    if number >= 0:
        signal.set_wakeup_fd(number, warn_on_full_buffer=False)
    return number


def _thread_name() -> str:
    """The name of the process's first thread in the system, such as `ps` shows it."""
    try:
        return Path("/proc/self/comm").read_text(encoding="utf-8")
    except OSError:  # not on this system
        return ""


STATE: Mapping[str, Callable[[], object]] = {
    **QUICK_STATE,
    "environment variables in native code": native_variables,
    "the umask": _umask,
    "the limits of resources": _limits,
    "the processors that the process may use": lambda: getattr(os, "sched_getaffinity", lambda _: ())(0),
    "the priority": lambda: os.nice(0),
    "the handlers of signals": lambda: {s: signal.getsignal(s) for s in signal.valid_signals()},
    "the native handlers of signals": native_handlers,
    "signals that are blocked": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, ()),
    "timers": lambda: (
        [signal.getitimer(t)[1] for t in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]
        + [signal.getitimer(signal.ITIMER_REAL)[0] > 0]
    ),
    "the standard streams": lambda: [id(f) for f in (sys.stdin, sys.stdout, sys.stderr)],
    "the hooks of exceptions": lambda: [sys.excepthook, threading.excepthook, sys.unraisablehook],
    "the filters of warnings": _blanket_filters,
    "the root logger": lambda: (logging.root.level, list(logging.root.handlers), logging.root.manager.disable),
    "functions of other modules": _functions,
    "whether reads and writes of the standard streams wait": lambda: [_waits(number) for number in range(3)],
    "sys.path": lambda: list(sys.path),
    "how modules are found": lambda: [
        id(f) for f in (*sys.meta_path, *sys.path_hooks) if _package_of(f) not in _FINDERS
    ],
    "the flags of dlopen": lambda: sys.getdlopenflags(),
    "the fault handler": faulthandler.is_enabled,
    "whether allocations of memory are traced": tracemalloc.is_tracing,
    "the name of the process in the system": _thread_name,
    "the file that signals are written to": _wakeup_file,
    "the locale": lambda: locale.setlocale(locale.LC_ALL),
    "numpy's print options": lambda: repr(np.get_printoptions()),
    "the timeout of sockets": socket.getdefaulttimeout,
    "the time zone": lambda: (time.localtime(0).tm_zone, time.localtime(0).tm_gmtoff, time.tzname),
    "the folder of temporary files": tempfile.gettempdir,
    "the start method of multiprocessing": lambda: multiprocessing.get_start_method(allow_none=True),
}
"""Description of a state -> function that returns its value."""


class ProcessState:
    """The values of some states, or of all, at one moment."""

    def __init__(self, states: Mapping[str, Callable[[], object]] = STATE) -> None:
        self._values: dict[str, object] = {}
        for what, value in states.items():
            with contextlib.suppress(AttributeError, TypeError):  # not on this system
                self._values[what] = value()

    def changes(self, after: ProcessState) -> Iterator[str]:
        """Describes the changes from this state to another one."""
        for what, before in self._values.items():
            now = after._values[what]
            if now == before:
                continue
            names = ""
            if isinstance(now, dict) and isinstance(before, dict):
                keys = {*before, *now}
                names = f" ({', '.join(sorted(str(k) for k in keys if before.get(k) != now.get(k)))})"
            yield f"changes {what}{names}"
