"""What the reader's tests share: trees to compare, StableHLO's own test files, programs to mutate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from xla_conformance.stablehlo.suite import find_tests

from xla_core.errors import XlaError
from xla_core.stablehlo import Module, Op, Value, parse_text
from xla_core.stablehlo.ir.structures import ResultAccuracy

DEFAULTS: dict[str, Any] = {
    "api_version": 1,
    "called_computations": (),
    "has_side_effect": False,
    "result_accuracy": ResultAccuracy(),
}
"""Attributes that MLIR's pretty form leaves out where they have these values, and its generic form spells out."""


def tree(module: Module, names: bool = False, locations: bool = False) -> Any:
    """A module as plain data: two modules are the same exactly if their trees are equal."""
    numbers: dict[int, int] = {}

    def value(item: Value) -> Any:
        number = numbers.setdefault(id(item), len(numbers))
        return (number, item.type, item.name) if names else (number, item.type)

    def attributes(values: dict[str, Any]) -> Any:
        return {name: described(item) for name, item in values.items() if DEFAULTS.get(name) != item}

    def op(item: Op) -> Any:
        return (
            item.name,
            [numbers[id(operand)] for operand in item.operands],
            [value(result) for result in item.results],
            attributes(item.attributes),
            [
                [([value(a) for a in block.arguments], [op(o) for o in block.ops]) for block in region.blocks]
                for region in item.regions
            ],
            item.location if locations else None,
        )

    functions = {name: op(function) for name, function in module.functions.items()}
    return module.name, attributes(module.attributes), functions, [op(item) for item in module.others]


def described(item: Any) -> Any:
    """An attribute's value, with what `==` doesn't look at: its class, its type, its kind."""
    if isinstance(item, dict):
        return {name: described(inner) for name, inner in item.items()}
    if type(item) is tuple:
        return tuple(described(inner) for inner in item)
    return type(item).__name__, *(getattr(item, name, None) for name in ("type", "kind", "element")), item


def in_function(body: str, arguments: str = "%a: tensor<f32>", head: str = "") -> str:
    """A module with one function."""
    return f"{head}func.func @f({arguments}) {{\n  {body}\n  return\n}}\n"


def first_op(body: str, arguments: str = "%a: tensor<f32>", head: str = "") -> Op:
    """The first op of a function's body."""
    function = parse_text(in_function(body, arguments, head)).functions["f"]
    return function.regions[0].block.ops[0]


def refusal(source: str) -> XlaError:
    """The error that reading a text must give; it must say where."""
    with pytest.raises(XlaError) as caught:
        parse_text(source, "test.mlir")
    error = caught.value
    assert error.location is not None
    assert error.location.file == "test.mlir"
    assert error.location.line >= 1
    assert error.location.column >= 1
    assert error.snippet is not None
    assert error.snippet.rstrip().endswith("^")
    return error


def stablehlo_tests() -> Path:
    """The folder of StableHLO's own test files, or skip."""
    folder = find_tests()
    if folder is None:
        pytest.skip("StableHLO's tests are not there; set STABLEHLO_TESTS")
    return folder


PROGRAM = """\
#map = affine_map<(d0) -> (d0)>
!t = tensor<2x3xf32>
module @everything attributes {mhlo.num_partitions = 1 : i32, m = #map} {
  func.func public @main(%arg0: !t {jax.buffer_donor = true} loc("x"), %arg1: tensor<i32>) -> (!t {r = "[0]"}) {
    %c = stablehlo.constant dense<[[1.0, -2.5, 0x7FC00000], [0.0, 1.0e-3, 4.0]]> : tensor<2x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc2)
    %hex = stablehlo.constant dense<"0x0100000002000000"> : tensor<2xi32>
    %z = stablehlo.constant dense<(1.0, -1.0)> : tensor<2xcomplex<f32>>
    %0 = stablehlo.add %arg0, %c : tensor<2x3xf32> loc(#loc1)
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %2 = stablehlo.compare  GT, %0, %1,  FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %3 = stablehlo.select %2, %0, %1 : tensor<2x3xi1>, tensor<2x3xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %5 = stablehlo.dot_general %3, %4, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] \
: (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %6 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] \
: (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %7:2 = stablehlo.while(%i = %arg1, %x = %3) : tensor<i32>, tensor<2x3xf32>
     cond {
      %9 = stablehlo.constant dense<10> : tensor<i32>
      %10 = stablehlo.compare LT, %i, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %9 = stablehlo.constant dense<1> : tensor<i32>
      %10 = stablehlo.add %i, %9 : tensor<i32>
      stablehlo.return %10, %x : tensor<i32>, tensor<2x3xf32>
    }
    %8 = "stablehlo.sort"(%7#1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<f32> loc("l"), %r: tensor<f32>):
      %9 = stablehlo.compare LT, %l, %r, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("main.py":3:4)
    %11 = stablehlo.custom_call @target(%8) {backend_config = "a\\22b", api_version = 2 : i32} \
: (tensor<2x3xf32>) -> tensor<2x3xf32>
    %12 = call @helper(%11) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %12 : tensor<2x3xf32>
  } loc(unknown)
  func.func private @helper(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.slice %arg0 [0:2, 0:3:1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.pad %0, %pad, low = [0, 0], high = [0, 0], interior = [0, 0] \
: (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
#loc = loc("model.py":10:4)
#loc1 = loc("jit(f)/add"(#loc))
#loc2 = loc(callsite(#loc at "main.py":1:1))
""".replace(
    "%1 = stablehlo.pad %0, %pad", "%pad = stablehlo.constant dense<0.0> : tensor<f32>\n    %1 = stablehlo.pad %0, %pad"
)
"""A program with some of everything."""
