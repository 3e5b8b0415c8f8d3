"""Structures as C declarations, written from their tables."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from xla_core.c_structures import Struct
from xla_core.pjrt import abi, abi_table

_C_TYPES = {
    ctypes.c_void_p: "void*",
    ctypes.c_size_t: "size_t",
    ctypes.c_int32: "int",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint64: "uint64_t",
    ctypes.c_bool: "bool",
    ctypes.c_float: "float",
}

_HEAD = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


def declarations(prefix: str = "") -> str:
    """Returns typedefs of PJRT's structures, and of the table `Api`, whose functions take and return `void*`."""
    functions = " ".join(f"void* (*{name})(void*);" for name in abi_table.FUNCTIONS)
    api = (
        f"typedef struct {{ size_t struct_size; void* extension_start; {prefix}Api_Version version; {functions} }} Api;"
    )
    return "\n".join([structures(abi.STRUCTS, prefix), api])


def structures(structs: Mapping[str, type[Struct]], prefix: str = "") -> str:
    """Returns typedefs of structures."""
    return "\n".join(
        [
            _HEAD,
            *(
                f"typedef struct {prefix}{name} {{ {' '.join(_field(prefix, *field) for field in struct._fields_)} }} "
                f"{prefix}{name};"
                for name, struct in structs.items()
            ),
        ]
    )


def _field(prefix: str, name: str, kind: type) -> str:
    if issubclass(kind, ctypes.Union):
        return "union { " + " ".join(_field(prefix, field, of) for field, of in kind._fields_) + f" }} {name};"
    return f"{_C_TYPES.get(kind) or prefix + kind.__name__} {name};"
