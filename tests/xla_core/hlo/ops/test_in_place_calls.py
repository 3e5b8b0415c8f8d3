"""Custom calls that write their results in place, in the evaluator and on a backend."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.errors import AlreadyExistsError, XlaError
from xla_core.hlo import CustomCall, register_custom_call, register_in_place_call

X = np.arange(12, dtype=np.float32).reshape(3, 4)
_numbers = itertools.count()


@pytest.fixture(params=["evaluator", "cpu"])
def run(request: pytest.FixtureRequest) -> Callable[..., list[np.ndarray]]:
    def on_cpu(text: str, *arguments: Any) -> list[np.ndarray]:
        return [np.asarray(r) for r in xla.Client("cpu").compile(text)(*arguments)]

    return (
        on_cpu if request.param == "cpu" else lambda text, *given: [np.asarray(r) for r in xla.evaluate(text, *given)]
    )


def registered(function: Callable[[CustomCall], None]) -> str:
    target = f"test.in_place.{next(_numbers)}"
    register_in_place_call(target, function)
    return target


def call(target: str, shape: str = "f32[3,4]", more: str = "") -> str:
    return (
        f"HloModule m\n\nENTRY e {{\n  x = f32[3,4] parameter(0)\n"
        f'  ROOT y = {shape} custom-call(x), custom_call_target="{target}", backend_config={{k = 3 : i32}}{more}\n}}\n'
    )


def test_a_function_gets_attributes_and_fills_the_results(run: Callable[..., list[np.ndarray]]) -> None:
    def scale(call: CustomCall) -> None:
        call.results[0][...] = call.operands[0] * call.attributes["k"]
        call.results[1][...] = call.operands[0].sum(1)

    got = run(call(registered(scale), "(f32[3,4], f32[3])"), X)
    np.testing.assert_array_equal(got[0], 3 * X)
    np.testing.assert_array_equal(got[1], X.sum(1))


def test_operands_are_read_only(run: Callable[..., list[np.ndarray]]) -> None:
    def overwrite(call: CustomCall) -> None:
        call.operands[0][...] = 99

    with pytest.raises(XlaError, match="raised ValueError: assignment destination is read-only"):
        run(call(registered(overwrite)), X)
    assert X[0, 1] == 1


def test_arrays_have_the_layouts_of_the_call(run: Callable[..., list[np.ndarray]]) -> None:
    seen = []

    def copy(call: CustomCall) -> None:
        seen.append((call.operands[0].strides, call.results[0].strides))
        call.results[0][...] = call.operands[0]

    text = call(registered(copy), "f32[3,4]{0,1}", ", operand_layout_constraints={f32[3,4]{0,1}}")
    np.testing.assert_array_equal(run(text, X)[0], X)
    assert seen == [((4, 12), (4, 12))]


def test_a_result_that_aliases_an_operand_holds_its_values(run: Callable[..., list[np.ndarray]]) -> None:
    def increment(call: CustomCall) -> None:
        call.results[0][...] += 1

    text = call(registered(increment), more=", output_to_operand_aliasing={{}: (0, {})}")
    np.testing.assert_array_equal(run(text, X)[0], X + 1)


def test_both_kinds_of_functions_are_in_one_registry() -> None:
    target = registered(lambda call: None)
    with pytest.raises(AlreadyExistsError, match=target):
        register_custom_call(target)(lambda context, instruction, values: values[0])
    other = f"test.in_place.{next(_numbers)}"
    register_custom_call(other)(lambda context, instruction, values: values[0])
    with pytest.raises(AlreadyExistsError, match=other):
        register_in_place_call(other, lambda call: None)
