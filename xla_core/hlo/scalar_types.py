"""MLIR's scalar types by name: what arrays of them are, and how wide one element is."""

from __future__ import annotations

import functools
import re
from typing import Any

import ml_dtypes
import numpy as np

from xla_core.hlo.element_type import ElementType

__all__ = ["BIT_WIDTHS", "DTYPES", "FLOATS", "OTHER_FLOATS", "integer_format", "is_scalar"]

DTYPES: dict[str, np.dtype[Any]] = {
    "i1": np.dtype(np.bool_),
    "i2": np.dtype(ml_dtypes.int2),
    "i4": np.dtype(ml_dtypes.int4),
    "ui2": np.dtype(ml_dtypes.uint2),
    "ui4": np.dtype(ml_dtypes.uint4),
    **{f"i{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"ui{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    "index": np.dtype(np.int64),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}
"""Element types that have arrays: MLIR's name to numpy's."""

BIT_WIDTHS = {name: ElementType.from_numpy(dtype).bit_width for name, dtype in DTYPES.items()}
"""Bits of one element; ml_dtypes holds those of less than 8 in the lower bits of a byte."""

FLOATS = frozenset(name for name, dtype in DTYPES.items() if ElementType.from_numpy(dtype).is_floating)

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
