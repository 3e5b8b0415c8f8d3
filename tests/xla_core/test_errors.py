"""The error hierarchy: text, snippets, pickling."""

from __future__ import annotations

import pickle

import pytest

import xla_core as xla
from xla_core.errors import SourceLocation, snippet


def test_an_error_says_where_what_and_what_to_do():
    error = xla.InvalidArgumentError(
        "it is wrong", op="add", location=SourceLocation("f.mlir", 3, 7, "jit(f)/add"), hint="make it right"
    )
    assert str(error) == ("f.mlir:3:7 (jit(f)/add): INVALID_ARGUMENT: it is wrong [op: add]\n  hint: make it right")


def test_a_snippet_puts_the_caret_below_the_column():
    line, caret = snippet("%0 = add %x", 6).split("\n")
    assert line[caret.index("^") :] == "add %x"


def test_a_snippet_of_a_long_line_is_short():
    text = "x" * 5000 + "!" + "y" * 5000
    line, caret = snippet(text, 5001).split("\n")
    assert len(line) < 200
    assert line[caret.index("^")] == "!"


@pytest.mark.parametrize("kind", [xla.InvalidArgumentError, xla.ResourceExhaustedError, xla.CancelledError])
def test_errors_survive_a_process_boundary(kind):
    error = kind("message", op="dot", location=SourceLocation("a.py", 1), hint="hint")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)


def test_an_error_of_the_verifier_shows_the_line():
    text = """module @f {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.transpose %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
    with pytest.raises(xla.InvalidArgumentError) as caught:
        xla.parse(text)
    assert caught.value.location.line == 3
    line, caret = caught.value.snippet.split("\n")
    assert line[caret.index("^") :].startswith("stablehlo.transpose")


def test_a_place_without_a_name_is_not_printed() -> None:
    assert str(xla.InvalidArgumentError("no", location=SourceLocation())) == "INVALID_ARGUMENT: no"
