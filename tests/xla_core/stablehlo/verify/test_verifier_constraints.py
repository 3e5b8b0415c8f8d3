"""The element types of operands and the values of attributes that an op takes."""

from __future__ import annotations

import pytest

from xla_core.errors import XlaError
from xla_core.stablehlo import lower, parse_text, verify


def program(body: str, arguments: str = "%a: tensor<4xf32>, %t: !stablehlo.token") -> str:
    return f"func.func @main({arguments}) {{\n  {body}\n  return\n}}"


def refusal(text: str) -> str:
    with pytest.raises(XlaError) as caught:
        verify(parse_text(text))
    return caught.value.message


PERMUTE = '%0 = "stablehlo.collective_permute"(%a) {source_target_pairs = PAIRS} : (tensor<4xf32>) -> tensor<4xf32>'
SEND = (
    '%0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
    "is_host_transfer = false, source_target_pairs = PAIRS} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token"
)
RECV = (
    '%0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, '
    "is_host_transfer = false, source_target_pairs = PAIRS} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)"
)


@pytest.mark.parametrize("op", [PERMUTE, SEND, RECV])
@pytest.mark.parametrize("element", ["i32", "i1", "index", "ui8"])
def test_pairs_of_devices_are_64_bit_integers(op: str, element: str) -> None:
    pair = "[[false, true]]" if element == "i1" else "[[0, 1]]"
    message = refusal(program(op.replace("PAIRS", f"dense<{pair}> : tensor<1x2x{element}>")))
    assert (
        "attribute 'source_target_pairs' failed to satisfy constraint: 64-bit signless integer elements attribute"
        in message
    )
    verify(parse_text(program(op.replace("PAIRS", "dense<[[0, 1]]> : tensor<1x2xi64>"))))


@pytest.mark.parametrize(
    ("attribute", "constraint"),
    [
        ("api_version = 9 : i32", "Custom call API version"),
        ("api_version = -1 : i32", "Custom call API version"),
        ("api_version = 2 : i64", "Custom call API version"),
        ("backend_config = 1", "string attribute or dictionary of named attribute values"),
        ('called_computations = ["s"]', "flat symbol ref array attribute"),
    ],
)
def test_attributes_of_a_custom_call(attribute: str, constraint: str) -> None:
    call = '%0 = "stablehlo.custom_call"(%a) {call_target_name = "x", ATTRIBUTE} : (tensor<4xf32>) -> tensor<4xf32>'
    name = attribute.partition(" ")[0]
    message = refusal(program(call.replace("ATTRIBUTE", attribute)))
    assert message.endswith(f"attribute '{name}' failed to satisfy constraint: {constraint}")
    verify(parse_text(program(call.replace("ATTRIBUTE", "api_version = 0 : i32"))))


@pytest.mark.parametrize(
    ("permutation", "is_right"),
    [
        ("array<i64: 1, 0>", True),
        ("dense<[1, 0]> : tensor<2xi64>", True),  # as older releases wrote it
        ("array<i32: 1, 0>", False),
        ("array<i1: true, false>", False),
        ("[1, 0]", False),
        ("dense<[1, 0]> : tensor<2xi32>", False),
        ("dense<[1, 0]> : tensor<2xui8>", False),
        ("dense<[1, 0]> : tensor<2xindex>", False),
        ("dense<[[1, 0]]> : tensor<1x2xi64>", False),
        ("dense<[true, false]> : tensor<2xi1>", False),
        ("dense<1> : tensor<i64>", False),
    ],
)
def test_lists_of_integers_are_of_64_bits(permutation: str, is_right: bool) -> None:
    op = f'%0 = "stablehlo.transpose"(%a) {{permutation = {permutation}}} : (tensor<4x3xf32>) -> tensor<3x4xf32>'
    text = program(op, "%a: tensor<4x3xf32>")
    if is_right:
        verify(parse_text(text))
    else:
        assert "attribute 'permutation' failed to satisfy constraint: i64 dense array attribute" in refusal(text)


CONVOLUTION = """%0 = "stablehlo.convolution"(%a, %b) {
    batch_group_count = 1 : i64, feature_group_count = 1 : i64, window_reversal = REVERSAL,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>
  } : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>"""


@pytest.mark.parametrize(
    ("reversal", "is_right"),
    [
        ("array<i1: false, true>", True),
        ("dense<false> : tensor<2xi1>", True),  # as older releases wrote it
        ("array<i64: 0, 1>", False),
        ("dense<0> : tensor<2xi64>", False),
        ("dense<false> : tensor<1x2xi1>", False),
    ],
)
def test_lists_of_booleans_are_of_one_bit(reversal: str, is_right: bool) -> None:
    text = program(CONVOLUTION.replace("REVERSAL", reversal), "%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>")
    if is_right:
        verify(parse_text(text))
    else:
        assert "attribute 'window_reversal' failed to satisfy constraint: " in refusal(text)


@pytest.mark.parametrize(
    ("layout", "is_right"),
    [
        ("dense<[1, 0]> : tensor<2xindex>", True),
        ("dense<[1, 0]> : tensor<2xi64>", False),
        ("dense<[[1, 0]]> : tensor<1x2xindex>", False),
        ("array<i64: 1, 0>", False),
    ],
)
def test_layouts_are_of_index_type(layout: str, is_right: bool) -> None:
    layouts = f"operand_layouts = [{layout}], result_layouts = [{layout}]"
    op = f"%0 = stablehlo.custom_call @x(%a) {{{layouts}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>"
    text = program(op, "%a: tensor<2x3xf32>")
    if is_right:
        verify(parse_text(text))
    else:
        assert "'operand_layouts' failed to satisfy constraint: Array of layout (1D tensor of index" in refusal(text)


@pytest.mark.parametrize("element", ["tf32", "complex<f16>", "complex<i32>", "i7", "f80"])
def test_element_types_that_stablehlo_lacks_pass_through_functions_only(element: str) -> None:
    type = f"tensor<2x{element}>"
    for name in ("abs", "negate", "cosine", "custom_call"):
        attributes = ' {call_target_name = "x"}' if name == "custom_call" else ""
        text = program(f'%0 = "stablehlo.{name}"(%a){attributes} : ({type}) -> {type}', f"%a: {type}")
        assert f"but got '{type}'" in refusal(text)
    verify(parse_text(f"func.func @main(%a: {type}) -> {type} {{\n  return %a : {type}\n}}"))
    message = refusal(f'func.func @main(%a: {type}) -> {type} {{\n  "stablehlo.return"(%a) : ({type}) -> ()\n}}')
    assert "operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool" in message


RNG = (
    "%s = stablehlo.constant dense<SIZES> : tensor<2xi64>\n"
    '  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : '
    "(tensor<f32>, tensor<f32>, tensor<2xi64>) -> RESULT"
)


@pytest.mark.parametrize(
    ("sizes", "result", "inferred"),
    [
        ("[-1, 2]", "tensor<4x2xf32>", "tensor<-1x2xf32>"),
        ("[-3, 2]", "tensor<4x2xf32>", "tensor<-3x2xf32>"),
        ("[-3, 2]", "tensor<?x2xf32>", None),
        ("[4, 2]", "tensor<4x2xf32>", None),
    ],
)
def test_random_numbers_of_a_negative_size(sizes: str, result: str, inferred: str | None) -> None:
    text = program(RNG.replace("SIZES", sizes).replace("RESULT", result), "%a: tensor<f32>")
    if inferred is None:
        verify(parse_text(text))
    else:
        assert f"inferred type(s) '{inferred}' are incompatible with return type(s)" in refusal(text)


def test_a_negative_size_that_is_set_is_no_size() -> None:
    body = (
        "%s = stablehlo.constant dense<-3> : tensor<i32>\n"
        '  %0 = "stablehlo.set_dimension_size"(%a, %s) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i32>) -> RESULT'
    )
    verify(parse_text(program(body.replace("RESULT", "tensor<?xf32, #stablehlo.bounds<4>>"))))
    message = refusal(program(body.replace("RESULT", "tensor<5xf32>")))
    assert "inferred type(s) 'tensor<?xf32, #stablehlo.bounds<4>>' are incompatible" in message


UNRANKED = "%f: tensor<*xf32>, %i: tensor<*xi32>, %a: tensor<2xf32>, %b: tensor<2xi32>, %p: tensor<2xi1>"
NOT_EQUAL = "{comparison_direction = #chlo<comparison_direction NE>}"


@pytest.mark.parametrize(
    "op",
    [
        '"chlo.constant_like"(%f) {value = 3.2 : f32} : (tensor<*xf32>) -> tensor<*xf32>',
        '"chlo.constant_like"(%i) {value = 3.2 : f32} : (tensor<*xi32>) -> tensor<2xf32>',
        '"chlo.constant_like"(%a) {value = 3 : i64} : (tensor<2xf32>) -> tensor<*xi64>',
        '"chlo.top_k"(%f) {k = 3 : i64} : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xi32>)',
        '"chlo.top_k"(%f) {k = 3 : i64} : (tensor<*xf32>) -> (tensor<3xf32>, tensor<*xi32>)',
        '"chlo.broadcast_add"(%f, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>',
        '"chlo.broadcast_add"(%f, %f) : (tensor<*xf32>, tensor<*xf32>) -> tensor<3x3xf32>',
        f'"chlo.broadcast_compare"(%f, %a) {NOT_EQUAL} : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xi1>',
        '"chlo.broadcast_complex"(%f, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xcomplex<f32>>',
        '"chlo.broadcast_select"(%p, %f, %a) : (tensor<2xi1>, tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>',
        '"chlo.is_inf"(%f) : (tensor<*xf32>) -> tensor<*xi1>',
        '"chlo.acos"(%f) : (tensor<*xf32>) -> tensor<*xf32>',
        '"chlo.next_after"(%f, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>',
    ],
)
def test_ops_of_chlo_take_tensors_without_a_rank(op: str) -> None:
    count = 2 if "top_k" in op else 1
    text = program(f"%0:{count} = {op}", UNRANKED)
    verify(parse_text(text))
    with pytest.raises(XlaError, match="has no counterpart in HLO"):
        lower(parse_text(text))


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (
            '"chlo.constant_like"(%i) {value = 3.2 : f32} : (tensor<*xi32>) -> tensor<*xf64>',
            "value's type doesn't match element return type",
        ),
        (
            '"chlo.top_k"(%f) {k = 3 : i64} : (tensor<*xf32>) -> (tensor<3xf64>, tensor<4xi32>)',
            "inferred type(s) 'tensor<*xf32>', 'tensor<*xi32>' are incompatible with return type(s)",
        ),
        (
            '"chlo.broadcast_add"(%f, %b) : (tensor<*xf32>, tensor<2xi32>) -> tensor<*xf32>',
            "requires compatible element types for all operands and results",
        ),
        (
            f'"chlo.broadcast_compare"(%f, %b) {NOT_EQUAL} : (tensor<*xf32>, tensor<2xi32>) -> tensor<*xi1>',
            "mismatched operand types",
        ),
        (
            '"chlo.broadcast_complex"(%f, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xcomplex<f64>>',
            "inferred type(s) 'tensor<*xcomplex<f32>>' are incompatible",
        ),
        (
            '"chlo.acos"(%f) : (tensor<*xf32>) -> tensor<4xf32>',
            "all non-scalar operands/results must have the same shape and base type",
        ),
        (
            '"chlo.acos"(%f) : (tensor<*xf32>) -> tensor<*xf64>',
            "requires compatible types for all operands and results",
        ),
        (
            '"chlo.next_after"(%f, %a) : (tensor<*xf32>, tensor<2xf32>) -> tensor<3xf32>',
            "inferred type(s) 'tensor<2xf32>' are incompatible",
        ),
        (
            '"chlo.mulhi"(%i, %i) : (tensor<*xi32>, tensor<*xi32>) -> tensor<3xi32>',
            "operand #0 must be ranked tensor of 2/4/8/16/32/64-bit integer values",
        ),
        (
            '"chlo.scan"(%f, %z) ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n  "stablehlo.return"(%x, %y) : '
            "(tensor<f32>, tensor<f32>) -> ()\n}) {dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, "
            "resultSegmentSizes = array<i32: 1, 1>} : (tensor<*xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)",
            "operand 0 is not ranked",
        ),
    ],
)
def test_their_element_types_are_checked_all_the_same(op: str, message: str) -> None:
    count = 2 if "top_k" in op or "scan" in op else 1
    assert message in refusal(program(f"%0:{count} = {op}", f"{UNRANKED}, %z: tensor<f32>"))
