"""The processors that PTX is made for, and the alignment of their buffers."""

from __future__ import annotations

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


def check_processor(name: str) -> str:
    """Returns the name if it is in PROCESSORS.

    Raises:
        InvalidArgumentError: it is not.
    """
    if name not in PROCESSORS:
        known = ", ".join(PROCESSORS)
        raise InvalidArgumentError(f"cannot generate PTX for {name!r}", hint=f"processors are {known}")
    return name


def processor_number(name: str) -> int:
    """Returns the compute capability of a processor: 90 for "sm_90a"."""
    return int(name.removeprefix("sm_").rstrip("af"))
