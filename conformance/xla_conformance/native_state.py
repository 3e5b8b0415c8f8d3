"""The handlers of signals and the environment variables as the C library has them.

Python keeps copies of both, which don't show what native code has changed.
"""

from __future__ import annotations

import ctypes
import os
import signal

_LOADED_RUNTIMES = b"__KMP_REGISTERED_LIB_"
"""Begins the name of the variable by which each copy of an OpenMP runtime finds others in the process."""


def native_handlers() -> dict[str, int]:
    """The address of the function that handles each signal, 0 for the default and 1 for none, by the signal's name."""
    sigaction = ctypes.CDLL(None).sigaction
    action = ctypes.create_string_buffer(1024)  # more than any system's structure, which begins with the handler
    found = {}
    for number in signal.valid_signals():
        if sigaction(ctypes.c_int(number), None, action) == 0:
            found[_name(number)] = ctypes.c_void_p.from_buffer(action).value or 0
    return found


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of the signals between SIGRTMIN and SIGRTMAX
        return f"signal {number}"


def native_variables() -> dict[str, str | bool]:
    """The environment variables that differ from `os.environ`; False for those that native code has removed."""
    try:
        environment = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    except ValueError:  # this system doesn't export it
        return {}
    found: dict[str, str | bool] = dict.fromkeys(os.environ, False)
    index = 0
    while environment and (entry := environment[index]) is not None:
        index += 1
        if not entry.startswith(_LOADED_RUNTIMES):
            name, _, value = entry.partition(b"=")
            found[os.fsdecode(name)] = os.fsdecode(value)
    return {name: value for name, value in found.items() if os.environ.get(name) != value}
