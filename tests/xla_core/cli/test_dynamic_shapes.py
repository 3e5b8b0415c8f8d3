"""Commands on programs with dynamic shapes: --shape and --input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("toy_backend")

PRODUCT = """
func.func @main(%a: tensor<?x3xf32>, %w: tensor<3x2xf32>, %b: tensor<?xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
"""


@pytest.fixture
def product(tmp_path: Path) -> Path:
    path = tmp_path / "product.mlir"
    path.write_text(PRODUCT)
    return path


@pytest.mark.parametrize("command", ["run", "compile"])
def test_shape_of_a_program_with_static_shapes(xla: Callable[..., Any], program: Path, command: str) -> None:
    result = xla(command, program, "-b", "toy", "--shape", "4")
    assert result.code == 2
    assert "--shape 4 is superfluous: no argument has dynamic dimensions" in result.err
    assert "softplus" not in result.out
    assert "--shape axb is not a list of sizes" in xla(command, program, "-b", "toy", "--shape", "axb").err


def test_run_with_shapes_or_inputs(xla: Callable[..., Any], product: Path, tmp_path: Path) -> None:
    result = xla("run", product, "-b", "toy", "--shape", "4x3", "--shape", 7, "--check", "--repeat", 2)
    assert result.code == 0, result.err
    assert "f32[4,2]" in result.out
    a, w = np.arange(15, dtype=np.float32).reshape(5, 3), np.ones((3, 2), np.float32)
    np.savez(tmp_path / "all.npz", a=a, w=w, b=w[0])
    result = xla("run", product, "-b", "toy", "-i", tmp_path / "all.npz", "-o", tmp_path)
    assert result.code == 0, result.err
    np.testing.assert_array_equal(np.load(tmp_path / "result_0.npy"), a @ w)


@pytest.mark.parametrize("command", ["run", "compile"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), r"argument 0 is f32[?,3], which has dynamic dimensions"),
        (("--shape", "4x3"), r"argument 2 is f32[?], which has dynamic dimensions"),
        (("--shape", "4x2", "--shape", "1"), "must be f32[?,3], not f32[4,2]"),
        (
            ("--shape", "4x3", "--shape", "1", "--shape", "2"),
            "--shape 2 is superfluous: no further argument has dynamic dimensions",
        ),
        (("--shape", "four", "--shape", "1"), "--shape four is not a list of sizes"),
        (("--shape", "4x3", "--shape", "1", "--shape", "axb"), "--shape axb is not a list of sizes"),
        (("--shape", "4x-3", "--shape", "1"), "--shape 4x-3 is not a list of sizes"),
    ],
)
def test_wrong_shapes(
    xla: Callable[..., Any], product: Path, command: str, words: tuple[str, ...], message: str
) -> None:
    result = xla(command, product, "-b", "toy", *words)
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize("rows", [2**50, 2**61, 2**62])
def test_arguments_that_no_memory_holds(xla: Callable[..., Any], product: Path, rows: int) -> None:
    result = xla("run", product, "-b", "toy", "--shape", f"{rows}x3", "--shape", "1")
    assert result.code == 2
    said = f"RESOURCE_EXHAUSTED: out of memory for argument 0: f32[{rows},3] needs {12 * rows} bytes"
    assert said in result.err


def test_compile_and_opt(xla: Callable[..., Any], product: Path, program: Path) -> None:
    shapes = ("--shape", "4,3", "--shape", "1")
    result = xla("compile", product, "-b", "toy", *shapes, "--emit", "hlo")
    assert "f32[4,2]" in result.out, result.err
    for words in (("compile", product, "--emit", "hlo-before"), ("opt", product, "--passes", "hlo-dce")):
        assert "f32[4,2]" in xla(*words, *shapes).out
        assert "which has dynamic dimensions" in xla(*words).err
    result = xla("opt", program, "--passes", "hlo-dce", "--shape", "2")
    assert "--shape is for StableHLO" in result.err
