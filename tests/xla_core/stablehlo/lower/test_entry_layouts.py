"""Layouts that a program gives its parameters and results."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloModule
from xla_core.stablehlo import lower, read


def layouts(program: str) -> tuple[list[str], list[str]]:
    module = lower(read(program))
    return [str(shape) for shape in module.parameter_shapes], [str(leaf) for leaf in module.result_shape.leaves()]


def program(given: str, made: str, op: str = "%0 = stablehlo.negate %x : tensor<4x8xf32>") -> str:
    return f"""
func.func @main(%x: tensor<4x8xf32> {given}) -> (tensor<4x8xf32> {made}) {{
  {op}
  return %0 : tensor<4x8xf32>
}}"""


def mode(text: str) -> str:
    return f'{{mhlo.layout_mode = "{text}"}}'


def test_layouts_are_those_of_the_attributes() -> None:
    assert layouts(program(mode("{0,1}"), mode("{1,0}"))) == (["f32[4,8]{0,1}"], ["f32[4,8]{1,0}"])
    assert layouts(program(mode("default"), mode("{0,1}"))) == (["f32[4,8]{1,0}"], ["f32[4,8]{0,1}"])
    assert layouts(program(mode("auto"), mode("auto"))) == (["f32[4,8]{1,0}"], ["f32[4,8]{1,0}"])
    assert layouts(program(mode("default"), mode("default"))) == (["f32[4,8]"], ["f32[4,8]"])


def test_a_transpose_keeps_the_order_in_memory_where_the_compiler_chooses() -> None:
    text = f"""
func.func @main(%x: tensor<2x4x8xf32>) -> (tensor<8x2x4xf32> {mode("auto")}, tensor<2x4x8xf32>) {{
  %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>
  return %0, %x : tensor<8x2x4xf32>, tensor<2x4x8xf32>
}}"""
    assert layouts(text)[1] == ["f32[8,2,4]{0,2,1}", "f32[2,4,8]{2,1,0}"]
    module = lower(read(text))
    x = np.arange(64, dtype=np.float32).reshape(2, 4, 8)
    np.testing.assert_array_equal(run(module, x)[0], x.transpose(2, 0, 1))


def run(module: HloModule, *arrays: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(result) for result in xla.Client("cpu").compile(module)(*arrays)]


def test_a_parameter_and_a_result_may_differ() -> None:
    text = program(mode("{0,1}"), mode("{1,0}"), "").replace("return %0", "return %x")
    assert layouts(text) == (["f32[4,8]{0,1}"], ["f32[4,8]{1,0}"])
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_array_equal(run(lower(read(text)), x)[0], x)


@pytest.mark.parametrize("text", ["{0}", "{0,0}", "{a,b}", "columns"])
def test_what_is_no_layout_is_an_error(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"mhlo.layout_mode is "):
        layouts(program(mode(text), ""))
