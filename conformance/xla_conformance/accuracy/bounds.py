"""The largest errors that are allowed: the table `bounds.toml`."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from typing import Any

from xla_core.hlo import ElementType

COLUMNS = ("evaluator", "emitter", "backend")
"""The bounds of the reference evaluator, of backends on the shared LLVM emitter, and of any conforming backend."""

_NARROW_BITS = 16


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(importlib.resources.files(__package__).joinpath("bounds.toml").read_text(encoding="utf-8"))


def bound(group: str, function: str, element_type: str, column: str) -> float | None:
    """The largest error that is allowed, in the check's unit, or None if the table has none.

    The entry is in `[group.column]`, under the function's name or else under `default`. It is one number for all types,
    or has numbers by type or else by `narrow` (real types of at most 16 bits) and `wide`.
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
