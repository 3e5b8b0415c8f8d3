"""MLIR's scalar types by name, with their numpy dtypes and bit widths."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from xla_core.hlo.values.element_type import ElementType

_BY_NAME = {t.mlir_name: t for t in ElementType if t.is_array} | {"index": ElementType.S64}

DTYPES: dict[str, np.dtype[Any]] = {name: t.dtype for name, t in _BY_NAME.items()}
"""MLIR name -> numpy dtype, for element types that arrays can have."""

BIT_WIDTHS = {name: t.bit_width for name, t in _BY_NAME.items()}
"""MLIR name -> bits of one element. ml_dtypes holds elements of less than 8 bits in the low bits of a byte."""

FLOATS = frozenset(name for name, t in _BY_NAME.items() if t.is_floating)

_INTEGER_TYPE = re.compile(r"(si|ui|i)([1-9][0-9]{0,7})\Z").match
OTHER_FLOATS = frozenset(("tf32", "f80", "f128"))
"""Float types that have no numpy dtype."""


@functools.lru_cache(1024)
def integer_format(element: str) -> tuple[str, int] | None:
    """Returns ("i", 32) for "i32", ("ui", 8) for "ui8", ("i", 64) for "index", and None for other types."""
    if element == "index":
        return ("i", 64)
    match = _INTEGER_TYPE(element)
    return (match[1], int(match[2])) if match else None


def is_scalar(name: str) -> bool:
    """Whether a word is the name of a scalar type."""
    return name in DTYPES or name in OTHER_FLOATS or name == "none" or _INTEGER_TYPE(name) is not None
