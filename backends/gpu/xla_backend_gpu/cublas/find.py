"""Finds cuBLASLt on this machine, without loading it."""

from __future__ import annotations

import ctypes.util
import importlib.util
from pathlib import Path

from xla_backend_gpu.cublas.library import CublasLt
from xla_core.errors import FailedPreconditionError, XlaError

WHEELS = ("cu13/lib/libcublasLt.so.13", "cublas/lib/libcublasLt.so.12")
"""Where the wheels nvidia-cublas (CUDA 13) and nvidia-cublas-cu12 have the library, in the folder "nvidia"."""

SONAMES = ("libcublasLt.so.13", "libcublasLt.so.12")
"""The library of a CUDA toolkit, which the loader finds."""

INSTALL = 'pip install "xla-backend-gpu[cublas]"'


def installed() -> list[str]:
    """Returns the libraries of installed wheels, the newest first."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    found = [Path(folder, wheel) for wheel in WHEELS for folder in folders]
    return [str(path) for path in found if path.is_file()]


def find(*, wheels_only: bool = False) -> str:
    """Returns the library that would be opened first, or "". It is not opened. To ask the loader takes a while."""
    wheels = installed()
    if wheels or wheels_only:
        return next(iter(wheels), "")
    found = ctypes.util.find_library("cublasLt") or ""
    return found if found in SONAMES else ""  # another version can't be used


def open_library(path: str = "") -> CublasLt | None:
    """Opens the library at a path, or the first one of this machine that the device's driver can use.

    Returns None if there is none. The device's context is current.

    Raises:
        FailedPreconditionError: the library at the given path can't be used.
    """
    if path:
        return CublasLt(path)
    for candidate in (*installed(), *SONAMES):
        try:
            return CublasLt(candidate)
        except XlaError:  # made for a newer driver, or not there
            continue
    return None


def missing(what: str) -> FailedPreconditionError:
    """Returns the error of a program with calls of the library, on a device without it."""
    return FailedPreconditionError(
        f"{what} calls cuBLASLt, which this device does not have",
        hint=f"{INSTALL}, or compile the program with products='own'",
    )
