"""What compiled programs and the process that runs them agree on: symbols, results, the words of a run's context."""

from __future__ import annotations

import enum

__all__ = ["ENTRY", "HOST_CALL", "ContextField", "Status"]

ENTRY = "xla_cpu_entry"
HOST_CALL = "xla_cpu_host_call"


class Status(enum.IntEnum):
    """What the entry returns."""

    OK = 0
    CANCELLED = 1
    HOST_CALL_FAILED = 2
    OUT_OF_MEMORY = 3


class ContextField(enum.IntEnum):
    """The 32-bit words of a run's context."""

    CANCELLED = 0
    REPLICA = 1
    PARTITION = 2
    FAILURES = 3  # kernels that found no memory, of all runs that share the context
