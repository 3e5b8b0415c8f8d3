"""A CUDA driver for machines without a GPU, so that what calls CUDA's driver runs in the tests.

`libcuda.so.1` is a few lines of C. What cuda-bindings asks it for are Python functions, which run kernels, streams and
events on emulated devices, and which are as strict as the driver about contexts, handles and captured streams.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., subprocess.CompletedProcess]
"""Runs a program of Python, or a command, where there are GPUs as far as cuda-bindings can tell; see `runner`."""

START = """
import gc
import json
import numpy as np
import xla_core as xla
from tests.backends.gpu.cuda_stub import driver

client = xla.Client("gpu")
STEPS = "".join(f"  y{n + 1} = f32[300] add(y{n}, x)\\n" for n in range(5))
CHAIN = "HloModule m\\nENTRY main {\\n  x = f32[300] parameter(0)\\n  y0 = f32[300] multiply(x, x)\\n" + STEPS
CHAIN += "  ROOT z = f32[300] add(y5, x)\\n}"
ONE_BY_ONE = dict(optimization_level=1)  # no fusion
X = np.arange(300, dtype=np.float32)
"""

"""How each program begins."""

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


def runner(folder: Path) -> Run:
    """Builds the library in a folder. Returns what runs programs and commands with it."""

    def run(program: str = "", *command: str, devices: int = 1, started: int = 0) -> subprocess.CompletedProcess:
        command = command or (sys.executable, "-c", START + program)
        variables = environment(folder, devices, started)
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def result(done: subprocess.CompletedProcess) -> Any:
    """Returns the JSON of the last line that a process printed."""
    return json.loads(done.stdout.splitlines()[-1])
