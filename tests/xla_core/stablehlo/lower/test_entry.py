"""What the entry function's attributes and the module's say: buffers that results take, numbers of devices."""

from __future__ import annotations

import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import verify
from xla_core.hlo.ir.module import InputOutputAlias

TWO = """module attributes {{{module}}} {{
  func.func @main(%a: {type} {{{a}}} loc("model.py":3:7),
                  %b: tensor<2xf32> {{{b}}} loc("model.py":4:7)) -> ({type}, tensor<2xf32>, tensor<f32>) {{
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    return %a, %b, %0 : {type}, tensor<2xf32>, tensor<f32>
  }}
}}"""


def two(module: str = "", type: str = "tensor<2xf32>", a: str = "", b: str = "") -> str:
    return TWO.format(module=module, type=type, a=a, b=b)


@pytest.mark.parametrize(
    ("a", "b", "message", "line"),
    [
        ("tf.aliasing_output = 7 : i32", "", "@main has 3 results", 3),
        ("", "tf.aliasing_output = -1 : i32", "@main has 3 results", 4),
        ("tf.aliasing_output = 1 : i32", "tf.aliasing_output = 1 : i32", "it takes that of argument 0", 4),
        ("", "tf.aliasing_output = 2 : i32", r"the argument is f32\[2\], the result f32\[\]", 4),
    ],
)
def test_a_result_that_cannot_take_a_buffer_is_refused(a: str, b: str, message: str, line: int):
    with pytest.raises(InvalidArgumentError, match=f"cannot take the buffer of argument [01] .*: {message}") as raised:
        xla.parse(two(a=a, b=b))
    assert raised.value.location is not None
    assert (raised.value.location.file, raised.value.location.line) == ("model.py", line)
    assert "jax.buffer_donor" in (raised.value.hint or "")


def test_tuples_alias_leaf_by_leaf():
    tuples = "tuple<tensor<f32>, tensor<3xi32>>"
    module = xla.parse(two(type=tuples, a="tf.aliasing_output = 0 : i32", b="jax.buffer_donor = true"))
    assert module.input_output_aliases == [InputOutputAlias((0,), 0), InputOutputAlias((1,), 1)]
    assert module.buffer_donors == [(2, ())]
    verify(module)
    with pytest.raises(InvalidArgumentError, match="cannot take the buffer of argument 1"):
        xla.parse(two(type=tuples, b="tf.aliasing_output = 0 : i32"))


def test_sizes_that_the_arguments_decide_are_compared_too():
    text = """
    func.func @main(%a: tensor<?xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
      %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    assert xla.parse(text, argument_shapes=[(4,)]).input_output_aliases == [InputOutputAlias((), 0)]
    with pytest.raises(InvalidArgumentError, match="cannot take the buffer of argument 0"):
        xla.parse(text, argument_shapes=[(3,)])


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("mhlo.num_replicas = 0 : i32", "mhlo.num_replicas must be at least 1, not 0"),
        ("mhlo.num_partitions = -1 : i32", "mhlo.num_partitions must be at least 1, not -1"),
        ("mhlo.num_replicas = true", "mhlo.num_replicas must be an integer"),
    ],
)
def test_there_is_a_device_at_least(attribute: str, message: str):
    with pytest.raises(InvalidArgumentError, match=message) as raised:
        xla.parse(two(attribute))
    assert raised.value.location is not None
