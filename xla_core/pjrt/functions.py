"""The functions of PJRT's table that Python implements, by name."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from xla_core.c_structures import Struct
from xla_core.errors import UnimplementedError
from xla_core.registration import registers_in

IMPLEMENTED: dict[str, Callable[[Any], None]] = {}
"""name without `PJRT_` -> function. It takes the structure of arguments, sets its out-fields, and raises errors."""


implements = registers_in(IMPLEMENTED)
"""Makes a decorator that enters a function in IMPLEMENTED."""


def unimplemented(name: str) -> Callable[[Any], None]:
    """Makes a function that raises UnimplementedError."""

    def function(args: Any) -> None:
        raise UnimplementedError(f"PJRT_{name} is not implemented")

    return function


def entry_of(
    struct: type[Struct],
    function: Callable[[Any], None],
    error_of: Callable[[BaseException], int],
    *,
    is_sized: bool = True,
) -> Callable[[int], int]:
    """Makes the Python function behind a function pointer. It takes the address of the arguments, which are a `struct`,
    and returns that of a PJRT_Error, or 0.

    A host of an older version passes a shorter structure. The missing fields read as zero, and values that the function
    writes to them are dropped. Where hosts don't set `struct_size` (`is_sized` is False), the structure is taken as it
    is.
    """
    full_size, at = struct.full_size, struct.from_address

    def entry(address: int) -> int:
        try:
            args = at(address)
            if not is_sized or args.struct_size >= full_size:
                function(args)
            else:
                _call_shorter(function, struct, address, args.struct_size)
            return 0
        except KeyboardInterrupt:
            raise  # the native code keeps it for the main thread
        except BaseException as error:
            return error_of(error)

    return entry


def _call_shorter(function: Callable[[Any], None], struct: Any, address: int, size: int) -> None:
    full = struct()
    ctypes.memmove(ctypes.addressof(full), address, size)
    function(full)
    ctypes.memmove(address, ctypes.addressof(full), size)
