"""The interface between compiled programs and their process: symbols, status codes, fields of a run's context."""

from __future__ import annotations

import enum

__all__ = ["ENTRY", "HOST_CALL", "ContextField", "Status"]

ENTRY = "xla_cpu_entry"
HOST_CALL = "xla_cpu_host_call"


class Status(enum.IntEnum):
    """The status code that a program's entry returns."""

    OK = 0
    CANCELLED = 1
    HOST_CALL_FAILED = 2
    OUT_OF_MEMORY = 3
    WRONG_ARENA = 4  # ahead of time: the arena is null, or not aligned
    OUT_OF_TIME = 5


class ContextField(enum.IntEnum):
    """Indices of the 32-bit words in a run's context."""

    CANCELLED = 0
    REPLICA = 1
    PARTITION = 2
    FAILURES = 3  # counts failed allocations of kernels, in all runs that share the context
