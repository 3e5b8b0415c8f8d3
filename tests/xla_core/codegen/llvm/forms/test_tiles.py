"""Tiles of the result that are accumulated, among them those that need another tile's results."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, emit, f32, fuse, random_array, scalar, scalar_body


def reduced(c, x, op: str = "add", start: float = 0):
    return c.add("reduce", x, scalar(c, start), dimensions=(0,), to_apply=scalar_body(op))


def largest(c, x):
    return reduced(c, x, "maximum", float("-inf"))


def over_rows(c, row, x):
    return c.add("broadcast", row, shape=x.shape, dimensions=(1,))


def squared_distances(c, x):
    less = c.add("subtract", x, over_rows(c, largest(c, x), x))
    return reduced(c, c.add("multiply", less, less))


def sums_of_exponentials(c, x):
    most = largest(c, x)
    total = reduced(c, c.add("exponential", c.add("subtract", x, over_rows(c, most, x))))
    return c.add("add", c.add("log", total), most)


def third_moments(c, x):
    mean = c.add("multiply", reduced(c, x), over_all(c, 1 / x.shape.dimensions[0], x.shape.dimensions[1]))
    less = c.add("subtract", x, over_rows(c, mean, x))
    spread = c.add("sqrt", reduced(c, c.add("multiply", less, less)))
    scaled = c.add("divide", less, over_rows(c, spread, x))
    return c.add("tuple", mean, spread, reduced(c, c.add("multiply", scaled, c.add("multiply", scaled, scaled))))


def over_all(c, value: float, count: int):
    return c.add("broadcast", scalar(c, value), shape=f32(count), dimensions=())


def reversed_extrema(c, x):
    """Each column less the largest of another column, which no tile has at the same place."""
    other = c.add("reverse", largest(c, x), dimensions=(0,))
    return reduced(c, c.add("subtract", x, over_rows(c, other, x)))


def test_the_plan_says_how_many_stages_there_are() -> None:
    assert emit(fuse(squared_distances, f32(40, 96)))[0].plan == (
        "tiles: 1 unit; loops 1 x 96, of which the last is accumulated in tiles of 96, in 2 stages"
    )


@pytest.mark.parametrize("shape", [(2, 5), (9, 70), (23, 1030)])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_tile_uses_what_another_tile_has_found(shape: tuple[int, int], parts: int) -> None:
    x = random_array(f32(*shape))
    wide = x.astype(np.float64)
    (squares,) = Loaded(fuse(squared_distances, f32(*shape)))(x, parts=parts)
    np.testing.assert_allclose(squares, ((wide - wide.max(0)) ** 2).sum(0), rtol=1e-5)
    (logs,) = Loaded(fuse(sums_of_exponentials, f32(*shape)))(x, parts=parts)
    np.testing.assert_allclose(logs, np.log(np.exp(wide).sum(0)), rtol=1e-5, atol=1e-5)
    (less,) = Loaded(fuse(reversed_extrema, f32(*shape)))(x, parts=parts)
    np.testing.assert_allclose(less, (wide - wide.max(0)[::-1]).sum(0), rtol=1e-4, atol=1e-4)


def test_three_stages_of_which_all_are_results() -> None:
    x = random_array(f32(30, 200))
    wide = x.astype(np.float64)
    loaded = Loaded(fuse(third_moments, f32(30, 200)))
    assert loaded.kernel.plan.endswith("in 3 stages")
    mean, spread, third = loaded(x)
    less = wide - wide.mean(0)
    np.testing.assert_allclose(mean, wide.mean(0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(spread, np.sqrt((less**2).sum(0)), rtol=1e-4)
    np.testing.assert_allclose(third, ((less / np.sqrt((less**2).sum(0))) ** 3).sum(0), rtol=1e-3, atol=1e-4)


def test_the_time_is_in_proportion_to_the_rows() -> None:
    def seconds(rows: int) -> float:
        loaded, x = Loaded(fuse(squared_distances, f32(rows, 64))), random_array(f32(rows, 64))
        times = []
        for _ in range(5):
            start = time.thread_time()
            loaded(x)
            times.append(time.thread_time() - start)
        return min(times)

    assert seconds(4000) < 60 * seconds(250)


@pytest.mark.parametrize("shape", [(40, 4, 4, 3), (9, 70, 2), (5, 2, 2)])
@pytest.mark.parametrize("parts", [1, 3])
def test_a_tile_runs_over_all_minor_dimensions_that_a_reduction_keeps(shape: tuple[int, ...], parts: int) -> None:
    loaded = Loaded(fuse(lambda c, x: c.add("negate", reduced(c, x)), f32(*shape)))
    count = math.prod(shape[1:])
    assert loaded.kernel.plan.endswith(f"of which the last is accumulated in tiles of {count}")
    x = random_array(f32(*shape))
    np.testing.assert_allclose(loaded(x, parts=parts)[0], -x.astype(np.float64).sum(0), rtol=1e-4, atol=1e-5)


def test_a_tile_is_not_split_into_short_ones_by_an_operand_of_few_elements() -> None:
    def centred(c, x, mean):
        total = reduced(c, x)
        return c.add("subtract", total, c.add("broadcast", mean, shape=total.shape, dimensions=(2,)))

    loaded = Loaded(fuse(centred, f32(40, 4, 4, 3), f32(3)))
    assert loaded.kernel.plan.endswith("loops 1 x 48, of which the last is accumulated in tiles of 48")
    x, mean = random_array(f32(40, 4, 4, 3)), random_array(f32(3))
    np.testing.assert_allclose(loaded(x, mean)[0], x.astype(np.float64).sum(0) - mean, rtol=1e-4, atol=1e-5)


def test_three_columns_are_no_tile() -> None:
    assert "tiles" not in emit(fuse(lambda c, x: c.add("negate", reduced(c, x)), f32(40, 3)))[0].plan
