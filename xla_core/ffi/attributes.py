"""Attributes of a custom call in C memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.ffi.structures import STRUCTS, AttributeKind
from xla_core.hlo.values.element_type import ElementType

_Span, _Scalar, _Array, _Attrs = (STRUCTS[name] for name in ("ByteSpan", "Scalar", "Array", "Attrs"))


def make_attributes(values: Mapping[str, Any], keep: list[Any]) -> Any:
    """Makes the structure Attrs of a dictionary. The memory that it points to is appended to `keep`, which must live as
    long.

    Args:
        values: as `read_typed_attributes` gives them. Handlers find names by binary search, so that they are sorted.

    Raises:
        InvalidArgumentError: for a value that the interface has no form for.
    """
    names = sorted(values, key=str.encode)
    made = [_make(name, values[name], keep) for name in names]
    count = len(names)
    types = (ctypes.c_int32 * count)(*[kind for kind, _ in made])
    spans = (ctypes.c_void_p * count)(*[_address(_span(name, keep)) for name in names])
    places = (ctypes.c_void_p * count)(*[_address(value) for _, value in made])
    keep += [types, spans, places, [value for _, value in made]]
    return _Attrs(_Attrs.full_size, None, count, _address(types), _address(spans), _address(places))


def _make(name: str, value: Any, keep: list[Any]) -> tuple[AttributeKind, Any]:
    match value:
        case str():
            return AttributeKind.STRING, _span(value, keep)
        case dict():
            return AttributeKind.DICTIONARY, make_attributes(value, keep)
        case np.ndarray():
            data = np.ascontiguousarray(value).reshape(-1)
            keep.append(data)
            return AttributeKind.ARRAY, _Array(_code(data), data.size, data.ctypes.data)
        case np.generic():
            data = np.array(value)
            keep.append(data)
            return AttributeKind.SCALAR, _Scalar(_code(data), data.ctypes.data)
    raise InvalidArgumentError(
        f"attribute {name!r} is {value!r}, which XLA's FFI can't pass",
        hint="it passes booleans, numbers, strings, arrays of numbers, and dictionaries of these",
    )


def _code(data: np.ndarray) -> int:
    return ElementType.from_numpy(data.dtype).proto


def _span(text: str, keep: list[Any]) -> Any:
    data = text.encode("utf-8", "surrogateescape")
    memory = ctypes.create_string_buffer(data, len(data) + 1)
    span = _Span(ctypes.addressof(memory), len(data))
    keep += [memory, span]
    return span


def _address(value: Any) -> int:
    return ctypes.addressof(value)
