"""Short StableHLO programs as text, and element types by their names in MLIR."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

NARROW_FLOATS = {
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
NARROW_INTEGERS = {"i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4}
FLOATS = {**NARROW_FLOATS, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
DTYPES = {
    **FLOATS,
    **NARROW_INTEGERS,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "i1": np.bool_,
    **{f"i{n}": np.dtype(f"int{n}").type for n in (8, 16, 32, 64)},
    **{f"ui{n}": np.dtype(f"uint{n}").type for n in (8, 16, 32, 64)},
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
_NAMES = {np.dtype(v): k for k, v in DTYPES.items()}


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def type_of(array: np.ndarray) -> str:
    """The MLIR type of an array."""
    return tensor(array.shape, _NAMES[array.dtype])


def main(arguments: Sequence[str], lines: Sequence[str], results: Sequence[tuple[str, str]]) -> str:
    """A main function: argument types (%0 is %a0...), lines of its body, and (value, type) of each result."""
    parameters = ", ".join(f"%a{i}: {t}" for i, t in enumerate(arguments))
    types = ", ".join(t for _, t in results)
    names = ", ".join(v for v, _ in results)
    body = "\n".join(f"  {line}" for line in lines)
    return f"func.func @main({parameters}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}\n"


def every_value(element: str) -> np.ndarray:
    """Every value of a type of 8 bits or fewer, in the order of their bits."""
    dtype = np.dtype(DTYPES[element])
    if dtype.name.startswith(("int", "uint")) or element == "i1":
        low, high = (0, 1) if element == "i1" else (int(ml_dtypes.iinfo(dtype).min), int(ml_dtypes.iinfo(dtype).max))
        return np.arange(low, high + 1).astype(dtype)
    bits = int(ml_dtypes.finfo(dtype).bits)
    return np.arange(2**bits, dtype=np.uint8).view(dtype)
