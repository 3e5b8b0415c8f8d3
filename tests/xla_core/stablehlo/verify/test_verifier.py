from __future__ import annotations

import pytest

from xla_core.errors import InvalidArgumentError, UnimplementedError, XlaError
from xla_core.stablehlo import parse_text, verify


def refuse(text: str) -> XlaError:
    with pytest.raises((InvalidArgumentError, UnimplementedError)) as caught:
        verify(parse_text(text, "test.mlir"))
    return caught.value


def function(body: str, arguments: str = "%a: tensor<2x3xf32>, %b: tensor<2x3xf32>") -> str:
    return f"func.func @main({arguments}) {{\n{body}\n  return\n}}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('%0 = "stablehlo.add"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>', "expected 2 operands, but found 1"),
        (
            '%0 = "stablehlo.add"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>',
            "requires the same shape for all operands and results",
        ),
        (
            '%0 = "stablehlo.add"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf64>',
            "op requires the same element type for all operands and results",
        ),
        (
            '%0 = "stablehlo.and"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>',
            "operand #0 must be ranked tensor of bool or 2/4/8/16/32/64-bit integer values, but got 'tensor<2x3xf32>'",
        ),
        ('%0 = "stablehlo.iota"() : () -> tensor<3xi32>', "requires attribute 'iota_dimension'"),
        (
            '%0 = "stablehlo.iota"() {iota_dimension = -1 : i64} : () -> tensor<3xi32>',
            "attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is "
            "non-negative",
        ),
        (
            '%0 = "stablehlo.transpose"(%a) {permutation = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x2xf32>',
            "must be a permutation of [0, 1] but got 1, 1",
        ),
        (
            "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
            "tensor<2x3xf32>",
            "contracting dimension sizes must match for lhs/rhs",
        ),
        (
            '"func.return"() : () -> ()\n  %0 = stablehlo.abs %a : tensor<2x3xf32>',
            "must be the last operation in the parent block",
        ),
        ('%0 = "stablehlo.abs"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>', "requires a single"),
        ("%0 = stablehlo.tuple %a : tensor<2x3xf32>", "expected tuple type, found tensor<2x3xf32>"),
        ("call @other() : () -> ()", "'other' does not reference a valid function"),
    ],
)
def test_what_is_wrong_is_said_as_mlir_says_it(body: str, message: str):
    error = refuse(function(body))
    assert message in error.message
    assert error.location is not None
    assert (error.location.file, error.location.line) == ("test.mlir", 2)


def test_an_unknown_op_of_a_known_dialect_is_refused_and_one_of_another_is_not():
    error = refuse(function('"stablehlo.ad"(%a, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>'))
    assert "unknown op" in error.message
    verify(parse_text(function('"acme.gelu"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>'), "test.mlir"))


def test_a_function_returns_what_it_declares():
    error = refuse("func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n  return %a : tensor<2xf32>\n}")
    assert "doesn't match function result type ('tensor<3xf32>')" in error.message
    assert error.location is not None
    assert error.location.line == 2


REGION = """
  %0 = "stablehlo.while"(%a) ({{
  ^bb0(%x: tensor<2x3xf32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return {returned}
  }}, {{
  ^bb0(%x: tensor<2x3xf32>):
    stablehlo.return %x : tensor<2x3xf32>
  }}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
"""


def test_regions_are_checked_against_operands():
    verify(parse_text(function(REGION.format(returned="%p : tensor<i1>"))))
    error = refuse(function(REGION.format(returned="%x : tensor<2x3xf32>")))
    assert "expect condition block return a zero-ranked tensor of i1 but got 'tensor<2x3xf32>'" in error.message


def test_dynamic_dimensions_are_compatible_with_any_and_bounds_are_not():
    arguments = "%a: tensor<?x3xf32>, %b: tensor<2x3xf32>"
    types = "(tensor<?x3xf32>, tensor<2x3xf32>)"
    verify(parse_text(function(f'%0 = "stablehlo.add"(%a, %b) : {types} -> tensor<?x3xf32>', arguments)))
    arguments = "%a: tensor<?x3xf32, #stablehlo.bounds<4, ?>>"
    types = "(tensor<?x3xf32, #stablehlo.bounds<4, ?>>)"
    error = refuse(function(f'%0 = "stablehlo.abs"(%a) : {types} -> tensor<5x3xf32>', arguments))
    assert "are incompatible with return type(s)" in error.message


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        (
            "func.func @f(%a: tensor<f32>) {\n %0 = stablehlo.abs %a : tensor<f32>\n}",
            "block with no terminator, has",
            2,
        ),
        ("\nfunc.func @f() {\n}", "empty block: expect at least a terminator", 2),
        (
            'func.func @f(%a: tensor<f32>, %p: tensor<i1>) {\n  %0 = "stablehlo.if"(%p) ({\n'
            "    %1 = stablehlo.abs %a : tensor<f32>\n  }, {}) : (tensor<i1>) -> tensor<f32>\n  return\n}",
            "block with no terminator, has",
            3,
        ),
        (
            "func.func @f(%a: tensor<f32>, %p: tensor<i1>) {\n  %0 = stablehlo.while(%x = %a) : tensor<f32>\n"
            "  cond {\n    stablehlo.return %p : tensor<i1>\n  } do {\n  }\n  return\n}",
            "'stablehlo.while' op expects a non-empty block",
            2,
        ),
        (
            'func.func @f(%a: tensor<f32>, %p: tensor<i1>) {\n  %0 = "stablehlo.if"(%p) ({\n    return %a : tensor<f32>\n'
            "  }, {\n    stablehlo.return %a : tensor<f32>\n  }) : (tensor<i1>) -> tensor<f32>\n  return\n}",
            "'func.return' op expects parent op 'func.func'",
            3,
        ),
    ],
)
def test_blocks_end_with_their_terminator(source: str, message: str, line: int) -> None:
    error = refuse(source)
    assert message in error.message
    assert error.location is not None
    assert error.location.line == line


def test_attributes_of_a_short_form_are_refused_where_their_dictionary_stands() -> None:
    convolution = """%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f],
      window = {}
      {batch_group_count = 1 : i64, feature_group_count = 0 : i64} :
      (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"""
    error = refuse(function(convolution))
    assert "attribute 'feature_group_count' failed to satisfy constraint" in error.message
    assert error.op == "stablehlo.convolution"
    assert error.location is not None
    assert error.location.line == 4


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (
            "%0 = stablehlo.pad %a, %b, low = [0], high = [0, 1], interior = [0] :"
            " (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>",
            "edge_padding_low, edge_padding_high, interior_padding",
        ),
        (
            '%0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1, 1>,'
            " strides = array<i64: 1>}> : (tensor<3xf32>) -> tensor<3xi32>",
            "start_indices, limit_indices, strides",
        ),
    ],
)
def test_sizes_of_attributes_come_before_element_types(body: str, names: str) -> None:
    source = f"func.func @f(%a: tensor<3xf32>, %b: tensor<i32>) {{\n  {body}\n  return\n}}"
    assert f"failed to verify that all of {{{names}}} have same size" in refuse(source).message
