"""The processors that PTX is made for, and the alignment of their buffers."""

from __future__ import annotations

import functools

from xla_core.errors import InvalidArgumentError

PROCESSORS = (
    *("sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89"),
    *("sm_90", "sm_90a"),
    *("sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_103f", "sm_110", "sm_110a", "sm_110f"),
    *("sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f"),
)
"""The processors for which PTX is made, by LLVM's names. The suffix "a" stands for features of this processor alone,
"f" for those of its family.
"""

ALIGNMENT = 128

_SHARED_KIB = {
    75: 64,
    80: 163,
    86: 99,
    87: 163,
    88: 99,
    89: 99,
    90: 227,
    100: 227,
    103: 227,
    110: 227,
    120: 99,
    121: 99,
}
"""Compute capability -> the most shared memory of a block, which its launch asks for. For 88 it is the least of its
generation, so that every such processor has it.
"""
DECLARED_SHARED_BYTES = 48 << 10
"""The most shared memory that a kernel may declare on any processor."""


def check_processor(name: str) -> str:
    """Returns the name if it is in PROCESSORS.

    Raises:
        InvalidArgumentError: it is not.
    """
    if name not in PROCESSORS:
        known = ", ".join(PROCESSORS)
        raise InvalidArgumentError(f"cannot generate PTX for {name!r}", hint=f"processors are {known}")
    return name


@functools.cache
def shared_bytes(processor: str) -> int:
    """Returns the most shared memory of a block on a processor."""
    return _SHARED_KIB.get(processor_number(processor), 48) << 10


def common_shared_bytes(processor: str) -> int:
    """Returns the most shared memory of a block on every processor that runs a processor's PTX: those that are newer,
    unless it has features of its own or of its family.
    """
    if processor[-1] in "af":
        return shared_bytes(processor)
    return min(shared_bytes(p) for p in PROCESSORS if processor_number(p) >= processor_number(processor))


def processor_number(name: str) -> int:
    """Returns the compute capability of a processor: 90 for "sm_90a"."""
    return int(name.removeprefix("sm_").rstrip("af"))
