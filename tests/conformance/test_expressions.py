"""What -k says, as pytest reads it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xla_conformance.expressions import parse_expression

from xla_core.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a", "a ab ac abc"),
        ("a and b", "ab abc"),
        ("a or b and c", "a ab ac bc abc"),
        ("(a or b) and c", "ac bc abc"),
        ("not a and b", "b bc"),
        ("not (a or b)", "- c"),
        ("not not a", "a ab ac abc"),
    ],
)
def test_meaning(expression: str, expected: str) -> None:
    subsets = ["".join(s) for n in range(4) for s in itertools.combinations("abc", n)]
    matches = parse_expression(expression)
    assert {s or "-" for s in subsets if matches(s.__contains__)} == set(expected.split())


@given(st.lists(st.sampled_from(["a", "b/c.mlir:1", "[x-y]", "and", "or", "not", "(", ")", "&"]), max_size=8))
def test_pytest_takes_the_same(tokens: list[str]) -> None:
    theirs = pytest.importorskip("_pytest.mark.expression").Expression
    text = " ".join(tokens)
    if not text:
        return  # pytest: nothing; here: no -k
    try:
        expected = theirs.compile(text).evaluate(lambda word: word == "a")
    except SyntaxError:
        with pytest.raises(InvalidArgumentError, match="is no expression"):
            parse_expression(text)
        return
    assert parse_expression(text)(lambda word: word == "a") == expected
