"""cuBLASLt for machines without a GPU: a library with its functions that computes in the host's memory.

It checks every descriptor and every address. An emulated device uses it if the flag `xla_gpu_cublas_library` names it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.backends.gpu.cuda_stub import compiler

_SOURCE = Path(__file__).with_name("cublaslt.c")


def build(folder: Path) -> Path:
    """Builds the library in a folder, with the compiler that `cuda_stub.compiler` finds; returns its path."""
    library, cc = folder / "libcublasLt_stub.so", compiler()
    assert cc is not None
    command = [cc, "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-lm"]
    subprocess.run(command, check=True)
    return library
