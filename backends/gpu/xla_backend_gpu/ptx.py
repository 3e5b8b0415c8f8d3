"""Reads the kernel names and the processor from PTX text."""

from __future__ import annotations

import re

from xla_core.errors import InvalidArgumentError


def entry_names(ptx: str) -> list[str]:
    """Returns the names of the kernels."""
    return re.findall(r"^\s*(?:\.visible\s+)?\.entry\s+([\w$]+)", ptx, re.MULTILINE)


def processor_of_ptx(ptx: str) -> str:
    """Returns the processor that the text is for."""
    found = re.search(r"^\s*\.target\s+(\w+)", ptx, re.MULTILINE)
    if found is None:
        raise InvalidArgumentError("the PTX names no target")
    return found[1]
