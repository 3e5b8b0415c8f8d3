"""Runs ptxas, NVIDIA's assembler, which reports the resources of kernels. It comes with nvidia-cuda-nvcc."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
import tempfile
from pathlib import Path

from xla_core.errors import InternalError


@functools.cache
def find_ptxas() -> str | None:
    """Returns the path of ptxas, from PATH or the wheel nvidia-cuda-nvcc, or None."""
    on_path = shutil.which("ptxas")
    if on_path is not None:
        return on_path
    wheels = importlib.util.find_spec("nvidia")
    for place in wheels.submodule_search_locations or () if wheels is not None else ():
        found = sorted(Path(place).glob("*/bin/ptxas"))
        if found:
            return str(found[-1])
    return None


def assemble(ptx: str, processor: str) -> tuple[bytes, str]:
    """Returns machine code, and ptxas's report on each kernel: registers, spills, shared memory.

    Raises:
        InternalError: ptxas is missing, or it refuses the PTX.
    """
    path = find_ptxas()
    if path is None:
        raise InternalError("ptxas was not found", hint="pip install xla-backend-gpu[ptxas], or put ptxas on the PATH")
    with tempfile.TemporaryDirectory(prefix="xla-ptxas-") as folder:
        source, target = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
        source.write_text(ptx)
        command = [path, "-v", f"-arch={processor}", "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = (done.stdout + done.stderr).replace(f"{folder}/", "")
        if done.returncode:
            raise InternalError(f"ptxas refuses PTX for {processor}: {said.strip()}")
        return target.read_bytes(), said


def machine_code(ptx: str, processor: str) -> bytes:
    """Returns the machine code of PTX, or b"" if there are no kernels, or ptxas is missing or refuses them."""
    if not ptx or find_ptxas() is None:
        return b""
    try:
        return assemble(ptx, processor)[0]
    except InternalError:
        return b""


def ptxas_report(ptx: str, processor: str) -> str:
    """Returns ptxas's report on the kernels, or the reason why there is none."""
    try:
        return assemble(ptx, processor)[1]
    except InternalError as error:
        return f"{error.message}\n"
