"""Literals hold the values that they are given."""

from __future__ import annotations

import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, Literal, Shape


def test_integers_that_do_not_fit_are_refused() -> None:
    for value, kind in [
        (300, ElementType.S8),
        (1 << 31, ElementType.S32),
        (-200, ElementType.U8),
        (16, ElementType.U4),
    ]:
        with pytest.raises(InvalidArgumentError, match=f"{value} is not a value of {kind.value}"):
            Literal(value, Shape(kind))
        with pytest.raises(InvalidArgumentError, match=f"{value} is not a value of {kind.value}"):
            Literal.splat(value, Shape(kind, (2,)))
    for value, said in [
        (2**70, "is not a value of s64"),
        (1e30, "is not a value of s64"),
        (0.5, "s64 has whole numbers"),
    ]:
        with pytest.raises(InvalidArgumentError, match=said):
            Literal(value, Shape(ElementType.S64))
    assert int(Literal(-1, Shape(ElementType.U32)).array) == 2**32 - 1
