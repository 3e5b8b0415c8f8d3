"""scan, ragged-dot and scaled-dot: what is left has no such op, and means the same as the evaluator's definition."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from xla_core.hlo import evaluate


@pytest.mark.parametrize("sizes", [[2, 3, 0], [0, 0, 0], [1, 1, 1], [5, 2, 9]])
def test_ragged_dot_of_rows(check_pass, sizes):
    text = """x = s32[5,4] parameter(0)
      y = s32[3,4,2] parameter(1)
      n = s32[3] parameter(2)
      ROOT r = s32[5,2] ragged-dot(x, y, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"""
    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    y = np.arange(24, dtype=np.int32).reshape(3, 4, 2) - 7
    check_pass(text, "legalization{ragged-dot}", [x, y, np.array(sizes, np.int32)], roundings=0)


def test_ragged_dot_of_a_contracted_dimension_and_of_a_batch(check_pass):
    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    y = np.arange(10, dtype=np.int32).reshape(5, 2)
    sizes = np.array([2, 1, 1], np.int32)
    text = """x = s32[5,4] parameter(0)
      y = s32[5,2] parameter(1)
      n = s32[3] parameter(2)
      ROOT r = s32[3,4,2] ragged-dot(x, y, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}"""
    check_pass(text, "legalization{ragged-dot}", [x, y, sizes], roundings=0)
    text = """x = s32[5,4] parameter(0)
      y = s32[5,4] parameter(1)
      n = s32[3] parameter(2)
      ROOT r = s32[5] ragged-dot(x, y, n), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}"""
    check_pass(text, "legalization{ragged-dot}", [x, x, sizes], roundings=0)


def test_scaled_dot(check_pass):
    rng = np.random.default_rng(0)
    text = """x = f8e4m3fn[3,8] parameter(0)
      y = f8e4m3fn[2,8] parameter(1)
      a = f8e8m0fnu[3,2] parameter(2)
      b = f8e8m0fnu[] parameter(3)
      ROOT r = f32[3,2] scaled-dot(x, y, a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}"""
    x, y = (rng.integers(-8, 9, (n, 8)).astype(ml_dtypes.float8_e4m3fn) for n in (3, 2))
    a = (2.0 ** rng.integers(-3, 4, (3, 2))).astype(ml_dtypes.float8_e8m0fnu)
    check_pass(text, "legalization{scaled-dot}", [x, y, a, np.asarray(4, ml_dtypes.float8_e8m0fnu)], roundings=0)


def test_ragged_dot_whose_groups_differ_along_a_free_dimension(check_pass):
    text = """x = s32[2,3,5] parameter(0)
      y = s32[2,2,4] parameter(1)
      n = s32[3,2] parameter(2)
      ROOT r = s32[3,5,4] ragged-dot(x, y, n), lhs_contracting_dims={0}, rhs_contracting_dims={1}, lhs_ragged_dims={2}, rhs_group_dims={0}"""
    x = np.arange(30, dtype=np.int32).reshape(2, 3, 5) - 9
    y = np.arange(16, dtype=np.int32).reshape(2, 2, 4) - 5
    sizes = np.array([[2, 3], [0, 4], [5, 0]], np.int32)
    want = np.zeros((3, 5, 4), np.int32)
    for row, (first, second) in enumerate(sizes):
        for place in range(first + second):
            want[row, place] = x[:, row, place] @ y[int(place >= first)]
    module = check_pass(text, "legalization{ragged-dot}", [x, y, sizes])
    np.testing.assert_array_equal(evaluate(module, x, y, sizes)[0], want)
