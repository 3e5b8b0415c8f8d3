"""Conversion of the arrays that callers pass to numpy arrays in native byte order."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.hlo.values.element_type import ElementType

_NATIVE = frozenset(t.dtype for t in ElementType if t.is_array)
_HOST_DEVICES = (1, 3, 11)  # DLPack's CPU, CUDA host, ROCm host


def as_host_array(value: Any, dtype: np.dtype | None = None) -> np.ndarray:
    """Converts a numpy array, DLPack object, object with `__array__`, Python number or nested list to a numpy array.

    A Python number (or list of numbers) has no type of its own and gets `dtype`, if that is given and can hold it.
    Byte-swapped arrays are copied; other arrays are returned unchanged, with any strides.

    Raises:
        InvalidArgumentError: for values that have no element type (objects, strings, dates, ragged lists).
    """
    if value.__class__ is np.ndarray and value.dtype in _NATIVE:
        return cast(np.ndarray, value)
    array = np.asarray(value) if isinstance(value, np.generic) else _convert(value, dtype)
    if array.dtype in _NATIVE:
        return array
    ElementType.from_numpy(array.dtype)  # raises for a dtype without an element type
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_argument(value: Any, dtype: np.dtype | None, index: int, program: str) -> np.ndarray:
    """Converts argument `index` of a program like `as_host_array`; errors name the argument."""
    try:
        return as_host_array(value, dtype)
    except InvalidArgumentError as error:
        hint = error.hint
        stored = getattr(value, "dtype", None)
        if (
            dtype is not None and dtype.isbuiltin != 1 and stored == np.dtype(f"V{dtype.itemsize}")
        ):  # numpy.load reads types of ml_dtypes like this
            hint = f"if these are the bytes of {dtype.name}, give them their type: array.view(ml_dtypes.{dtype.name})"
        raise InvalidArgumentError(f"argument {index} of {program}: {error.message}", hint=hint) from error


def _convert(value: Any, dtype: np.dtype | None) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgumentError(
            "a masked array cannot be transferred to a device", hint="call .filled() on it first"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    try:
        if isinstance(value, (bool, int, float, complex, list, tuple)):
            return _from_python(value, dtype)
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(_on_host(value))
        return np.asarray(value)
    except XlaError:
        raise
    except Exception as error:
        raise InvalidArgumentError(
            f"{type(value).__name__} is not an array: {error}", hint="pass a numpy array, a DLPack object or a Buffer"
        ) from error


def _on_host(value: Any) -> Any:
    kind, ordinal = value.__dlpack_device__()
    if kind not in _HOST_DEVICES:
        raise InvalidArgumentError(
            f"this {type(value).__name__} is in the memory of DLPack device ({int(kind)}, {ordinal}), not the host's",
            hint="copy it to the host first",
        )
    return value


def _from_python(value: Any, dtype: np.dtype | None) -> np.ndarray:
    array = np.asarray(value)
    if dtype is None or array.dtype == dtype or array.dtype == object:
        return array
    element = ElementType.from_numpy(dtype)
    kind = array.dtype.kind
    if kind == "f" and not (element.is_floating or element.is_complex):
        return array  # the caller's check raises an error with both types
    if kind == "c" and not element.is_complex:
        return array
    if kind in "iu" and element.is_integral:
        cast = array.astype(dtype)
        if not np.array_equal(cast.astype(array.dtype), array):
            raise InvalidArgumentError(f"{value!r} does not fit in {element}")
        return cast
    if kind in "iu" and element is ElementType.PRED:
        return array
    return array.astype(dtype)
