"""If a program has several errors, the verifier reports the same one as StableHLO's, in its words, at its location."""

from __future__ import annotations

import pytest

from xla_core.errors import XlaError
from xla_core.stablehlo import lower, parse_text, verify

SUM = "({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n  stablehlo.return %x : tensor<f32>\n})"


def program(body: str, arguments: str) -> str:
    return f"func.func @main({arguments}) {{\n{body}\n  return\n}}"


def refusal(text: str) -> XlaError:
    with pytest.raises(XlaError) as caught:
        verify(parse_text(text, "test.mlir"))
    assert caught.value.location is not None
    return caught.value


MATRIX = "%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %i: tensor<2xi32>, %z: tensor<f32>, %p: tensor<2xi1>"

REFUSED = [
    # numbers of results and operands come before attributes, missing attributes before wrong ones
    (
        '%0 = "stablehlo.batch_norm_training"(%a, %a) <{epsilon = 0.1 : f32, feature_index = -1 : i64}> : '
        "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
        2,
        "expected 3 results",
    ),
    ('%0 = "stablehlo.fft"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>', 2, "requires attribute 'fft_length'"),
    (
        '%0 = "stablehlo.all_to_all"(%a) <{split_dimension = -1 : i64, concat_dimension = 0 : i64, split_count = 2 : '
        "i64}> : (tensor<4x4xf32>) -> tensor<4x4xf32>",
        2,
        "requires attribute 'replica_groups'",
    ),
    # the reducer, before the result; its number of results before their types
    (
        f'%0 = "stablehlo.reduce_scatter"(%a) {SUM.replace("return %x : tensor<f32>", "return")} '
        "{scatter_dimension = 7 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : "
        "(tensor<4x4xf32>) -> tensor<4xf32>",
        2,
        "The reduction-region expected to return some value(s)",
    ),
    # the groups, before the sizes
    (
        '%0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, '
        "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>",
        2,
        "group size of replica_groups must be 3",
    ),
    (
        '%0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1], [0, -1]]> : tensor<2x2xi64>} : '
        "(tensor<4x4xf32>) -> tensor<4x4xf32>",
        2,
        "duplicate sources not allowed.",
    ),
    # a convolution's features, before its window
    (
        "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {stride = [1]} "
        "{batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
        "tensor<4x4xf32>",
        2,
        "expects input feature dimension (4) to be a multiple of feature_group_count. Got feature_group_count = 3.",
    ),
    # runs of operands are of one length; indices may be of any integer type
    (
        f'%0 = "stablehlo.scatter"(%a, %z) {SUM} {{scatter_dimension_numbers = #stablehlo.scatter<>}} : '
        "(tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>",
        2,
        "operand #0 must be ranked tensor of integer or index values, but got 'tensor<4x4xf32>'",
    ),
    # too few operands are no inputs, of which dimensions and regions are checked all the same
    (
        f'%0 = "stablehlo.reduce"(%a) {SUM} {{dimensions = array<i64: 1>}} : (tensor<4x4xf32>) -> tensor<4xf32>',
        2,
        "Out-of-bounds dimension 1, expected to be in range [0, 0)",
    ),
    (
        f'%0 = "stablehlo.scatter"(%i) {SUM} {{scatter_dimension_numbers = #stablehlo.scatter<>}} : (tensor<2xi32>) -> '
        "tensor<4x4xf32>",
        2,
        "Reduction-region must take 0 parameters, but takes 2 parameter(s)",
    ),
    # what is in a region, before what follows from it
    (
        '%0 = "stablehlo.map"(%a) ({\n^bb0(%x: tensor<i32>):\n  %y = "stablehlo.abs"(%x) : (tensor<i32>) -> '
        "tensor<2xi32>\n  stablehlo.return %y : tensor<2xi32>\n}) {dimensions = array<i64: 0, 1>} : "
        "(tensor<4x4xf32>) -> tensor<4x4xf32>",
        4,
        "all non-scalar operands/results must have the same shape and base type",
    ),
    (
        '%0 = "stablehlo.case"(%i) ({\n  stablehlo.return %a : tensor<4x4xf32>\n}, {\n  stablehlo.return %z : '
        "tensor<f32>\n}) : (tensor<2xi32>) -> tensor<4x4xf32>",
        2,
        "operand should be rank 0 tensor but got rank 1",
    ),
    # symbols come last
    (
        '%0 = stablehlo.composite "a.b" %a {decomposition = @none} : (tensor<4x4xf32>) -> tensor<4x4xf32>\n'
        '%1 = "stablehlo.abs"(%a) : (tensor<4x4xf32>) -> tensor<4xf32>',
        3,
        "all non-scalar operands/results must have the same shape and base type",
    ),
    # what attributes hold is checked where they are read
    (
        '%0 = "stablehlo.exponential"(%a, %a) {result_accuracy = #stablehlo.result_accuracy<ulps = -1, mode = '
        "#stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
        2,
        "Negative tolerance",
    ),
    (
        '%0 = "stablehlo.abs"(%a) : (tensor<4x4xf32>) -> tensor<?x4xf32, #stablehlo.bounds<3, 4>>',
        2,
        "use ShapedType::kDynamic to indicate a missing bound in tensor 'tensor<?x4xf32>'",
    ),
    (
        "%0 = stablehlo.compare ABOVE, %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>",
        2,
        "expected ::mlir::stablehlo::ComparisonDirection to be one of: EQ, NE, GE, GT, LE, LT",
    ),
    (
        '%0 = "stablehlo.iota"() {iota_dimension = 0 : i32} : () -> tensor<2xf32>',
        2,
        "attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is "
        "non-negative",
    ),
    (
        '%0 = "stablehlo.get_tuple_element"(%z) {index = 0 : i32} : (tensor<f32>) -> tensor<f32>',
        2,
        "operand #0 must be nested tuple with any combination of ranked tensor of",
    ),
    (
        '%0 = "chlo.broadcast_power"(%a, %i) : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<4x4xf32>',
        2,
        "requires the same element type for all operands and results",
    ),
    (
        '%0 = "chlo.broadcast_and"(%p, %q) : (tensor<2xi1>, tensor<3xi1>) -> tensor<3xi1>',
        2,
        "incompatible shapes for broadcasting 2 and 3",
    ),
]


@pytest.mark.parametrize(("body", "line", "message"), REFUSED)
def test_the_first_error_is_said(body: str, line: int, message: str) -> None:
    error = refusal(program(body, f"{MATRIX}, %q: tensor<3xi1>"))
    assert message in error.message
    assert error.location is not None
    assert error.location.line == line


BOUNDED = "%a: tensor<?x4xf32, #stablehlo.bounds<3, ?>>, %i: tensor<?x2xi32, #stablehlo.bounds<5, ?>>"


@pytest.mark.parametrize(
    ("body", "inferred"),
    [
        (
            '%0 = "stablehlo.reduce_window"(%a, %z) '
            + SUM
            + " {window_dimensions = array<i64: 2, 1>} : (tensor<?x4xf32, #stablehlo.bounds<3, ?>>, tensor<f32>) -> "
            "tensor<7x4xf32>",
            "tensor<?x4xf32, #stablehlo.bounds<2, ?>>",
        ),
        (
            '%0 = "stablehlo.gather"(%b, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], '
            "collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
            "4>} : (tensor<4x4xf32>, tensor<?x2xi32, #stablehlo.bounds<5, ?>>) -> tensor<7x4xf32>",
            "tensor<?x4xf32, #stablehlo.bounds<5, ?>>",
        ),
        (
            '%0 = "stablehlo.if"(%p) ({\n  stablehlo.return %a : tensor<?x4xf32, #stablehlo.bounds<3, ?>>\n}, {\n'
            "  stablehlo.return %c : tensor<2x4xf32>\n}) : (tensor<i1>) -> tensor<7x4xf32>",
            "tensor<?x4xf32, #stablehlo.bounds<3, ?>>",
        ),
    ],
)
def test_bounds_are_inferred(body: str, inferred: str) -> None:
    arguments = f"{BOUNDED}, %b: tensor<4x4xf32>, %c: tensor<2x4xf32>, %z: tensor<f32>, %p: tensor<i1>"
    assert f"inferred type(s) '{inferred}' are incompatible" in refusal(program(body, arguments)).message


def test_bounds_and_sizes_that_contradict_each_other() -> None:
    body = '%0 = "stablehlo.multiply"(%a, %b) : (TYPE, tensor<4x4xf32>) -> tensor<4x4xf32>'
    text = program(body.replace("TYPE", "tensor<?x4xf32, #stablehlo.bounds<3, ?>>"), f"{BOUNDED}, %b: tensor<4x4xf32>")
    assert "requires compatible types for all operands and results" in refusal(text).message


LEFT_TO_THE_LOWERING = [
    (
        '%0 = "stablehlo.einsum"(%a, %c) {einsum_config = "ij,jk->ik"} : (tensor<4x4xf32>, tensor<2x4xf32>) -> '
        "tensor<4x4xf32>",
        "dimension j has sizes 4 and 2",
    ),
    (
        '%0 = "stablehlo.torch_index_select"(%a, %i) {dim = 5 : i64, batch_dims = 0 : i64} : (tensor<4x4xf32>, '
        "tensor<2xi32>) -> tensor<4x4xf32>",
        "dim 5 is out of range",
    ),
    (
        '%0 = "chlo.broadcast_add"(%a, %v) {broadcast_dimensions = array<i64: 3>} : (tensor<4x4xf32>, tensor<4xf32>) '
        "-> tensor<4x4xf32>",
        "failed to legalize operation",
    ),
    (
        f'%0 = "stablehlo.reduce"(%a, %z, %z) {SUM} {{dimensions = array<i64: 0>}} : (tensor<4x4xf32>, tensor<f32>, '
        "tensor<f32>) -> tensor<4xf32>",
        "expects as many init values as inputs",
    ),
    (
        '%n = stablehlo.constant dense<3> : tensor<i32>\n%0 = "stablehlo.set_dimension_size"(%v, %n) {dimension = 0 : '
        "i64} : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>",
        "the size is 3, but the result has 2",
    ),
]


@pytest.mark.parametrize(("body", "message"), LEFT_TO_THE_LOWERING)
def test_what_stablehlo_lets_pass_and_has_no_meaning_is_refused_by_the_lowering(body: str, message: str) -> None:
    module = parse_text(program(body, f"{MATRIX}, %c: tensor<2x4xf32>, %v: tensor<4xf32>"))
    verify(module)
    with pytest.raises(XlaError) as caught:
        lower(module)
    assert message in caught.value.message
