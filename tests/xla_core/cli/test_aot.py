"""`xla aot`: the files of a backend, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_backend_without_code_for_processors_writes_its_own_file(
    xla: Callable[..., Any], toy_backend: str, program: Path, tmp_path: Path
) -> None:
    result = xla("aot", program, "--backend", toy_backend, "-o", tmp_path / "out" / "model")
    assert result.code == 0, result.err
    assert result.out == f"wrote model.xla to {tmp_path / 'out'}\n"
    assert (tmp_path / "out" / "model.xla").read_bytes().startswith(b"HloModule")


def test_options_that_a_backend_lacks_are_refused(xla: Callable[..., Any], toy_backend: str, program: Path) -> None:
    result = xla("aot", program, "--backend", toy_backend, "--triple", "riscv64-linux-gnu", "--threads", 2, "-o", "m")
    assert result.code == 2
    assert "it has no threads, triple" in result.err
    assert "leave these options out" in result.err


def test_wrong_values_are_refused(xla: Callable[..., Any], toy_backend: str, program: Path) -> None:
    for option, value, allowed in (("--float-abi", "softer", "'hard' or 'soft'"), ("--relocation-model", "x", "'pic'")):
        result = xla("aot", program, "--backend", toy_backend, option, value, "-o", "m")
        assert result.code == 2
        assert allowed in result.err
    result = xla("aot", program, "--backend", toy_backend, "-o", "2nd-model")
    assert result.code == 2
    assert "an identifier of C, as in out/mlp, not '2nd-model'" in result.err
    result = xla("aot", program, "--backend", toy_backend, "-o", str(program.parent))
    assert result.code == 2
    assert "an identifier of C, as in out/mlp, not the directory" in result.err
