"""Rows that one loop reduces several at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, array, emit, f32, fuse, random_array, scalar, scalar_body
from xla_core.hlo.values.element_type import ElementType as T


def row_sums(c, x):
    return c.add("reduce", x, scalar(c, 0, x.shape.element_type), dimensions=(1,), to_apply=sums(x.shape.element_type))


def sums(element_type: T):
    return scalar_body("add", element_type)


def matrix_vector(c, matrix, vector):
    return row_sums(c, c.add("multiply", matrix, c.add("broadcast", vector, shape=matrix.shape, dimensions=(1,))))


def clipped_sums(c, x):
    total = row_sums(c, x)
    return c.add("maximum", total, c.add("broadcast", scalar(c, 0), shape=total.shape, dimensions=()))


def columns_of_a_cube(c, x):
    return c.add("reduce", x, scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))


def broadcast_sum(c, x):
    total = c.add("reduce", x, scalar(c, 0), dimensions=(0, 1), to_apply=scalar_body("add"))
    return c.add("broadcast", total, shape=f32(64), dimensions=())


def reversed_sums(c, x):
    return c.add("reverse", row_sums(c, x), dimensions=(0,))


def sums_and_extrema(c, x):
    least, most = scalar(c, float("inf")), scalar(c, float("-inf"))
    results = [
        row_sums(c, x),
        c.add("reduce", x, most, dimensions=(1,), to_apply=scalar_body("maximum")),
        c.add("reduce", x, least, dimensions=(1,), to_apply=scalar_body("minimum")),
    ]
    return c.add("tuple", *results)


def sum_and_largest(c, x):
    most = c.add("reduce", x, scalar(c, float("-inf")), dimensions=(1,), to_apply=scalar_body("maximum"))
    return c.add("subtract", row_sums(c, x), most)


def sums_of_two_arrays(c, x, y):
    return c.add("tuple", row_sums(c, x), row_sums(c, y))


def squared_differences_from_the_largest(c, x):
    most = c.add("reduce", x, scalar(c, float("-inf")), dimensions=(1,), to_apply=scalar_body("maximum"))
    less = c.add("subtract", x, c.add("broadcast", most, shape=x.shape, dimensions=(0,)))
    return row_sums(c, c.add("multiply", less, less))


def exponentials(c, x):
    return row_sums(c, c.add("exponential", x))


def test_the_plan_says_how_long_the_rows_are() -> None:
    assert emit(fuse(row_sums, f32(40, 96)))[0].plan == "row groups: 40 units; 40 rows of 96 elements in groups of 4"


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (row_sums, f32(40, 9)),
        (row_sums, f32(3, 96)),
        (columns_of_a_cube, f32(20, 96, 5)),
        (exponentials, f32(40, 96)),
        (broadcast_sum, f32(40, 96)),
        (reversed_sums, f32(40, 96)),
        (squared_differences_from_the_largest, f32(40, 96)),
    ],
)
def test_short_few_strided_costly_moved_and_dependent_rows_have_another_form(build, shape) -> None:
    assert "row groups" not in emit(fuse(build, shape))[0].plan


@pytest.mark.parametrize("rows", [8, 9, 23])
@pytest.mark.parametrize("parts", [1, 3, 7])
def test_each_row_is_reduced_once_however_the_rows_are_divided(rows: int, parts: int) -> None:
    x, v = random_array(f32(rows, 100)), random_array(f32(100))
    loaded = Loaded(fuse(matrix_vector, f32(rows, 100), f32(100)))
    assert "row groups" in loaded.kernel.plan
    np.testing.assert_allclose(loaded(x, v, parts=parts)[0], x.astype(np.float64) @ v, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("element_type", [T.BF16, T.F16, T.F64, T.S8, T.S32, T.C64])
def test_rows_of_other_types(element_type: T) -> None:
    shape = array(element_type, 11, 70)
    x = random_array(shape)
    loaded = Loaded(fuse(row_sums, shape))
    assert "row groups" in loaded.kernel.plan
    wide = x.sum(1, dtype=x.dtype if x.dtype.kind in "ic" else np.float64)
    rtol = {T.BF16: 1e-2, T.F16: 1e-3, T.F64: 1e-12}.get(element_type, 1e-5)
    np.testing.assert_allclose(loaded(x)[0].astype(wide.dtype), wide, rtol=rtol, atol=rtol * 10)


def test_results_are_computed_from_the_reduced_rows() -> None:
    x = random_array(f32(21, 80))
    loaded = Loaded(fuse(clipped_sums, f32(21, 80)))
    assert "row groups" in loaded.kernel.plan
    np.testing.assert_allclose(loaded(x)[0], np.maximum(x.astype(np.float64).sum(1), 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("parts", [1, 3])
def test_one_loop_makes_several_reductions(parts: int) -> None:
    x = random_array(f32(21, 80))
    loaded = Loaded(fuse(sums_and_extrema, f32(21, 80)))
    assert "groups of 2" in loaded.kernel.plan
    total, most, least = loaded(x, parts=parts)
    np.testing.assert_allclose(total, x.astype(np.float64).sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(most, x.max(1))
    np.testing.assert_array_equal(least, x.min(1))


def test_a_result_may_need_two_reductions() -> None:
    x = random_array(f32(21, 80))
    loaded = Loaded(fuse(sum_and_largest, f32(21, 80)))
    assert "groups of 4" in loaded.kernel.plan
    np.testing.assert_allclose(loaded(x)[0], x.astype(np.float64).sum(1) - x.max(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("columns", [80, 96])
def test_arrays_are_reduced_together_if_their_rows_are_equally_long(columns: int) -> None:
    x, y = random_array(f32(21, 80)), random_array(f32(21, columns))
    loaded = Loaded(fuse(sums_of_two_arrays, f32(21, 80), f32(21, columns)))
    assert ("groups of 4" in loaded.kernel.plan) == (columns == 80)
    for got, each in zip(loaded(x, y), (x, y), strict=True):
        np.testing.assert_allclose(got, each.astype(np.float64).sum(1), rtol=1e-4, atol=1e-5)


def test_a_nan_in_one_row_is_the_largest_of_that_row_alone() -> None:
    x = random_array(f32(8, 80))
    x[3, 41] = np.nan
    total, most, least = Loaded(fuse(sums_and_extrema, f32(8, 80)))(x)
    for result in (total, most, least):
        np.testing.assert_array_equal(np.isnan(result), np.arange(8) == 3)
