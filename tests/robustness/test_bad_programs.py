"""Malformed programs: the error says what is wrong, where, and what to do, and the client stays usable."""

from __future__ import annotations

import pytest

import xla_core as xla

from .conftest import ADD

HLO = """HloModule add
ENTRY main {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT r = f32[3] add(a, b)
}
"""
REDUCE = """func.func @main(%a: tensor<3xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize("text", [ADD, HLO, REDUCE], ids=["stablehlo", "hlo", "region"])
def test_truncated_anywhere(client, text):
    """Each prefix is a program or an error with a line; the whole is a program."""
    outcomes = []
    errors = {}
    for end in range(len(text) + 1):
        try:
            xla.parse(text[:end], file="model")
            outcomes.append(end)
        except xla.XlaError as error:
            errors[end] = error
    for end, error in errors.items():
        assert type(error) is xla.InvalidArgumentError, (end, error)
        # A text without any function is wrong nowhere in particular.
        assert str(error).startswith("model:") or "no function" in str(error), (end, error)
    assert outcomes
    assert min(outcomes) >= len(text.rstrip())
    client.compile(text)


CASES = {
    "a type mismatch": (changed(ADD, "%b: tensor<3xf32>", "%b: tensor<3xi32>"), 2, ["%b", "tensor<3xi32>"]),
    "a shape mismatch": (changed(ADD, "%b: tensor<3xf32>", "%b: tensor<4xf32>"), 2, ["%b", "tensor<4xf32>"]),
    "an unknown op": (changed(ADD, "stablehlo.add", "stablehlo.addd"), 2, ["stablehlo.addd", "did you mean stablehlo.add"]),
    "an unknown attribute": (changed(REDUCE, "dimensions =", "dimension ="), 3, ["dimension", "dimensions"]),
    "a duplicate name": (changed(ADD, "%b: tensor<3xf32>", "%a: tensor<3xf32>"), 1, ["%a"]),
    "a duplicate result": (changed(ADD, "  return", "  %0 = stablehlo.abs %a : tensor<3xf32>\n  return"), 3, ["%0"]),
    "an undefined name": (changed(ADD, "%a, %b :", "%a, %c :"), 2, ["%c"]),
    "wrong region arguments": (changed(REDUCE, "%y: tensor<f32>)", "%y: tensor<i32>)"), 5, ["tensor<i32>"]),
    "too few region arguments": (changed(REDUCE, "^bb0(%x: tensor<f32>, %y: tensor<f32>)", "^bb0(%x: tensor<f32>)"), 5, ["%y"]),
    "a wrong result": (changed(ADD, "return %0 : tensor<3xf32>", "return %0 : tensor<2xf32>"), 3, ["tensor<2xf32>"]),
    "HLO: a shape mismatch": (changed(HLO, "b = f32[3]", "b = f32[4]"), 5, ["f32[4]"]),
    "HLO: a type mismatch": (changed(HLO, "b = f32[3]", "b = s32[3]"), 5, ["s32"]),
    "HLO: an unknown op": (changed(HLO, "add(", "ad("), 5, ["ad", "add"]),
    "HLO: an unknown attribute": (changed(HLO, "add(a, b)", "add(a, b), dimension={0}"), 5, ["dimension"]),
    "HLO: a duplicate name": (changed(HLO, "  b = f32", "  a = f32"), 4, ["a"]),
    "HLO: an undefined name": (changed(HLO, "add(a, b)", "add(a, c)"), 5, ["c"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_malformed(client, refused, name):
    text, line, words = CASES[name]
    error = refused(xla.InvalidArgumentError, words, lambda: client.compile(text, file="model.mlir"))
    assert str(error).startswith(f"model.mlir:{line}:"), error


@pytest.mark.parametrize(
    "wrong", [b"", b"\xff\xfe\x00", b"ML\xefR", b"ML\xefR" + bytes(40), "", "   ", "HloModule", 7, None]
)
def test_inputs_that_are_not_programs(client, wrong):
    with pytest.raises(xla.XlaError) as caught:
        client.compile(wrong)
    assert caught.value.code in (xla.StatusCode.INVALID_ARGUMENT, xla.StatusCode.UNIMPLEMENTED)
    assert len(caught.value.message) > 10


def test_a_program_that_calls_itself(client, refused):
    text = (
        "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = func.call @main(%a) : (tensor<f32>) -> tensor<f32>\n"
    )
    refused(xla.InvalidArgumentError, ["main"], lambda: client.compile(text + "  return %0 : tensor<f32>\n}\n"))


@pytest.mark.parametrize(
    "attributes", ["mhlo.num_partitions = 0", "mhlo.num_replicas = -1", "mhlo.num_partitions = 5000"]
)
def test_more_devices_than_there_are(client, refused, attributes):
    text = f"module attributes {{{attributes} : i32}} {{\n{ADD.replace('@main', 'public @main')}}}\n"
    refused(xla.InvalidArgumentError, ["device"], lambda: client.compile(text))
