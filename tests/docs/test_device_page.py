"""The device of docs/device-with-a-driver.md runs JAX's programs with its own kernels alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from tests.docs.page_blocks import read_blocks
from tests.programs import PROGRAMS, Program
from xla_core.backend import registry
from xla_core.cli import main

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")

PAGE = Path(__file__).parents[2] / "docs" / "device-with-a-driver.md"
OTHER_TYPES = {"mixed_precision_step"}  # its arguments are bf16
SAMPLE = {"mlp", "attention_grad", "embedding_grad", "convnet_grad", "adam_step", "transformer_step", "lstm_grad"}
TRAINED = [p for p in PROGRAMS if p.kind in ("networks", "training") and p.name not in OTHER_TYPES]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    registry.clear_cache()  # another test's acme may have been installed in this process before
    assert main(["new", "acme", "--scenario", "3", "--driver", "c", "--directory", str(folder)]) == 0
    for block in read_blocks(PAGE):
        if block.options.get("title", "").startswith("xla-backend-acme/"):
            (folder / block.options["title"]).write_text(block.text)
    compiler = folder / "xla-backend-acme" / "xla_backend_acme" / "compiler.py"
    compiler.write_text(compiler.read_text().replace("simulates_others = True", "simulates_others = False"))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
    subprocess.run([*command, str(folder / "lib"), str(folder / "xla-backend-acme")], check=True)
    return folder / "lib"


@pytest.fixture
def acme(library: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(library), os.environ.get("PYTHONPATH", "")]))
    registry.clear_cache()
    return "acme"


@pytest.mark.parametrize(
    "program", [pytest.param(p, marks=() if p.name in SAMPLE else pytest.mark.slow) for p in TRAINED], ids=str
)
def test_programs_of_jax_run_without_a_fallback(acme: str, program: Program) -> None:
    with xla.Client(acme) as client:
        executable = client.compile(program.text)
        assert "HloKernel" not in str(executable.artifacts()["thunks"])
        program.check([np.asarray(result) for result in executable(*program.inputs())])


def test_the_page_has_few_lines() -> None:
    own = [b for b in read_blocks(PAGE) if b.options.get("title", "").startswith("xla-backend-acme/")]
    assert [Path(b.options["title"]).name for b in own] == ["kernels.c", "kernels.py"]
    assert sum(len(b.text.splitlines()) for b in own) <= 400
