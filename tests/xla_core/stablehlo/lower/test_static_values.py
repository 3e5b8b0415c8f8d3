"""Values that the lowering must know: what they may follow from, and that computing them is bounded."""

from __future__ import annotations

import time

import numpy as np
import pytest

from xla_core.errors import ResourceExhaustedError, UnimplementedError
from xla_core.hlo import evaluate
from xla_core.stablehlo import to_hlo

PAD = """
func.func @main(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  {before}
  %r = stablehlo.dynamic_pad %x, %v, %w, %zero, %zero
      : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}}
"""
ENDLESS = """%w = stablehlo.while(%a = %zero) : tensor<1xi32>
  cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %a : tensor<1xi32>
  }"""
DOUBLED = "%w = func.call @f0(%zero) : (tensor<1xi32>) -> tensor<1xi32>"
DOUBLING = "".join(
    f"""
func.func private @f{i}(%a: tensor<1xi32>) -> tensor<1xi32> {{
  %0 = call @f{i + 1}(%a) : (tensor<1xi32>) -> tensor<1xi32>
  %1 = call @f{i + 1}(%0) : (tensor<1xi32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}}"""
    for i in range(40)
)
LAST = "\nfunc.func private @f40(%a: tensor<1xi32>) -> tensor<1xi32> { return %a : tensor<1xi32> }"
LARGE = """%i = stablehlo.iota dim = 0 : tensor<100000000xi32>
  %w = stablehlo.slice %i [0:1] : (tensor<100000000xi32>) -> tensor<1xi32>"""


@pytest.mark.parametrize(
    ("before", "functions", "line", "message"),
    [
        (ENDLESS, "", 4, "more than 200,000 steps"),
        (DOUBLED, DOUBLING + LAST, 4, "more than 200,000 steps"),
        (LARGE, "", 4, "more than 256 MiB"),
    ],
    ids=["an endless loop", "calls that double", "a large array"],
)
def test_work_is_bounded(before: str, functions: str, line: int, message: str):
    with pytest.raises(ResourceExhaustedError, match=message) as raised:
        to_hlo(PAD.format(before=before) + functions, "pad.mlir")
    assert raised.value.location is not None
    assert raised.value.location.line == line
    assert "as a constant" in (raised.value.hint or "")


@pytest.mark.parametrize(
    "unknown",
    [
        "stablehlo.partition_id : tensor<ui32>",
        "stablehlo.replica_id : tensor<ui32>",
        "stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<ui32>, tensor<ui32>, tensor<0xi64>) -> tensor<ui32>",
        "func.call @id() : () -> tensor<ui32>",
    ],
)
def test_what_differs_between_devices_or_runs_is_not_known(unknown: str):
    before = f"""%a = stablehlo.constant dense<0> : tensor<ui32>
  %b = stablehlo.constant dense<1> : tensor<ui32>
  %s = stablehlo.constant dense<> : tensor<0xi64>
  %u = {unknown}
  %i = stablehlo.convert %u : (tensor<ui32>) -> tensor<i32>
  %w = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>"""
    function = """func.func private @id() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}"""
    with pytest.raises(UnimplementedError, match=r"padding of stablehlo\.dynamic_pad must be a constant"):
        to_hlo(PAD.format(before=before) + function)


def test_each_value_of_a_chain_is_computed_once():
    """Of n paddings each takes the next value of a chain: n steps, not n squared."""
    count = 1500
    chain = "\n".join(
        f"""  %c{i + 1} = stablehlo.subtract %c0, %c{i} : tensor<1xi32>
  %x{i + 1} = stablehlo.dynamic_pad %x{i}, %v, %c{i + 1}, %c{i}, %zero
      : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>"""
        for i in range(count)
    )
    text = f"""func.func @main(%x0: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %c0 = stablehlo.constant dense<0> : tensor<1xi32>
{chain}
  return %x{count} : tensor<4xf32>
}}"""
    start = time.process_time()
    module = to_hlo(text)
    assert time.process_time() - start < 20  # a second; squared, it took minutes
    x = np.arange(4, dtype=np.float32)
    assert evaluate(module, x, np.float32(9))[0].tolist() == [0, 1, 2, 3]
