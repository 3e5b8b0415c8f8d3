"""The driver's functions and structures, by ctypes. Calls release the GIL."""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p
from functools import cache

from xla_backend_queue_device import LIBRARY

OUTSIDE_MEMORY = -1
OPERANDS, RANK = 4, 6
TYPES = ("f32", "s32", "pred")
OPS = (
    *("copy", "select", "iota", "convert", "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"),
    *("power", "multiply-add", "and", "or", "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic"),
    *(
        "EQ",
        "NE",
        "LT",
        "LE",
        "GT",
        "GE",
        "negate",
        "abs",
        "not",
        "floor",
        "ceil",
        "sqrt",
        "exponential",
        "log",
        "tanh",
    ),
    *("sine", "cosine"),
)
"""The driver's numbers of types and ops are places in these."""

Callback = CFUNCTYPE(c_int64)


class Launch(ctypes.Structure):
    """One launch: destination[...] = op(a[...], b[...], c[...]) for each index. Strides and offsets count elements."""

    _fields_ = (
        ("op", c_int32),
        ("rank", c_int32),
        ("types", c_int32 * OPERANDS),
        ("extents", c_int64 * RANK),
        ("strides", c_int64 * RANK * OPERANDS),
        ("offsets", c_int64 * OPERANDS),
        ("addresses", c_uint64 * OPERANDS),
    )


_SIGNATURES = {
    "device_open": (c_void_p, (c_uint64,)),
    "device_allocate": (c_uint64, (c_void_p, c_uint64)),
    "device_free": (None, (c_void_p, c_uint64)),
    "device_memory": (c_uint64, (c_void_p,)),
    "device_close": (None, (c_void_p,)),
    "stream_create": (c_void_p, (c_void_p,)),
    "stream_error": (c_int64, (c_void_p,)),
    "stream_done": (c_int64, (c_void_p,)),
    "stream_h2d": (None, (c_void_p, c_uint64, c_void_p, c_uint64)),
    "stream_d2h": (None, (c_void_p, c_void_p, c_uint64, c_uint64)),
    "stream_d2d": (None, (c_void_p, c_uint64, c_uint64, c_uint64)),
    "stream_fill": (None, (c_void_p, c_uint64, c_uint64, c_int)),
    "stream_launch": (None, (c_void_p, POINTER(Launch))),
    "stream_callback": (None, (c_void_p, Callback)),
    "stream_recover": (None, (c_void_p,)),
    "stream_destroy": (None, (c_void_p,)),
    "event_create": (c_void_p, ()),
    "event_record": (None, (c_void_p, c_void_p)),
    "event_await": (None, (c_void_p, c_void_p)),
    "event_synchronize": (c_int, (c_void_p, c_double, POINTER(c_int64))),
    "event_destroy": (None, (c_void_p,)),
}


@cache
def driver() -> ctypes.CDLL:
    """Loads the driver. Nothing but the opening of a device calls it first."""
    library = ctypes.CDLL(os.environ[LIBRARY])
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
