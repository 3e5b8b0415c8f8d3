"""Tests that share a program, and their results if the program ends its process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from xla_conformance.results import Result


class JointTests:
    """The tests that may share a program, by the name of the program.

    Where a program ends its process or loses the device, its tests run alone. If all of them are right, the last of
    them has the result of that program, and the property "together" names the tests.
    """

    def __init__(self, program_of: Mapping[str, str] | None = None) -> None:
        self._program_of = dict(program_of or {})
        self._suspects: list[_Suspects] = []

    def arranged(self, tests: Sequence[str]) -> list[str]:
        """Returns the tests with those of a program one after another, at the place of the first of them."""
        members: dict[str, list[str]] = {}
        for test in tests:
            members.setdefault(self._program_of.get(test, test), []).append(test)
        return [test for joint in members.values() for test in joint]

    def are_together(self, test: str, following: str) -> bool:
        return test in self._program_of and self._program_of[test] == self._program_of.get(following)

    def split(self, tests: Sequence[str], result: Result) -> None:
        """Lets tests run alone from now on. `result` is the result of their program."""
        for test in tests:
            self._program_of.pop(test, None)
        self._suspects.append(_Suspects(tuple(tests), set(tests), result))

    def judged(self, result: Result) -> Result:
        """Returns a test's result, or the result of its shared program if no test explains that."""
        for suspects in self._suspects:
            if result.id in suspects.left:
                suspects.left.remove(result.id)
                if result.state.is_wrong or not suspects.left:
                    self._suspects.remove(suspects)
                return result if result.state.is_wrong or suspects.left else suspects.result(result.id)
        return result


@dataclasses.dataclass(eq=False)
class _Suspects:
    """Tests that run alone after their program failed; `left` are those that have not ended."""

    tests: tuple[str, ...]
    left: set[str]
    of_program: Result

    def result(self, id: str) -> Result:
        """The result of the shared program as the result of one test, where no test explains it."""
        message = f"in one program with other tests, {self.of_program.message}; each of them is right alone"
        properties = {**self.of_program.properties, "together": list(self.tests)}
        return dataclasses.replace(self.of_program, id=id, message=message, properties=properties)
