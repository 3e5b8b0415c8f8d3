"""The one table of what errors may be: `bounds.toml`."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from typing import Any

from xla_core.hlo import ElementType

__all__ = ["COLUMNS", "bound"]

COLUMNS = ("evaluator", "emitter", "backend")
"""Of the reference evaluator, of the shared LLVM emitter and who uses it, of any backend that conforms."""

_NARROW_BITS = 16


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(importlib.resources.files(__package__).joinpath("bounds.toml").read_text(encoding="utf-8"))


def bound(group: str, function: str, element_type: str, column: str) -> float | None:
    """The largest error that is allowed, in the check's unit; None where the table says nothing.

    Looked for in `[group.column]`, under the function's name and then under `default`; there under the type, then under
    `narrow` (real types of 16 bits and fewer) or `wide`, or it is one number for all.
    """
    section = _table().get(group, {}).get(column, {})
    keys = (element_type, "narrow" if _is_narrow(element_type) else "wide")
    for name in (function, "default"):
        entry = section.get(name)
        if isinstance(entry, int | float):
            return float(entry)
        for key in keys:
            if entry is not None and key in entry:
                return float(entry[key])
    return None


def _is_narrow(element_type: str) -> bool:
    try:
        found = ElementType(element_type)
    except ValueError:
        return False
    return found.is_floating and found.bit_width <= _NARROW_BITS
