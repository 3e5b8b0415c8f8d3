"""Results that are declared static, of operands whose sizes a run decides."""

import numpy as np
import pytest

import xla_core as xla

BOUNDED = "tensor<?xf32, #stablehlo.bounds<6>>"
RESULTS = {
    "its bound": (
        "%s = stablehlo.constant dense<6> : tensor<i32>\n"
        f"%0 = stablehlo.set_dimension_size %d, %s, dim = 0 : ({BOUNDED}, tensor<i32>) -> tensor<6xf32>",
        [1, 2, 3, 0, 0, 0],
    ),
    "elementwise": (f"%0 = stablehlo.negate %d : ({BOUNDED}) -> tensor<6xf32>", [-1, -2, -3, 0, 0, 0]),
    "less than its bound": (f"%0 = stablehlo.negate %d : ({BOUNDED}) -> tensor<4xf32>", [-1, -2, -3, 0]),
    "a part": (f"%0 = stablehlo.slice %d [1:5] : ({BOUNDED}) -> tensor<4xf32>", [2, 3, 0, 0]),
    "with a static operand": (
        f"%0 = stablehlo.add %d, %x : ({BOUNDED}, tensor<6xf32>) -> tensor<6xf32>",
        [2, 4, 6, 0, 0, 0],
    ),
}


def program(body: str, result: str) -> str:
    return f"""
func.func @main(%x: tensor<6xf32>, %n: tensor<i32>) -> {result} {{
  %d = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<6xf32>, tensor<i32>) -> {BOUNDED}
  {body}
  return %0 : {result}
}}"""


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_the_sizes_that_are_declared(name: str) -> None:
    body, want = RESULTS[name]
    text = program(body, f"tensor<{len(want)}xf32>")
    arguments = (np.arange(1, 7, dtype=np.float32), np.int32(3))
    exe = xla.Client("cpu").compile(text)
    assert str(exe.result_shapes[0].without_layout()) == f"f32[{len(want)}]"
    for (found,) in (exe(*arguments), xla.evaluate(text, *arguments)):
        assert np.asarray(found).tolist() == want


def test_a_static_operand_is_cut_and_never_broadcast() -> None:
    text = program(f"%0 = stablehlo.add %d, %x : ({BOUNDED}, tensor<6xf32>) -> {BOUNDED}", BOUNDED)
    exe = xla.Client("cpu").compile(text)
    for n in (0, 1, 3):
        arguments = (np.arange(1, 7, dtype=np.float32), np.int32(n))
        for (found,) in (exe(*arguments), xla.evaluate(text, *arguments)):
            assert np.asarray(found).tolist() == [2 * k for k in range(1, n + 1)]


def test_sizes_that_a_run_gives_and_that_differ_are_an_error_of_the_evaluator() -> None:
    text = f"""
func.func @main(%x: tensor<6xf32>, %n: tensor<i32>, %m: tensor<i32>) -> {BOUNDED} {{
  %a = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<6xf32>, tensor<i32>) -> {BOUNDED}
  %b = stablehlo.set_dimension_size %x, %m, dim = 0 : (tensor<6xf32>, tensor<i32>) -> {BOUNDED}
  %0 = stablehlo.add %a, %b : {BOUNDED}
  return %0 : {BOUNDED}
}}"""
    with pytest.raises(
        xla.InvalidArgumentError, match=r"5:8: .*add of \[1\], \[3\]: the run gave .* sizes that differ"
    ):
        xla.evaluate(text, np.zeros(6, np.float32), np.int32(1), np.int32(3))
