"""`xla translate`: each form reads back as the same program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core
from xla_core.stablehlo import parse_bytecode, parse_text

TAN = """\
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.tan %x : tensor<2x3xf32> loc("model.py":3:5)
  return %0 : tensor<2x3xf32>
}
"""


@pytest.mark.parametrize("form", ["stablehlo", "stablehlo-generic", "portable-artifact", "hlo"])
def test_every_form_means_the_same(xla: Callable[..., Any], program: Path, tmp_path: Path, form: str) -> None:
    x, y = np.arange(12, dtype=np.float32).reshape(2, 2, 3) / 8
    for source in (program, tmp_path / "once.mlir"):
        out = tmp_path / f"{form}.out"
        result = xla("translate", source, "--to", form, "-o", out)
        assert (result.code, result.out) == (0, ""), result.err
        (got,) = xla_core.evaluate(out.read_bytes(), x, y)
        np.testing.assert_allclose(got, np.exp(x * y), rtol=1e-6)
        assert xla("translate", program, "--to", "stablehlo", "-o", tmp_path / "once.mlir").code == 0


def test_goes_to_stdout(xla: Callable[..., Any], program: Path) -> None:
    assert "stablehlo.multiply %arg0, %arg1" in xla("translate", program, "--to", "stablehlo").out
    assert '"stablehlo.multiply"(%arg0, %arg1)' in xla("translate", program, "--to", "stablehlo-generic").out
    assert xla("translate", program, "--to", "hlo").out.startswith("HloModule softplus")


def test_target_version(xla: Callable[..., Any], tmp_path: Path) -> None:
    source, out = tmp_path / "tan.mlir", tmp_path / "out"
    source.write_text(TAN)
    assert xla("translate", source, "--to", "portable-artifact", "--target-version", "1.3.0", "-o", out).code == 0
    assert b"StableHLO_v1.3.0" in out.read_bytes()
    assert "stablehlo.tan" not in {op.name for op in parse_bytecode(out.read_bytes()).walk()}
    x = np.float32([[0.5, -1.25, 1e5], [1.5707964, -0.0, 7e-39]])
    np.testing.assert_array_max_ulp(
        xla_core.evaluate(out.read_bytes(), x)[0], np.tan(x.astype(np.float64)), 2, np.float32
    )
    assert "stablehlo.tan" in xla("translate", source, "--to", "stablehlo", "--target-version", "1.4.0").out
    assert "stablehlo.tan" not in xla("translate", source, "--to", "stablehlo", "--target-version", "1.3.9").out


def test_locations(xla: Callable[..., Any], tmp_path: Path) -> None:
    source, out = tmp_path / "tan.mlir", tmp_path / "out"
    source.write_text(TAN)
    assert "loc(" not in xla("translate", source, "--to", "stablehlo").out
    assert 'loc("model.py":3:5)' in xla("translate", source, "--to", "stablehlo", "--locations").out
    for more, place in (((), "model.py:3:5"), (("--no-locations",), "<unknown>")):
        assert xla("translate", source, "--to", "portable-artifact", "-o", out, *more).code == 0
        module = parse_bytecode(out.read_bytes())
        assert str(module.functions["main"].regions[0].block.ops[0].location) == place


def test_dynamic_shapes(xla: Callable[..., Any], tmp_path: Path) -> None:
    source = tmp_path / "open.mlir"
    source.write_text(TAN.replace("2x3", "?x3"))
    assert "tensor<?x3xf32>" in xla("translate", source, "--to", "stablehlo").out
    closed = parse_text(xla("translate", source, "--to", "stablehlo", "--shape", "5x3").out)
    assert str(closed.functions["main"].attributes["function_type"]) == "(tensor<5x3xf32>) -> tensor<5x3xf32>"


@pytest.mark.parametrize("columns", [80, 110, 160])
def test_help_breaks_no_form_in_two(xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    words = xla("translate", "--help").out.replace(",", " ").split()
    assert {"stablehlo", "stablehlo-generic", "portable-artifact", "hlo"} <= set(words)


def test_says_what_is_wrong(xla: Callable[..., Any], program: Path, tmp_path: Path) -> None:
    newer = tmp_path / "f8.mlir"
    newer.write_text(TAN.replace("f32", "f8E4M3"))
    for words, message in (
        ((newer, "--to", "portable-artifact", "--target-version", "1.6.0"), "f8E4M3 needs StableHLO 1.7.0"),
        ((program, "--to", "stablehlo", "--target-version", "1.99.0"), "0.9.0 to 1.20.0 can"),
        ((program, "--to", "stablehlo", "--target-version", "new"), "is no version of StableHLO"),
        ((program, "--to", "hlo", "--target-version", "1.0.0"), "HLO text has no versions"),
        ((program, "--to", "stablehlo", "-o", tmp_path / "none" / "x"), "there is no directory"),
    ):
        result = xla("translate", *words)
        assert result.code == 2
        assert message in result.err
    assert (
        "model.py:3:5: UNIMPLEMENTED" in xla("translate", newer, "--to", "stablehlo", "--target-version", "1.6.0").err
    )
