"""A driver in C, by ctypes: the functions that a device needs, with memory, queues, events and launches.

`xla new NAME --scenario 3 --driver c` writes driver.h, which declares and describes them.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_uint64, c_void_p
from functools import cached_property
from pathlib import Path
from typing import Any

from xla_core.backend import Availability, Requirement
from xla_core.errors import FailedPreconditionError, InternalError, ResourceExhaustedError

Callback = CFUNCTYPE(c_int64)

_COMPILE = "`pip install -e .` compiles it"

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "open": (c_void_p, c_uint64),
    "allocate": (c_uint64, c_void_p, c_uint64),
    "free": (None, c_void_p, c_uint64, c_uint64),
    "close": (None, c_void_p),
    "queue_create": (c_void_p, c_void_p),
    "queue_done": (c_uint64, c_void_p),
    "queue_error": (c_int64, c_void_p),
    "queue_destroy": (None, c_void_p),
    "copy_in": (None, c_void_p, c_uint64, c_void_p, c_uint64),
    "copy_out": (None, c_void_p, c_void_p, c_uint64, c_uint64),
    "copy": (None, c_void_p, c_uint64, c_uint64, c_uint64),
    "fill": (None, c_void_p, c_uint64, c_int, c_uint64),
    "kernel": (c_void_p, c_char_p),
    "launch": (None, c_void_p, c_void_p, c_int, POINTER(c_uint64), c_int, POINTER(c_int64)),
    "call": (None, c_void_p, Callback),
    "recover": (None, c_void_p),
    "event_create": (c_void_p,),
    "record": (None, c_void_p, c_void_p),
    "wait": (None, c_void_p, c_void_p),
    "event_wait": (c_int, c_void_p, c_int, POINTER(c_int64)),
    "event_destroy": (None, c_void_p),
}  # name without the prefix: type of the result, types of the arguments


class CDriver:
    """The functions by their names without the prefix, as in `driver.allocate(device, 64)`. Calls release the GIL.

    Args:
        library: the shared library. The first call of a function loads it, and raises FailedPreconditionError if the
            library lacks one of the functions.
        prefix: of the functions' names in C.
    """

    def __init__(self, library: Path, prefix: str) -> None:
        self.library = library
        self._prefix = prefix

    @cached_property
    def _functions(self) -> dict[str, Callable[..., Any]]:
        if newer := self._newer_source():
            warnings.warn(f"{self.library} is older than {newer}; {_COMPILE}", RuntimeWarning, stacklevel=2)
        library = ctypes.CDLL(str(self.library))
        found: dict[str, Callable[..., Any]] = {}
        for name, (result, *arguments) in _FUNCTIONS.items():
            try:
                function = found[name] = getattr(library, self._prefix + name)
            except AttributeError:
                raise FailedPreconditionError(
                    f"{self.library} has no function {self._prefix + name!r}",
                    hint="driver.h declares what the driver defines; check that the build links all of its C files",
                ) from None
            function.restype, function.argtypes = result, arguments
        return found

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _FUNCTIONS:
            raise AttributeError(f"the driver has no function {name!r}")
        return self._functions[name]

    def create(self, name: str, *arguments: Any) -> int:
        """Calls a function that makes a device, a queue or an event, and returns its handle.

        Raises:
            ResourceExhaustedError: the function returned NULL.
        """
        handle = getattr(self, name)(*arguments)
        if handle is None:
            raise ResourceExhaustedError(
                f"{self._prefix + name} of {self.library.name} returned NULL",
                hint="the driver can't make another one now: see whether another process uses the device",
            )
        return int(handle)

    def find_kernel(self, name: str) -> int:
        """The address of a kernel of the driver.

        Raises:
            InternalError: the driver has none of this name.
        """
        kernel = self.kernel(name.encode())
        if kernel is None:
            raise InternalError(f"the driver has no kernel {name!r}", hint="add it to kernels.c, and install again")
        return int(kernel)

    def probe(self) -> Availability:
        """Checks whether the library is there, without loading it or opening a device."""
        is_there = self.library.exists()
        newer = self._newer_source()
        state = " is missing" if not is_there else f" is older than {newer}" if newer else ""
        return Availability.of(Requirement("driver", met=is_there, detail=f"{self.library}{state}", hint=_COMPILE))

    def _newer_source(self) -> Path | None:
        """A file in C that was changed after the library was compiled; an editable installation has them beside it."""
        if not self.library.exists():
            return None
        compiled = self.library.stat().st_mtime
        sources = sorted((self.library.parent.parent / "driver").glob("*.[ch]"))
        return next((path for path in sources if path.stat().st_mtime > compiled), None)
