"""The interface between compiled programs and their process: symbols, status codes, fields of a run's context."""

from __future__ import annotations

import enum

ENTRY = "xla_cpu_entry"
CONTEXT_WORDS = 16
"""The number of 32-bit words in a run's context. The addresses of a host call's operands and results follow."""


class Status(enum.IntEnum):
    """The status code that a program's entry returns.

    HOST_CALL is not the end: the host runs the call that the context names, and calls the entry again.
    """

    OK = 0
    CANCELLED = 1
    HOST_CALL = 2
    OUT_OF_MEMORY = 3
    WRONG_ARENA = 4  # ahead of time: the arena is null, or not aligned
    OUT_OF_TIME = 5


class ContextField(enum.IntEnum):
    """Indices of the 32-bit words in a run's context."""

    CANCELLED = 0
    REPLICA = 1
    PARTITION = 2
    FAILURES = 3  # counts failed allocations of kernels, in all runs that share the context
    HOST_CALL = 4  # the number of the host call that the program waits for, from 1 on; 0 if it waits for none
