"""Functions of custom calls: the calls that are allowed, and the errors for the others."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError, StatusCode, XlaError
from xla_core.hlo import register_custom_call

ONE = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  {line}\n  return %0 : tensor<4xf32>\n}}\n"
_numbers = itertools.count()


def registered(function: Callable[..., Any]) -> str:
    target = f"test.ops.{next(_numbers)}"
    register_custom_call(target)(function)
    return target


def program(function: Callable[..., Any]) -> str:
    target = registered(function)
    return ONE.format(line=f"%0 = stablehlo.custom_call @{target}(%x) : (tensor<4xf32>) -> tensor<4xf32>")


@pytest.fixture(params=["evaluator", "cpu"])
def run(request: pytest.FixtureRequest) -> Callable[..., np.ndarray]:
    def on_cpu(text: str, x: np.ndarray) -> np.ndarray:
        return np.asarray(xla.Client("cpu").compile(text, file="f.mlir")(x)[0])

    return on_cpu if request.param == "cpu" else lambda text, x: xla.evaluate(text, x, file="f.mlir")[0]


def test_operands_cannot_be_written(run: Callable[..., np.ndarray]) -> None:
    def overwrite(context: Any, instruction: Any, values: list[np.ndarray]) -> np.ndarray:
        values[0][...] = 99
        return values[0]

    x = np.arange(4, dtype=np.float32)
    with pytest.raises(XlaError, match="raised ValueError: assignment destination is read-only") as caught:
        run(program(overwrite), x)
    assert caught.value.location is not None
    assert x.tolist() == [0, 1, 2, 3]


def test_operands_within_tuples_cannot_be_written() -> None:
    def overwrite(context: Any, instruction: Any, values: list[Any]) -> np.ndarray:
        values[0][0][...] = 99
        return np.zeros(4, np.float32)

    text = f"""HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  a = token[] after-all()
  t = (f32[4], token[]) tuple(x, a)
  ROOT y = f32[4] custom-call(t), custom_call_target="{registered(overwrite)}"
}}
"""
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(XlaError, match="read-only"):
        xla.evaluate(text, x)
    assert x.tolist() == [0, 1, 2, 3]


def test_a_function_leaves_out_the_token_of_its_results(run: Callable[..., np.ndarray]) -> None:
    text = f"""HloModule m
ENTRY e {{
  x = f32[4] parameter(0)
  a = token[] after-all()
  c = (token[], f32[4]) custom-call(a, x), custom_call_has_side_effect=true,
    custom_call_target="{registered(lambda context, instruction, values: values[1] + 1)}"
  ROOT y = f32[4] get-tuple-element(c), index=1
}}
"""
    assert run(text, np.arange(4, dtype=np.float32)).tolist() == [1, 2, 3, 4]


def test_what_is_given_back_as_it_came_is_the_callers_own(run: Callable[..., np.ndarray]) -> None:
    x = np.arange(4, dtype=np.float32)
    result = run(program(lambda context, instruction, values: values[0]), x)
    assert result.tolist() == [0, 1, 2, 3]
    assert not np.shares_memory(result, x)


def test_an_exit_is_an_error(run: Callable[..., np.ndarray]) -> None:
    def leave(context: Any, instruction: Any, values: list[np.ndarray]) -> np.ndarray:
        raise SystemExit(3)

    with pytest.raises(XlaError, match="raised SystemExit: 3") as caught:
        run(program(leave), np.ones(4, np.float32))
    assert caught.value.code is StatusCode.UNKNOWN
    assert isinstance(caught.value.__cause__, SystemExit)


def test_ctrl_c_stays_what_it_is() -> None:
    def interrupt(context: Any, instruction: Any, values: list[np.ndarray]) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        xla.evaluate(program(interrupt), np.ones(4, np.float32))


def test_none_is_no_result(run: Callable[..., np.ndarray]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"returned None, the program expects f32\[4\] ") as caught:
        run(program(lambda context, instruction, values: None), np.ones(4, np.float32))
    assert caught.value.hint == "return one array"


def test_none_is_enough_where_nothing_is_expected(run: Callable[..., np.ndarray]) -> None:
    seen = []
    target = registered(lambda context, instruction, values: seen.append(values[0].tolist()))
    line = f"stablehlo.custom_call @{target}(%x) {{has_side_effect = true}} : (tensor<4xf32>) -> ()\n"
    text = ONE.format(line=line + "  %0 = stablehlo.negate %x : tensor<4xf32>")
    assert run(text, np.ones(4, np.float32)).tolist() == [-1, -1, -1, -1]
    assert seen == [[1, 1, 1, 1]]


@pytest.mark.parametrize("target", [5, None, "", b"x", ["x"]])
def test_a_target_is_a_name(target: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="target must be the name of custom calls, not "):
        register_custom_call(target)


@pytest.mark.parametrize("function", [5, None, "f"])
def test_a_meaning_is_a_function(function: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"must be a function .*, not "):
        register_custom_call("test.ops.wrong")(function)
    assert not xla.hlo.is_custom_call_registered("test.ops.wrong")
