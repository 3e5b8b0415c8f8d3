"""Which tests a run may choose (`-k`, `--test`), known before they are made: making all of them takes seconds.

pytest decides for each test once it is made. This only says of many tests that none of them will be chosen.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from xla_conformance.results import name_of

__all__ = ["may_be_chosen"]

_WORD = re.compile(r"[()]|[^\s()]+")
_EITHER, _NO = frozenset({True, False}), frozenset({False})


def may_be_chosen(function: str, start: str, expression: str = "", tests: Collection[str] = ()) -> bool:
    """Whether a run may choose tests of a function with parameters whose names begin with `start`.

    Args:
        function: its file and its name, "test_ops.py::test_op".
        expression: the run's -k, or none.
        tests: the ids or names that the run is limited to, or none.
    """
    named = f"{name_of(function)}[{start}"
    if tests and not any(name_of(test).startswith(named) for test in tests):
        return False
    return not expression or True in _Outcomes(expression, function, start).of_expression


class _Outcomes:
    """What an expression of -k may be for tests of a function."""

    def __init__(self, expression: str, function: str, start: str) -> None:
        self._words = _WORD.findall(expression)
        self._function, self._start = function, start.lower()

    @property
    def of_expression(self) -> frozenset[bool]:
        outcomes = self._either()
        return _EITHER if self._words else outcomes  # pytest says what is wrong with it

    def _either(self) -> frozenset[bool]:
        found = self._both()
        while self._taken("or"):
            other = self._both()
            found = frozenset(a or b for a in found for b in other)
        return found

    def _both(self) -> frozenset[bool]:
        found = self._one()
        while self._taken("and"):
            other = self._one()
            found = frozenset(a and b for a in found for b in other)
        return found

    def _one(self) -> frozenset[bool]:
        if self._taken("not"):
            return frozenset(not a for a in self._one())
        if self._taken("("):
            found = self._either()
            return found if self._taken(")") else _EITHER
        return self._matches(self._words.pop(0).lower()) if self._words else _EITHER

    def _taken(self, word: str) -> bool:
        if not self._words or self._words[0].lower() != word:
            return False
        del self._words[0]
        return True

    def _matches(self, word: str) -> frozenset[bool]:
        """A word matches a test if the test's name or its file's has it. No parameter's name has "test_" or "["."""
        before, bracket, after = word.partition("[")
        if bracket and "[" not in after:
            begins = after.startswith(self._start) or self._start.startswith(after)
            return _EITHER if begins and name_of(self._function).endswith(before) else _NO
        if not word.startswith("test_"):
            return _EITHER
        return frozenset({any(word in name for name in self._function.split("::"))})
