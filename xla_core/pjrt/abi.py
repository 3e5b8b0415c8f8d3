"""PJRT's C structures as ctypes classes, made from `abi_table`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from xla_core.c_structures import read_structures
from xla_core.pjrt import abi_table

STRUCTS = read_structures(abi_table.STRUCTURES)
"""The structures by their names without `PJRT_`."""

FIELDS = {name: struct.field_names() for name, struct in STRUCTS.items()}
"""The names of each structure's fields, in order."""


EXTENSION_BASE = "Extension_Base!: struct_size:z type:i next"
"""The first structure of every extension, for the tables of extensions."""


class Api(ctypes.Structure):
    """The table of functions that a host of PJRT calls."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("pjrt_api_version", STRUCTS["Api_Version"]),
        *[(name, ctypes.c_void_p) for name in abi_table.FUNCTIONS],
    )


# -- values in C memory ------------------------------------------------------------------------------------------------


def text_at(address: int | None, size: int) -> str:
    """Reads a string that has `size` bytes."""
    return bytes_at(address, size).decode("utf-8", "replace")


def bytes_at(address: int | None, size: int) -> bytes:
    return ctypes.string_at(address, size) if address and size else b""


def integers_at(address: int | None, count: int) -> tuple[int, ...]:
    """Reads an array of 64-bit integers."""
    return tuple(np.frombuffer(bytes_at(address, count * 8), np.int64).tolist())


def pointers_at(address: int | None, count: int) -> list[int]:
    """Reads an array of pointers."""
    return list((ctypes.c_size_t * count).from_address(address)) if address and count else []


def int64s(values: Iterable[int]) -> Any:
    data = list(values)
    return (ctypes.c_int64 * max(1, len(data)))(*data)


def pointers(values: Iterable[int]) -> Any:
    data = list(values)
    return (ctypes.c_size_t * max(1, len(data)))(*data)


def address_of(data: Any) -> int:
    return ctypes.addressof(data)


def named_values(values: dict[str, Any], keep: list[Any]) -> Any:
    """Makes an array of PJRT_NamedValue. The memory that it points to is appended to `keep`, which must live as long.

    A value is a str, bool, int, float or a sequence of ints.
    """
    struct = STRUCTS["NamedValue"]
    array = (struct * max(1, len(values)))()
    keep.append(array)
    for item, (name, value) in zip(array, values.items(), strict=False):
        encoded = ctypes.create_string_buffer(name.encode())
        keep.append(encoded)
        item.struct_size = struct.full_size
        item.name, item.name_size, item.value_size = address_of(encoded), len(encoded) - 1, 1
        match value:
            case str():
                text = ctypes.create_string_buffer(value.encode())
                keep.append(text)
                item.type, item.value.string_value, item.value_size = 0, address_of(text), len(text) - 1
            case bool():
                item.type, item.value.bool_value = 4, value
            case int():
                item.type, item.value.int64_value = 1, value
            case float():
                item.type, item.value.float_value = 3, value
            case _:
                data = int64s(value)
                keep.append(data)
                item.type, item.value.int64_array_value, item.value_size = 2, address_of(data), len(value)
    return array
