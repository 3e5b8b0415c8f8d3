"""Inference of results from operands with partly known sizes, as StableHLO infers them."""

from __future__ import annotations

import pytest

from xla_core.errors import XlaError
from xla_core.stablehlo import parse_text, verify


def program(op: str, operands: str, results: str) -> str:
    types = operands.split("; ")
    arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    name, _, rest = op.partition(" ")
    values = ", ".join(f"%{i}" for i in range(len(types)))
    return (
        f"func.func @main({arguments}) {{\n"
        f"  %r:{results.count('tensor')} = {name}({values}) {rest} : ({operands.replace('; ', ', ')}) -> ({results})\n"
        "  return\n}"
    )


def bounded(shape: str, bounds: str, element: str = "f32") -> str:
    return f"tensor<{shape}x{element}, #stablehlo.bounds<{bounds}>>"


SLICE = '"stablehlo.slice" {start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 1>}'
ROWS = '"stablehlo.concatenate" {dimension = 0 : i64}'
COLUMNS = '"stablehlo.concatenate" {dimension = 1 : i64}'
DOT = (
    '"stablehlo.dot_general" {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], '
    "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}"
)
TRAINING = '"stablehlo.batch_norm_training" {epsilon = 0.001 : f32, feature_index = 1 : i64}'
INFERENCE = '"stablehlo.batch_norm_inference" {epsilon = 0.001 : f32, feature_index = 1 : i64}'
GRADIENT = '"stablehlo.batch_norm_grad" {epsilon = 0.001 : f32, feature_index = 1 : i64}'
COMPARE = '"stablehlo.compare" {comparison_direction = #stablehlo<comparison_direction LT>}'
MAP = (
    '"stablehlo.map" ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n  stablehlo.return %x : tensor<f32>\n}) '
    "{dimensions = array<i64: 0, 1>}"
)
SHAPES = "requires the same shape for all operands and results"
FEATURES = bounded("4x?", "?, 3")

REFUSED = [
    (SLICE, bounded("?", "3"), "tensor<4xf32>", "limit index 4 is larger than dimension bound 3 in dimension 0"),
    (
        COLUMNS,
        f"tensor<4x?xf32>; {bounded('?x2', '3, ?')}",
        "tensor<?x?xf32>",
        "Mismatched dimension size 4 and bound 3 in dimension 0",
    ),
    (
        ROWS,
        "tensor<?x?xf32>; tensor<3x3xf32>; tensor<?x4xf32>",
        "tensor<?x?xf32>",
        "Mismatched dimension sizes 3 and 4 in dimension 1",
    ),
    (
        ROWS,
        f"tensor<2x3xf32>; {bounded('?x?', '4, 5')}",
        "tensor<7x3xf32>",
        "inferred type(s) 'tensor<?x3xf32, #stablehlo.bounds<6, ?>>' are incompatible",
    ),
    (
        DOT,
        f"{bounded('?x4', '2, ?')}; tensor<3x4xf32>",
        "tensor<?xf32>",
        "Mismatched dimension size 3 and bound 2 in dimension 0",
    ),
    (
        TRAINING,
        f"{FEATURES}; tensor<?xf32>; tensor<?xf32>",
        f"{FEATURES}, tensor<4xf32>, tensor<4xf32>",
        "'tensor<?xf32, #stablehlo.bounds<3>>', 'tensor<?xf32, #stablehlo.bounds<3>>' are incompatible",
    ),
    (
        GRADIENT,
        f"{FEATURES}; tensor<?xf32>; tensor<?xf32>; tensor<?xf32>; {FEATURES}",
        f"{FEATURES}, tensor<3xf32>, tensor<4xf32>",
        "'tensor<?xf32, #stablehlo.bounds<3>>', 'tensor<?xf32, #stablehlo.bounds<3>>' are incompatible",
    ),
    (
        INFERENCE,
        "tensor<2x2xf32>; tensor<?xf32>; tensor<2xf32>; tensor<3xf32>; tensor<2xf32>",
        "tensor<2x2xf32>",
        "expects single-dimensional operands to have compatible shapes.",
    ),
    (
        COMPARE,
        f"{bounded('?', '3')}; tensor<?xf32>",
        "tensor<4xi1>",
        "inferred type(s) 'tensor<?xi1, #stablehlo.bounds<3>>' are incompatible",
    ),
    (
        '"stablehlo.select"',
        f"tensor<i1>; tensor<4xf32>; {bounded('?', '3')}",
        "tensor<?xf32>",
        "Mismatched dimension size 4 and bound 3 in dimension 0",
    ),
    (
        MAP,
        f"{bounded('?x3', '2, ?')}; {bounded('4x?', '?, 4')}",
        bounded("?x3", "2, ?"),
        "inferred type(s) 'tensor<4x?xf32>' are incompatible",
    ),
    *(
        (f'"stablehlo.{name}"', "tensor<2x?xf32>; tensor<2x1xf32>", "tensor<2x3xf32>", SHAPES)
        for name in ("add", "subtract", "power", "divide", "multiply", "remainder", "maximum", "atan2")
    ),
    ('"stablehlo.and"', "tensor<2x?xi32>; tensor<2x1xi32>", "tensor<2x3xi32>", SHAPES),
    (
        '"stablehlo.divide"',
        f"tensor<2x?xf32>; {bounded('2x?', '?, 5')}",
        "tensor<3x?xf32>",
        "requires compatible types",
    ),
]

ACCEPTED = [
    (SLICE, bounded("?", "5"), "tensor<4xf32>"),
    (ROWS, f"tensor<2x3xf32>; {bounded('?x?', '4, 5')}", bounded("?x3", "6, ?")),
    (TRAINING, f"{FEATURES}; tensor<?xf32>; tensor<?xf32>", f"{FEATURES}, tensor<3xf32>, tensor<?xf32>"),
    (COMPARE, f"tensor<4xf32>; {bounded('?', '3')}", "tensor<4xi1>"),
    (COMPARE, f"tensor<?xf32>; {bounded('?', '3')}", "tensor<4xi1>"),
    ('"stablehlo.complex"', f"tensor<4xf32>; {bounded('?', '3')}", "tensor<4xcomplex<f32>>"),
    (MAP, f"{bounded('4x?', '?, 4')}; {bounded('?x3', '2, ?')}", bounded("?x3", "2, ?")),
    # Bounds count where the first operand has some.
    *(
        (name, f"tensor<2x?xf32>; {bounded('2x?', '?, 3')}", "tensor<2x4xf32>")
        for name in ('"stablehlo.divide"', '"stablehlo.subtract"', '"chlo.next_after"', '"chlo.polygamma"')
    ),
    ('"stablehlo.select"', f"tensor<i1>; tensor<2x?xf32>; {bounded('2x?', '?, 3')}", "tensor<2x4xf32>"),
]


@pytest.mark.parametrize(("op", "operands", "results", "message"), REFUSED)
def test_what_does_not_follow_is_refused(op: str, operands: str, results: str, message: str) -> None:
    with pytest.raises(XlaError) as caught:
        verify(parse_text(program(op, operands, results)))
    assert message in caught.value.message


@pytest.mark.parametrize(("op", "operands", "results"), ACCEPTED)
def test_no_more_is_inferred_than_stablehlo_infers(op: str, operands: str, results: str) -> None:
    verify(parse_text(program(op, operands, results)))
