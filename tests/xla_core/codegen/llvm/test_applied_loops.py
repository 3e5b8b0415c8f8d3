"""Ops whose computations have loops and branches in them, against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla

COMPUTATIONS = """HloModule m

halve {
  t = (s32[], s32[]) parameter(0)
  a = s32[] get-tuple-element(t), index=0
  b = s32[] get-tuple-element(t), index=1
  r = s32[] remainder(a, b)
  ROOT n = (s32[], s32[]) tuple(b, r)
}

isn_zero {
  t = (s32[], s32[]) parameter(0)
  b = s32[] get-tuple-element(t), index=1
  zero = s32[] constant(0)
  ROOT c = pred[] compare(b, zero), direction=NE
}

divisor {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  t = (s32[], s32[]) tuple(a, b)
  w = (s32[], s32[]) while(t), condition=isn_zero, body=halve
  ROOT d = s32[] get-tuple-element(w), index=0
}

absolute {
  a = s32[] parameter(0)
  ROOT n = s32[] abs(a)
}

remainder {
  a = s32[] parameter(0)
  seven = s32[] constant(7)
  ROOT n = s32[] remainder(a, seven)
}

key {
  a = s32[] parameter(0)
  limit = s32[] constant(40)
  large = pred[] compare(a, limit), direction=GT
  ROOT k = s32[] conditional(large, a, a), true_computation=remainder, false_computation=absolute
}

less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  k = s32[] call(a), to_apply=key
  l = s32[] call(b), to_apply=key
  ROOT c = pred[] compare(k, l), direction=LT
}

ENTRY main {
  x = s32[6,8] parameter(0)
  zero = s32[] constant(0)
  row = s32[1,8] slice(x), slice={[0:1], [0:8]}
  indices = s32[1] constant({2})
  reversed = s32[6,8] reverse(x), dimensions={1}
  source = s32[6,7] slice(x), slice={[0:6], [0:7]}
  ROOT y = OP
}
"""
OPS = {
    "map": "s32[6,8] map(x, reversed), dimensions={0,1}, to_apply=divisor",
    "reduce": "s32[8] reduce(x, zero), dimensions={0}, to_apply=divisor",
    "reduce-window": "s32[6,7] reduce-window(x, zero), window={size=1x2}, to_apply=divisor",
    "scatter": (
        "s32[6,8] scatter(x, indices, row), update_window_dims={1}, inserted_window_dims={0},"
        " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=divisor"
    ),
    "select-and-scatter": (
        "s32[6,8] select-and-scatter(x, source, zero), window={size=1x2}, select=less, scatter=divisor"
    ),
    "sort": "s32[6,8] sort(x), dimensions={1}, is_stable=true, to_apply=less",
}


@pytest.mark.parametrize("op", sorted(OPS))
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_computations_with_loops_and_branches(backend: str, op: str) -> None:
    pytest.importorskip(f"xla_backend_{backend}")
    text = COMPUTATIONS.replace("OP", OPS[op])
    x = np.random.default_rng(3).integers(1, 60, (6, 8)).astype(np.int32) * 6
    with xla.Client(backend) as client:
        found = [np.asarray(result) for result in client.compile(text)(x)]
    np.testing.assert_array_equal(found, np.asarray(xla.evaluate(xla.parse(text), x)))
