"""Tells before tests are made whether a run's `-k` or `--test` can choose any of them.

Making all tests of the ops takes seconds, and pytest decides on a test only when it is made. So this module finds the
tests that can't be chosen by the beginnings of their names.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from xla_conformance.expressions import compile_expression
from xla_conformance.results import name_of
from xla_core.errors import InvalidArgumentError, NotFoundError

Words = Callable[[], str]
"""Returns, in lower case, the parts of which the names of parameters consist; numbers may be left out."""

_MOST = 8  # words for which both answers are tried
_OF_EACH = "joint promise parametrize pytestmark suite"
"""Names that a word also matches: the marks of tests and the folder of their files."""


def may_be_chosen(
    function: str, start: str, expression: str = "", tests: Collection[str] = (), *, words: Words
) -> bool:
    """Whether a run may choose tests of a function with parameters whose names begin with `start`.

    Args:
        function: its file and its name, "test_ops.py::test_op".
        expression: the run's -k, or none.
        tests: the ids or names that the run is limited to, or none.
        words: gives the words of the parameters' names. It is called only if the answer depends on them.
    """
    named = f"{name_of(function)}[{start}"
    if tests and not any(name_of(test).startswith(named) for test in tests):
        return False
    return not expression or _may_hold(expression, function, start.lower(), words, {})


def passes_of(profile: str) -> tuple[bool, ...]:
    """Returns, for each pass over the cases of ops, whether it is that of every element type.

    The other profiles have quick's cases and more, so that what quick finds, they find too.
    """
    return (False,) if profile == "quick" else (False, True)


def tests_named(tests: Iterable[str]) -> list[str]:
    """Returns the tests that --test names: each by itself, or as a line of a file, "@FILE".

    Raises:
        NotFoundError: there is no such file, or it names no test.
    """
    found = []
    for test in tests:
        if not test.startswith("@"):
            found.append(test)
            continue
        try:
            lines = Path(test[1:]).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "the file is no text"
            raise NotFoundError(f"the tests of {test[1:]} can't be read: {why}") from error
        if not any(lines):
            raise NotFoundError(f"{test[1:]} names no test")
        found += filter(None, lines)
    return found


class _UnknownError(Exception):
    """A word that some of the tests may match and others not."""

    def __init__(self, word: str) -> None:
        self.word = word


def _may_hold(expression: str, function: str, start: str, words: Words, given: Mapping[str, bool]) -> bool:
    """Whether some answers for the words that are not in `given` make the expression true."""
    if len(given) > _MOST:
        return True

    def matches(word: str, /, **rest: object) -> bool:
        answer = given.get(word, _matches(word.lower(), function, start, words))
        if answer is None:
            raise _UnknownError(word)
        return answer

    try:
        return bool(_compiled(expression).evaluate(matches))
    except _UnknownError as unknown:
        return any(_may_hold(expression, function, start, words, {**given, unknown.word: v}) for v in (True, False))
    except InvalidArgumentError:  # pytest says so
        return True


_compiled = functools.lru_cache(1)(compile_expression)


def _matches(word: str, function: str, start: str, words: Words) -> bool | None:
    """Whether a word matches the tests; None if that depends on the test.

    It matches if the test's name or its file's has it. No parameter's name has "test_" or "[".
    """
    before, bracket, after = word.partition("[")
    if bracket and "[" not in after:
        begins = after.startswith(start) or start.startswith(after)
        return None if begins and name_of(function).endswith(before) else False
    if any(word in name for name in function.split("::")):
        return True
    if word.startswith("test_"):
        return False
    text = f"{start} {_OF_EACH} {words()}"
    return None if all(part in text for part in re.split(r"[\W\d_]+", word)) else False
