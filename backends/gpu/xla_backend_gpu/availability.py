"""Finds out which devices this machine has, without opening one."""

from __future__ import annotations

import ctypes
import functools
import importlib.util

from xla_core.backend import Availability, Requirement

_LIBRARIES = ("libcuda.so.1", "nvcuda.dll")


@functools.cache
def cuda_missing() -> str:
    """Returns why no GPU can be used, or "" if one may be usable."""
    if not any(map(_loads, _LIBRARIES)):
        return "no NVIDIA driver found"
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None:
        return "an NVIDIA driver is there, but cuda-bindings is not: pip install xla-backend-gpu[cuda]"
    return ""


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def probe() -> Availability:
    """Reports that devices are available. Without a GPU they are emulated, and the requirement says so."""
    missing = cuda_missing()
    products = Requirement("products", met=True, detail=_products(emulated=bool(missing)))
    if missing:
        return Availability.of(Requirement("emulator", met=True, detail=missing), products)
    return Availability.of(Requirement("NVIDIA driver", met=True), products)


def _products(*, emulated: bool) -> str:
    """Says whether cuBLASLt was found. Everything works without it."""
    from xla_backend_gpu.cublas.find import INSTALL, find

    found = find(wheels_only=emulated)
    if not found:
        return f"by own kernels; cuBLASLt was not found ({INSTALL})"
    if emulated:
        return f"by own kernels; cuBLASLt was found ({found}), but needs a GPU"
    return f"by cuBLASLt ({found}) or by own kernels"
