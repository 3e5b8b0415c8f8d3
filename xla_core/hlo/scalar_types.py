"""MLIR's scalar types by name: what arrays of them are, and how wide one element is."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from xla_core.hlo.element_type import ElementType

__all__ = ["BIT_WIDTHS", "DTYPES", "FLOATS", "OTHER_FLOATS", "integer_format", "is_scalar"]

_BY_NAME = {t.mlir_name: t for t in ElementType if t.is_array} | {"index": ElementType.S64}

DTYPES: dict[str, np.dtype[Any]] = {name: t.dtype for name, t in _BY_NAME.items()}
"""Element types that have arrays: MLIR's name to numpy's."""

BIT_WIDTHS = {name: t.bit_width for name, t in _BY_NAME.items()}
"""Bits of one element; ml_dtypes holds those of less than 8 in the lower bits of a byte."""

FLOATS = frozenset(name for name, t in _BY_NAME.items() if t.is_floating)

_INTEGER_TYPE = re.compile(r"(si|ui|i)([1-9][0-9]{0,7})\Z").match
OTHER_FLOATS = frozenset(("tf32", "f80", "f128"))
"""Floats without arrays."""


@functools.lru_cache(1024)
def integer_format(element: str) -> tuple[str, int] | None:
    """("i", 32) for "i32", ("ui", 8) for "ui8", ("i", 64) for "index"; None for what isn't an integer type."""
    if element == "index":
        return ("i", 64)
    match = _INTEGER_TYPE(element)
    return (match[1], int(match[2])) if match else None


def is_scalar(name: str) -> bool:
    """Whether a word is the name of a scalar type."""
    return name in DTYPES or name in OTHER_FLOATS or name == "none" or _INTEGER_TYPE(name) is not None
