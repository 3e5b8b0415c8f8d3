"""The canonical form of index expressions, tested against arithmetic on whole numbers."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.analysis.indexing.expressions import Meaning, X, Y, Z, expressions
from xla_core.analysis.indexing import IndexExpr, Variable, delinearized, floor_div, linearized, modulo


@settings(deadline=None)
@given(expressions(8))
def test_expressions_mean_what_they_were_made_from_and_stay_in_range(pair: tuple[IndexExpr, Meaning]) -> None:
    expr, meaning = pair
    for x, y, z in itertools.product(range(12), range(7), range(4)):
        values = {X: x, Y: y, Z: z}
        assert expr.evaluate(values) == meaning(values)
        assert expr.low <= meaning(values) <= expr.high


@settings(deadline=None)
@given(expressions(5), expressions(3))
def test_a_substitution_has_the_value_of_the_substituted_variable(
    outer: tuple[IndexExpr, Meaning], inner: tuple[IndexExpr, Meaning]
) -> None:
    place = modulo(inner[0], X.extent)
    substituted = outer[0].substitute({X: place})
    for x, y, z in itertools.product(range(12), range(7), range(4)):
        values = {X: x, Y: y, Z: z}
        assert substituted.evaluate(values) == outer[1]({**values, X: inner[1](values) % X.extent})


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_the_digits_of_a_position_put_together_are_the_position(sizes: list[int]) -> None:
    position = IndexExpr.of(Variable("p", math.prod(sizes)))
    digits = delinearized(position, sizes)
    assert linearized(digits, sizes) == position
    assert [(d.low, d.high) for d in digits] == [(0, n - 1) for n in sizes]


@settings(deadline=None)
@given(st.lists(st.integers(2, 5), min_size=3, max_size=4), st.data())
def test_neighbouring_digits_put_together_are_one_remainder(sizes: list[int], data: st.DataObject) -> None:
    position = IndexExpr.of(Variable("p", math.prod(sizes)))
    first = data.draw(st.integers(1, len(sizes) - 2))
    last = data.draw(st.integers(first + 1, len(sizes) - 1))
    inner = math.prod(sizes[last + 1 :])
    digits = delinearized(position, sizes)[first : last + 1]
    extent = math.prod(sizes[first : last + 1])
    assert linearized(digits, sizes[first : last + 1]) == modulo(floor_div(position, inner), extent)


def test_a_quotient_leaves_out_what_is_too_small_to_change_it() -> None:
    x, y, z = (IndexExpr.of(v) for v in (X, Y, Z))
    assert floor_div(x * 8 + z * 2, 8) == x
    assert floor_div(x * 12 + z, 8) == floor_div(x * 3, 2)
    assert floor_div(floor_div(y, 2), 3) == floor_div(y, 6)
    assert modulo(x * 4 + z, 4) == z


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (IndexExpr.of(0), "0"),
        (IndexExpr.of(X) * -1 + 11, "-x + 11"),
        (modulo(IndexExpr.of(X), 5), "x mod 5"),
        (modulo(IndexExpr.of(X), 5) * 7 + IndexExpr.of(Y), "(x mod 5) * 7 + y"),
        (modulo(floor_div(IndexExpr.of(X), 2), 3), "(x floordiv 2) mod 3"),
        (floor_div(IndexExpr.of(X) + 2, 3) - 1, "((x + 2) floordiv 3) - 1"),
    ],
    ids=str,
)
def test_text(expr: IndexExpr, text: str) -> None:
    assert str(expr) == text


def test_variables_of_one_element_are_zero() -> None:
    assert IndexExpr.of(Variable("one", 1)) == IndexExpr.of(0)


def test_multiples() -> None:
    i = IndexExpr.of(Variable("i", 10))
    assert (i * 8 + 4).is_multiple_of(4)
    assert not (i * 8 + 2).is_multiple_of(4)
    assert not (i * 6).is_multiple_of(4)
