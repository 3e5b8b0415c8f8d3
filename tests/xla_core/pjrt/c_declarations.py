"""PJRT's structures as C declarations, written from the table."""

from __future__ import annotations

import ctypes

from xla_core.pjrt import abi, abi_table

_C_TYPES = {
    ctypes.c_void_p: "void*",
    ctypes.c_size_t: "size_t",
    ctypes.c_int32: "int",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint64: "uint64_t",
    ctypes.c_bool: "bool",
    ctypes.c_float: "float",
}

_HEAD = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"


def declarations(prefix: str = "") -> str:
    """Returns typedefs of all structures, and the table `Api`, whose functions take and return `void*`."""
    structs = [
        f"typedef struct {prefix}{name} {{ {' '.join(_field(prefix, *field) for field in struct._fields_)} }} "
        f"{prefix}{name};"
        for name, struct in abi.STRUCTS.items()
    ]
    functions = " ".join(f"void* (*{name})(void*);" for name in abi_table.FUNCTIONS)
    api = (
        f"typedef struct {{ size_t struct_size; void* extension_start; {prefix}Api_Version version; {functions} }} Api;"
    )
    return "\n".join([_HEAD, *structs, api])


def _field(prefix: str, name: str, kind: type) -> str:
    if issubclass(kind, ctypes.Union):
        return "union { " + " ".join(_field(prefix, field, of) for field, of in kind._fields_) + f" }} {name};"
    return f"{_C_TYPES.get(kind) or prefix + kind.__name__} {name};"
