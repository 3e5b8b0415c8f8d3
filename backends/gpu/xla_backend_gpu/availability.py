"""Finds out which devices this machine has, without opening one."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re

from xla_backend_gpu.flags import GpuFlags
from xla_core.backend import Availability, Requirement
from xla_core.config import plugin_flags
from xla_core.errors import UnavailableError, XlaError

_LIBRARIES = ("libcuda.so.1", "nvcuda.dll")
_DEVICE_FILE = re.compile(r"nvidia\d+|dxg|nvgpu|nvhost-gpu")  # on a server or desktop, in WSL 2, on Jetson
_VISIBLE = re.compile(r"\s*(\d|GPU-|MIG-)")  # CUDA ignores all entries from the first one that names no GPU


def count_gpus() -> int:
    """Returns the number of GPUs to use, for which it starts NVIDIA's driver; 0 if devices are emulated.

    Raises:
        UnavailableError: the driver doesn't work.
    """
    if why_emulated():
        return 0
    from xla_backend_gpu.cuda_calls import count_devices

    try:
        return count_devices()
    except XlaError as error:
        raise UnavailableError(
            f"NVIDIA's driver doesn't work: {error.message}",
            hint=error.hint or "run nvidia-smi, which tests the driver, or set XLA_CORE_FLAGS=--xla_gpu_emulate",
        ) from error


def why_emulated() -> str:
    """Returns why devices are emulated although the driver has not been asked, or ""."""
    return cuda_missing() or ("XLA_CORE_FLAGS has --xla_gpu_emulate" if _emulates() else "")


def shows_gpu() -> bool:
    """Tells whether the system shows a GPU to this process. The driver isn't started, and may turn out to be broken."""
    if not _VISIBLE.match(os.environ.get("CUDA_VISIBLE_DEVICES", "0")):
        return False
    if os.name == "nt":
        return True  # which has no such files
    return os.path.isdir("/dev") and any(map(_DEVICE_FILE.fullmatch, os.listdir("/dev")))


def _emulates() -> bool:
    try:
        return plugin_flags("gpu", GpuFlags).xla_gpu_emulate
    except XlaError:  # whoever uses the flags is told
        return False


@functools.cache
def cuda_missing() -> str:
    """Returns what a GPU would need that isn't installed, or ""."""
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
    """Reports that devices are available. Without a GPU they are emulated, and the requirement says so.

    The driver isn't started. One that is broken is found when a client opens the devices.
    """
    missing = why_emulated() or ("" if shows_gpu() else "this process sees no GPU")
    products = Requirement("products", met=True, detail=_products(emulated=bool(missing)))
    return Availability.of(Requirement("emulator" if missing else "NVIDIA driver", met=True, detail=missing), products)


def _products(*, emulated: bool) -> str:
    """Says whether cuBLASLt was found. Everything works without it."""
    from xla_backend_gpu.cublas.find import INSTALL, find

    found = find(wheels_only=emulated)
    if not found:
        return f"by own kernels; cuBLASLt was not found ({INSTALL})"
    if emulated:
        return f"by own kernels; cuBLASLt was found ({found}), but needs a GPU"
    return f"by cuBLASLt ({found}) or by own kernels"
