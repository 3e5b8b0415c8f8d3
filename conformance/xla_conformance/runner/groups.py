"""Which tests share a program, and what becomes of them if it ends its process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from xla_conformance.results import Result

__all__ = ["Groups"]


class Groups:
    """The tests that may share a program, by the groups that they name.

    A group whose program ends its process is split: its tests run alone. If all of them are right, the last of them has
    the result of the process that ended.
    """

    def __init__(self, group_of: Mapping[str, str] | None = None) -> None:
        self._group_of = dict(group_of or {})
        self._suspects: list[tuple[set[str], Result]] = []

    def arranged(self, tests: Sequence[str]) -> list[str]:
        """Returns the tests with those of a group one after another, where the first of them was."""
        members: dict[str, list[str]] = {}
        for test in tests:
            members.setdefault(self._group_of.get(test, test), []).append(test)
        return [test for group in members.values() for test in group]

    def are_together(self, test: str, following: str) -> bool:
        return test in self._group_of and self._group_of[test] == self._group_of.get(following)

    def split(self, tests: Sequence[str], result: Result) -> None:
        """Lets tests run alone from now on. `result` is what their program would have."""
        for test in tests:
            self._group_of.pop(test, None)
        self._suspects.append((set(tests), result))

    def judged(self, result: Result) -> Result:
        """Returns a test's result, or that of the program that it had a part in, if no test explains that one."""
        for number, (tests, of_program) in enumerate(self._suspects):
            if result.id in tests:
                tests.remove(result.id)
                if result.state.is_wrong or not tests:
                    del self._suspects[number]
                if not result.state.is_wrong and not tests:
                    message = f"in one program with other tests, {of_program.message}; each of them is right alone"
                    return dataclasses.replace(of_program, id=result.id, message=message)
                break
        return result
