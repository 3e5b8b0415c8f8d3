"""Structures of C interfaces as ctypes classes, made from tables of their fields.

A line of a table describes one structure: its name, then its fields in order, as `name:type`. A field without a type is
a pointer; z is a size_t, i an int or an enum, I a uint32, l an int64, L a uint64, b a bool, f a float; other types are
structures of the same table, or a union in parentheses. Each structure begins with the fields `struct_size` and
`extension_start`, unless its name ends with `!`. A line that begins with a space continues the line before.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

_BASIC: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "z": ctypes.c_size_t,
    "i": ctypes.c_int32,
    "I": ctypes.c_uint32,
    "l": ctypes.c_int64,
    "L": ctypes.c_uint64,
    "b": ctypes.c_bool,
    "f": ctypes.c_float,
}


class Struct(ctypes.Structure):
    """A structure of a table. Attributes are the fields; a null pointer reads as None.

    Attributes:
        full_size: what `struct_size` must be: the end of the last field, without the padding after it.
    """

    full_size: int

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        return tuple(field[0] for field in cls._fields_)


def read_structures(table: str) -> dict[str, type[Struct]]:
    """Makes the structures of a table, by their names."""
    structs: dict[str, type[Struct]] = {}
    for line in re.sub(r"\n +", " ", table.strip()).split("\n"):
        name, _, body = line.partition(":")
        fields: list[tuple[str, Any]] = []
        if not name.endswith("!"):
            fields += [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p)]
        for field, kind in re.findall(r"(\w+)(?::(\([^)]*\)|\w+))?", body):
            fields.append((field, _type_of(kind or "p", structs)))
        name = name.rstrip("!")
        struct: Any = type(name, (Struct,), {"_fields_": fields})
        last = getattr(struct, fields[-1][0])
        struct.full_size = last.offset + last.size
        structs[name] = struct
    return structs


def _type_of(text: str, known: dict[str, type[Struct]]) -> Any:
    if text.startswith("("):
        members = [field.split(":") for field in text[1:-1].split()]
        return type("Union", (ctypes.Union,), {"_fields_": [(name, _type_of(kind, known)) for name, kind in members]})
    return _BASIC.get(text) or known[text]
