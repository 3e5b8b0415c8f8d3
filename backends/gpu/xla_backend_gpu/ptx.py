"""What the text of PTX says of itself."""

from __future__ import annotations

import re

from xla_core.errors import InvalidArgumentError

__all__ = ["entry_names", "processor_of_ptx"]


def entry_names(ptx: str) -> list[str]:
    """The names of the kernels."""
    return re.findall(r"^\s*(?:\.visible\s+)?\.entry\s+([\w$]+)", ptx, re.MULTILINE)


def processor_of_ptx(ptx: str) -> str:
    """The processor that the text is for."""
    found = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    if found is None:
        raise InvalidArgumentError("the PTX names no target")
    return found[1]
