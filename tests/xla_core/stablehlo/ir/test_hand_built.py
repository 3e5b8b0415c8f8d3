"""Modules that Python code builds or changes: errors are reported, and nothing is written."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.stablehlo import (
    Block,
    DenseElements,
    Module,
    Op,
    Region,
    TensorType,
    parse_bytecode,
    parse_text,
    verify,
    write_portable_artifact,
    write_text,
)
from xla_core.stablehlo.ir import FunctionType
from xla_core.stablehlo.ir.attributes import EnumAttribute

F32 = TensorType((2,), "f32")
COMPARE = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xi1> {
  %0 = stablehlo.compare LT, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
"""
CALL = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @f(%x) {api_version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
DOT = """
func.func @main(%x: tensor<2xf32>) -> tensor<f32> {
  %0 = stablehlo.dot %x, %x, precision = [HIGH, HIGH] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def function(block: Block, results: list[Any]) -> Module:
    type = FunctionType(tuple(argument.type for argument in block.arguments), tuple(value.type for value in results))
    block.ops.append(Op("func.return", results, []))
    main = Op("func.func", [], [], {"sym_name": "main", "function_type": type}, [Region([block])])
    return Module(functions={"main": main})


@pytest.mark.parametrize(
    ("text", "name", "wrong", "right"),
    [
        (COMPARE, "comparison_direction", "GT", EnumAttribute("GT", "comparison_direction")),
        (CALL, "api_version", 3, None),
        (DOT, "precision_config", ("HIGH", "HIGH"), (EnumAttribute("HIGH", "precision"),) * 2),
    ],
)
def test_what_only_looks_like_an_attribute_is_refused(text: str, name: str, wrong: Any, right: Any) -> None:
    """A string is no case of an enum: in an artifact of it, MLIR would look for what isn't there."""
    module = parse_text(text)
    op = module.functions["main"].regions[0].block.ops[0]
    op.attributes = {**op.attributes, name: wrong}
    with pytest.raises(InvalidArgumentError, match=f"attribute '{name}' failed to satisfy"):
        verify(module)
    with pytest.raises(InvalidArgumentError, match=f"attribute '{name}' failed to satisfy"):
        write_portable_artifact(module)
    if right is not None:
        op.attributes = {**op.attributes, name: right}
        verify(module)
        verify(parse_bytecode(write_portable_artifact(module)))
        assert str(right[0] if isinstance(right, tuple) else right) in write_text(module)


@pytest.mark.parametrize("attribute", ['comparison_direction = "GT"', "comparison_direction = 1 : i64"])
def test_text_of_another_kind_is_refused(attribute: str) -> None:
    text = COMPARE.replace("stablehlo.compare LT, %x, %x :", f'"stablehlo.compare"(%x, %x) {{{attribute}}} :')
    with pytest.raises(InvalidArgumentError, match="comparison_direction"):
        verify(parse_text(text))


@pytest.mark.parametrize(
    ("element", "data"),
    [
        ("f32", np.array([1, 2])),
        ("f32", np.array([1.5, 2.5])),
        ("f32", np.array([1.0, 2.0, 3.0], np.float32)),
        ("f32", np.array([[1.0, 2.0]], np.float32)),
        ("i4", np.array([1, 200], np.uint8)),
        ("f32", np.array(1)),
    ],
)
def test_data_that_do_not_go_with_their_type(element: str, data: np.ndarray) -> None:
    with pytest.raises(InvalidArgumentError, match="can't hold an array of shape"):
        DenseElements(TensorType((2,), element), data)


def test_a_constant_leaves_its_data_to_their_owner() -> None:
    data = np.array([1.0, 2.0], np.float32)
    constant = DenseElements(F32, data)
    data[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        constant.data[0] = 4
    assert DenseElements(TensorType((2,), "i4"), np.array([1, -2], ml_dtypes.int4)).tolist() == [1, -2]


def test_a_value_that_nothing_defines() -> None:
    block = Block([F32])
    lost = Op("stablehlo.add", block.arguments * 2, [F32])
    block.ops.append(Op("stablehlo.abs", list(lost.results), [F32]))
    with pytest.raises(InvalidArgumentError, match="operand #0 does not dominate this use"):
        verify(function(block, block.ops[0].results))


def test_a_value_of_a_region_ends_with_it() -> None:
    module = parse_text(
        """
        func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = "stablehlo.if"(%p) ({
            %1 = stablehlo.abs %x : tensor<2xf32>
            stablehlo.return %1 : tensor<2xf32>
          }, {
            stablehlo.return %x : tensor<2xf32>
          }) : (tensor<i1>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }
        """
    )
    verify(module)
    branch, end = module.functions["main"].regions[0].block.ops
    inner, inner_end = branch.regions[0].block.ops
    inner_end.operands = branch.results
    with pytest.raises(InvalidArgumentError, match="operand #0 does not dominate this use"):
        verify(module)
    inner_end.operands = inner.results
    end.operands = inner.results
    with pytest.raises(InvalidArgumentError, match="operand #0 does not dominate this use"):
        verify(module)


def test_a_size_is_not_negative() -> None:
    with pytest.raises(InvalidArgumentError, match="a size is not negative"):
        TensorType((-5,), "f32")


@pytest.mark.parametrize(
    "value", [object(), b"ab", None, np.arange(3), {"deep": (object(),)}], ids=lambda v: type(v).__name__
)
def test_what_is_no_attribute_is_not_written(value: Any) -> None:
    module = parse_text(COMPARE)
    op = module.functions["main"].regions[0].block.ops[0]
    op.attributes = {**op.attributes, "mine": value}
    with pytest.raises(InvalidArgumentError, match="is no attribute"):
        write_text(module)
