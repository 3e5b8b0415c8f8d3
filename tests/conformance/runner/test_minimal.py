"""The part of a module that computes one result, as StableHLO."""

from __future__ import annotations

import numpy as np
from xla_conformance.runner.minimal import minimal_program

from xla_core import evaluate, parse

TWO = """HloModule two, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  s = f32[3] add(a, b)
  n = f32[3] negate(a)
  ROOT r = (f32[3], f32[3]) tuple(s, n)
}
"""


def test_other_results_are_left_out_and_parameters_stay() -> None:
    text = minimal_program(TWO, 1)
    assert "stablehlo.negate" in text
    assert "stablehlo.add" not in text
    a, b = np.arange(3, dtype=np.float32), np.ones(3, np.float32)
    (result,) = evaluate(parse(text), a, b)
    np.testing.assert_array_equal(result, -a)


def test_a_module_with_one_result_is_whole() -> None:
    text = minimal_program("HloModule m\nENTRY e {\n  a = f32[3] parameter(0)\n  ROOT n = f32[3] negate(a)\n}\n", 0)
    assert text.count("stablehlo.") == 1


def test_a_module_without_that_result_is_whole() -> None:
    """A failure may count the results of all devices."""
    text = minimal_program(TWO, 2)
    assert "stablehlo.negate" in text
    assert "stablehlo.add" in text


def test_there_is_none_where_stablehlo_has_no_such_op() -> None:
    tanh = "HloModule m\nENTRY e {\n  a = f32[3] parameter(0)\n  ROOT n = f32[3] stochastic-convert(a, a)\n}\n"
    assert minimal_program(tanh, 0) == ""
    assert minimal_program("no module", 0) == ""
