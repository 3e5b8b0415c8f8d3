"""The specification's constraints on quantized types, one a row: the type aliases stand for quantized types."""

from __future__ import annotations

import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.stablehlo import parse_text, verify

ALIASES = {
    "!q": "!quant.uniform<i8:f32, 1.0:17>",
    "!zero": "!quant.uniform<i8:f32, 1.0>",
    "!other": "!quant.uniform<i8:f32, 2.0:17>",
    "!narrow": "!quant.uniform<i4:f32, 1.0:1>",
    "!bf": "!quant.uniform<i8:bf16, 1.0:17>",
    "!wide": "!quant.uniform<i32:f32, 1.0>",
    "!axis0": "!quant.uniform<i8:f32:0, {0.5, 0.25}>",
    "!axis1": "!quant.uniform<i8:f32:1, {0.5, 0.25}>",
    "!shifted0": "!quant.uniform<i8:f32:0, {0.5:1, 0.25}>",
    "!same1": "!quant.uniform<i8:f32:1, {0.5, 0.5}>",
    "!one0": "!quant.uniform<i8:f32:0, {0.5}>",
    "!three0": "!quant.uniform<i8:f32:0, {0.5, 0.25, 1.0}>",
    "!beyond": "!quant.uniform<i8:f32:2, {0.5, 0.25}>",
}


def check(op: str, operands: list[str], results: list[str], attributes: str = "", region: str = "") -> None:
    arguments = ", ".join(f"%x{i}: {t}" for i, t in enumerate(operands))
    names = ", ".join(f"%x{i}" for i in range(len(operands)))
    text = (
        f'func.func @main({arguments}) {{\n%y = "{op}"({names}) {region} {attributes} : '
        f"({', '.join(operands)}) -> ({', '.join(results)})\nreturn\n}}"
    )
    for alias, type in sorted(ALIASES.items(), key=lambda item: -len(item[0])):
        text = text.replace(f"x{alias}>", f"x{type}>")
    verify(parse_text(text, "q.mlir"))


DOT = "{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [%d]>}"
CONV = (
    "{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, "
    "batch_group_count = 1 : i64}"
)
BROADCAST = "{broadcast_dimensions = array<i64: %s>}"

REFUSED = [
    # what a tensor may hold
    ("stablehlo.abs", ["2x2x!axis0"], ["2x2x!axis0"], "", "operand #0 must be ranked tensor of"),
    ("stablehlo.multiply", ["2x2x!axis0"] * 2, ["2x2x!axis0"], "", "or per-tensor integer quantized values, but got"),
    ("stablehlo.convert", ["2x!q"], ["2xf32"], "", "operand #0 must be ranked tensor of"),
    ("stablehlo.transpose", ["2x2x!beyond"], ["2x2x!axis0"], "{permutation = array<i64: 1, 0>}", "operand #0 must be"),
    ("stablehlo.transpose", ["3x2x!axis0"], ["2x3x!axis1"], "{permutation = array<i64: 1, 0>}", "operand #0 must be"),
    ("stablehlo.negate", ["2x!q"], ["2xf32"], "", "requires compatible types for all operands and results"),
    ("stablehlo.negate", ["2x!q"], ["2x!narrow"], "", "requires compatible types for all operands and results"),
    ("stablehlo.maximum", ["2x!q", "2x!bf"], ["2x!q"], "", "requires compatible types for all operands and results"),
    # add
    ("stablehlo.add", ["2x!q", "2xf32"], ["2x!q"], "", "all operands and results to be either quantized or non"),
    ("stablehlo.add", ["2x!q", "2x!narrow"], ["2x!q"], "", "mismatched operands and result quantization storage types"),
    ("stablehlo.add", ["2x!q", "2x!bf"], ["2x!q"], "", "mismatched operands and result quantization expressed types"),
    ("stablehlo.add", ["2x2x!axis0", "2x2x!q"], ["2x2x!q"], "", "result is not per_axis quantized but lhs or rhs are"),
    ("stablehlo.add", ["2x2x!q"] * 2, ["2x2x!axis0"], "", "result per_axis quantized but none from rhs and lhs are"),
    ("stablehlo.add", ["2x2x!axis0"] * 2, ["2x2x!axis1"], "", "quantization_dimension of lhs and result are not same"),
    (
        "stablehlo.add",
        ["2x2x!axis1", "2x2x!axis0"],
        ["2x2x!axis1"],
        "",
        "quantization_dimension of rhs and result are not same",
    ),
    # quantize
    ("stablehlo.uniform_quantize", ["2xbf16"], ["2x!q"], "", "Expressed type of result expected to be 'bf16', but got"),
    # transpose, reshape
    (
        "stablehlo.transpose",
        ["2x2x!q"],
        ["2x2x!other"],
        "{permutation = array<i64: 1, 0>}",
        "expect same quantization scale and zero_point but got",
    ),
    (
        "stablehlo.transpose",
        ["2x2x!axis0"],
        ["2x2x!same1"],
        "{permutation = array<i64: 1, 0>}",
        "expect same quantization scales and zero_points but got",
    ),
    (
        "stablehlo.transpose",
        ["2x2x!axis0"],
        ["2x2x!axis0"],
        "{permutation = array<i64: 1, 0>}",
        "operand quantization_dimension 0 is not same as permutation[0] = 1",
    ),
    ("stablehlo.reshape", ["4x!q"], ["2x2x!other"], "", "expect same quantization scale and zero_point but got"),
    (
        "stablehlo.reshape",
        ["2x2x!axis0"],
        ["2x2x!axis1"],
        "",
        "product of dimensions before quantization dimension must match between operand and result for 1 and 2",
    ),
    (
        "stablehlo.reshape",
        ["2x2x!axis0"],
        ["2x2x!q"],
        "",
        "requires compatible element types for all operands and results",
    ),
    # broadcast
    (
        "stablehlo.broadcast_in_dim",
        ["2x!q"],
        ["3x2x!other"],
        BROADCAST % "1",
        "expect same quantization scale and zero_point but got",
    ),
    (
        "stablehlo.broadcast_in_dim",
        ["2x!axis0"],
        ["2x2x!axis0"],
        BROADCAST % "1",
        "result quantization_dimension 0 not same as broadcast_dimensions[0] = 1",
    ),
    (
        "stablehlo.broadcast_in_dim",
        ["1x!one0"],
        ["2x!axis0"],
        BROADCAST % "0",
        "mismatch result scale 1 (2.500000e-01) and operand scale 0 (5.000000e-01)",
    ),
    (
        "stablehlo.broadcast_in_dim",
        ["1x!one0"],
        ["2x!shifted0"],
        BROADCAST % "0",
        "mismatch result zero_point 0 (1) and operand zero_point 0 (0)",
    ),
    # dot_general
    ("stablehlo.dot_general", ["2x2x!q", "2x2xf32"], ["2x2x!q"], DOT % 0, "rhs should be quantized for quantized"),
    (
        "stablehlo.dot_general",
        ["2x2x!zero", "2x2x!zero"],
        ["2x2xf32"],
        DOT % 0,
        "is_quantized(lhs)=is_quantized(result)",
    ),
    ("stablehlo.dot_general", ["2x2x!zero", "2x2x!q"], ["2x2x!wide"], DOT % 0, "Zero point of rhs should be 0"),
    ("stablehlo.dot_general", ["2x2x!zero", "2x2x!shifted0"], ["2x2x!wide"], DOT % 1, "Zero points of rhs should be 0"),
    (
        "stablehlo.dot_general",
        ["2x2x!zero", "2x2x!axis0"],
        ["2x2x!wide"],
        DOT % 0,
        "Quantization dimension of rhs should not be in the contracting dimension of rhs",
    ),
    (
        "stablehlo.dot_general",
        ["2x2x!wide", "2x2x!zero"],
        ["2x2x!wide"],
        DOT % 0,
        "mismatched lhs and rhs quantization storage types",
    ),
    (
        "stablehlo.dot_general",
        ["2x2x!bf", "2x2x!zero"],
        ["2x2x!zero"],
        DOT % 0,
        "mismatched lhs, rhs and result quantization expressed types",
    ),
    (
        "stablehlo.dot_general",
        ["2x2x!zero", "2x2x!zero"],
        ["2x2x!axis0"],
        DOT % 0,
        "mismatched rhs and result quantization granularity",
    ),
    (
        "stablehlo.dot_general",
        ["2x2xbf16", "2x2x!zero"],
        ["2x2xbf16"],
        DOT % 0,
        "mismatched rhs quantization expressed type and lhs and result element type",
    ),
    # convolution: the kernel's output features are its dimension 2, the result's its last
    (
        "stablehlo.convolution",
        ["1x4x2x!zero", "2x2x3x!axis0"],
        ["1x3x3x!zero"],
        CONV,
        "quantization dimension of rhs should be same with kernel_output_feature_dimension",
    ),
    (
        "stablehlo.convolution",
        ["3x4x2x!zero", "2x2x3x!zero"],
        ["3x3x3x!three0"],
        CONV,
        "quantization dimension of result should be same with output_feature_dimension",
    ),
    # exactly one element type
    (
        "stablehlo.reverse",
        ["2x!q"],
        ["2x!other"],
        "{dimensions = array<i64: 0>}",
        "requires the same element type for all operands and results",
    ),
    (
        "stablehlo.concatenate",
        ["2x!q", "2x!other"],
        ["4x!q"],
        "{dimension = 0 : i64}",
        "requires the same element type for all operands and results",
    ),
]


def tensors(types: list[str]) -> list[str]:
    return [f"tensor<{t}>" for t in types]


@pytest.mark.parametrize(("op", "operands", "results", "attributes", "message"), REFUSED)
def test_refused(op, operands, results, attributes, message):
    with pytest.raises(InvalidArgumentError) as caught:
        check(op, tensors(operands), tensors(results), attributes)
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.line == 2


ACCEPTED = [
    ("stablehlo.add", ["2x!q", "2x!other"], ["2x!q"], ""),
    ("stablehlo.add", ["2x2x!axis0"] * 2, ["2x2x!axis0"], ""),
    ("stablehlo.negate", ["2x!q"], ["2x!other"], ""),
    ("stablehlo.uniform_quantize", ["2x!q"], ["2x!wide"], ""),
    ("stablehlo.uniform_quantize", ["2x2xf32"], ["2x2x!axis1"], ""),
    ("stablehlo.uniform_dequantize", ["2x2x!axis1"], ["2x2xf32"], ""),
    ("stablehlo.transpose", ["2x2x!axis0"], ["2x2x!axis1"], "{permutation = array<i64: 1, 0>}"),
    ("stablehlo.reshape", ["2x6x!axis0"], ["2x3x2x!axis0"], ""),
    ("stablehlo.broadcast_in_dim", ["2x!axis0"], ["3x2x!axis1"], BROADCAST % "1"),
    ("stablehlo.dot_general", ["2x2x!zero", "2x2x!axis1"], ["2x2x!wide"], DOT % 0),
    ("stablehlo.dot_general", ["2x2xf32", "2x2x!axis1"], ["2x2xf32"], DOT % 0),
    ("stablehlo.convolution", ["1x4x2x!q", "2x2x3x!zero"], ["1x3x3x!wide"], CONV),
]


@pytest.mark.parametrize(("op", "operands", "results", "attributes"), ACCEPTED)
def test_accepted(op, operands, results, attributes):
    check(op, tensors(operands), tensors(results), attributes)
