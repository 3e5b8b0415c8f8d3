"""The position of a reader after an error that it recovers from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from xla_core.errors import XlaError
from xla_core.stablehlo.text.op_reader import OpReader


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("[1, [2, oops]]", OpReader.attribute),
        ("{a = {b = dense<1> : tensor<x>}}", OpReader.attribute),
        ("tuple<tensor<2xf32>, tuple<oops>>", OpReader.type),
        ("tensor<2x!quant.uniform<i8:f32:{0, 1:1}, {{1.0, oops}}>>", OpReader.type),
        ("[" * 200, OpReader.attribute),
        ("tuple<" * 200, OpReader.type),
        ("loc(callsite(fused[oops] at unknown))", OpReader.accept_location),
        ("stablehlo.constant dense<oops>", OpReader.operation),
        ('"stablehlo.constant"() {value = oops} : () -> tensor<f32>', OpReader.operation),
    ],
)
def test_an_error_leaves_no_trace_but_the_position(text: str, read: Callable[[OpReader], object]) -> None:
    reader = OpReader(text, "x.mlir")
    reader.pretty_op = "stablehlo.outer"
    with pytest.raises(XlaError):
        read(reader)
    assert (reader.depth, reader.pretty_op) == (0, "stablehlo.outer")
