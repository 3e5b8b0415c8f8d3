"""A CUDA driver for machines without a GPU, so that what calls CUDA's driver runs in the tests.

`libcuda.so.1` is a few lines of C. What cuda-bindings asks it for are Python functions, which run kernels, streams and
events on emulated devices, and which are as strict as the driver about contexts, handles and captured streams.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_FOLDER = Path(__file__).parent
_ROOT = _FOLDER.parents[3]


def compiler() -> str | None:
    """Returns the path of a C compiler, or None."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def environment(folder: Path, devices: int = 1, started: int = 0) -> dict[str, str]:
    """Builds the library in a folder. Returns the environment of processes that have so many devices.

    `started` is the status of cuInit.
    """
    library, cc = folder / "libcuda.so.1", compiler()
    assert cc is not None
    command = [cc, "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(library), str(_FOLDER / "libcuda.c")]
    subprocess.run(command, check=True)
    paths = [str(_FOLDER / "site"), str(_ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "XLA_TEST_LIBCUDA": str(library),
        "XLA_TEST_CUDA_DEVICES": str(devices),
        "XLA_TEST_CUDA_STARTED": str(started),
    }
