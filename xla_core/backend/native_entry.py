"""NativeEntry: how to run a program by one call of native code."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class NativeEntry:
    """A C function that runs a whole program in the calling thread: `int32_t entry(void **table)`.

    The caller makes a table of addresses for each call, of the length of `table`. It begins as a copy of `table`, and
    the caller sets the entries that the other attributes name. The function returns 0 once the results are written. Any
    other status is a failure: what is in the results is undefined, and the caller runs the program again by
    `execute_async_on_stream`, which raises the error. A function may also fail because a loop of the program takes
    long.

    The function neither needs Python nor waits for anything that does. It reads the arguments, writes to results and
    temporaries only, and keeps no address after its return. Any number of threads may call it at once, with tables of
    their own and with other memory for results and temporaries. Arguments, results and temporaries are whole
    allocations of the device, as in `execute_async_on_stream`.

    Attributes:
        address: the function. It is valid as long as the executable exists. After `Executable.close` it returns at once
            or fails.
        table: the table's entries that are the same in each call. The others are 0.
        parameters: for each argument, the number of the entry for its address.
        results: the same for each result.
        temporaries: for each block of temporary memory, the number of its entry and its size in bytes.
        microseconds: an estimate of the time of one call.
    """

    address: int
    table: tuple[int, ...]
    parameters: tuple[int, ...]
    results: tuple[int, ...]
    temporaries: tuple[tuple[int, int], ...] = ()
    microseconds: float = float("inf")
