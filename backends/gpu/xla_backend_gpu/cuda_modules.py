"""Loads modules of PTX or machine code on a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cuda

from xla_core.errors import XlaError

_LOG_BYTES = 8192


def load_module(image: bytes, call: Callable[..., Any]) -> Any:
    """Loads a module in the current context; returns the driver's handle.

    Args:
        image: PTX or machine code.
        call: calls a function of the driver.

    Raises:
        XlaError: the driver refuses the module. The hint has the log of its compiler.
    """
    code, log = ctypes.create_string_buffer(image), bytearray(_LOG_BYTES)
    options = {
        cuda.CUjit_option.CU_JIT_ERROR_LOG_BUFFER: log,
        cuda.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: len(log),
    }
    try:
        return call("cuModuleLoadDataEx", ctypes.addressof(code), len(options), list(options), list(options.values()))
    except XlaError as error:
        said = log.split(b"\0", 1)[0].decode(errors="replace").strip()
        if said:
            error.hint = f"the driver's compiler says: {said}"
        raise
