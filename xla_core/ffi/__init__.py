"""XLA's typed foreign function interface (FFI): native functions as custom calls.

    registry        registers handlers, by the addresses of C functions, as targets of custom calls
    call_site       one custom call of a program, and the calls of its handler
    call_frame      the argument of a handler in C memory: operands, results, attributes
    attributes      attributes in C memory
    api             the functions that a handler may call
    objects         errors, futures, types and call contexts, to which a handler has pointers
    structures      C structures, from a table

A handler is compiled against XLA's headers (xla/ffi/api/ffi.h or c_api.h) and knows nothing of xla-core.
"""

from __future__ import annotations

from xla_core.ffi.call_site import FfiCallSite
from xla_core.ffi.registry import FfiHandler, register_ffi_handler, register_ffi_type

__all__ = ["FfiCallSite", "FfiHandler", "register_ffi_handler", "register_ffi_type"]
