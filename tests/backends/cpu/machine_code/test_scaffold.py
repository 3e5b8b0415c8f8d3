"""A package of `xla new --scenario 1` whose machine code comes from a C compiler, as its own README says."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="not installed: a C compiler (cc)")

PROGRAM = """HloModule scores
ENTRY main {
  x = f32[20,30] parameter(0)
  y = f32[30,10] parameter(1)
  z = f32[20,10] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[20,10] tanh(z)
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package, whose compiler has what its docstring shows for C."""
    folder = tmp_path_factory.mktemp("orcac")
    _run(folder, "xla_core.cli", "new", "orcac", "--scenario", "1")
    path = folder / "xla-backend-orcac" / "xla_backend_orcac" / "compiler.py"
    text = path.read_text()
    _, shown, rest = text.partition("let a C compiler make the machine code, of C from the same LLVM IR:\n\n")
    assert shown, "the docstring shows how machine code is made by a C compiler"
    own = inspect.cleandoc(rest.partition('\n    """')[0])
    methods = "".join(f"    {line}\n" if line else "\n" for line in own.splitlines())
    imported = "from xla_backend_cpu.machine_code import CCodeGenerator, CodeGenerator\n"
    path.write_text(text.replace("from xla_core.target", f"{imported}from xla_core.target") + "\n" + methods)
    options = ("-q", "--no-deps", "--no-build-isolation", "--target", "lib")
    _run(folder, "pip", "install", *options, "./xla-backend-orcac")
    (folder / "scores.hlo").write_text(PROGRAM)
    return folder


def _run(folder: Path, module: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder / "lib"), "COLUMNS": "160"}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_programs_run_by_c(folder: Path) -> None:
    _run(folder, "xla_core.cli", "run", "scores.hlo", "--backend", "orcac", "--check")
    source = _run(folder, "xla_core.cli", "compile", "scores.hlo", "--backend", "orcac", "--emit", "c")
    assert "#include <stdint.h>" in source
    printed = _run(folder, "xla_core.cli", "aot", "scores.hlo", "--backend", "orcac", "-o", "out/scores")
    assert "scores.o" in printed


@pytest.mark.slow
def test_package_passes_a_part_of_the_suite(folder: Path) -> None:
    chosen = "loading or streams or test_op[tanh or mlp_sgd_step"
    printed = _run(folder, "xla_core.cli", "conform", "--backend", "orcac", "-k", chosen, "--report", "report")
    assert "orcac passes (quick" in printed
