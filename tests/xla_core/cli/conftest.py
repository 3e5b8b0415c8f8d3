"""Commands run in this process, on the toy backend."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xla_core.cli import main
from xla_core.cli.app import _load

HLO = """\
HloModule softplus

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  product = f32[2,3] multiply(x, y)
  ROOT result = f32[2,3] exponential(product)
}
"""


@dataclasses.dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def xla(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """`xla("run", FILE, ...)` is the command line."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("XLA_PLATFORM", raising=False)
    _load.cache_clear()

    def run(*words: object) -> Outcome:
        capfd.readouterr()
        code = main([str(word) for word in words])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def toy_backend(install: Callable[..., None], toy: Any) -> str:
    """The name of an installed backend."""
    install("toy", "toy", "from toy_backend import xla_backend\n")
    return "toy"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "softplus.hlo"
    path.write_text(HLO)
    return path
