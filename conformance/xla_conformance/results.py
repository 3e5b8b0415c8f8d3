"""The results of a run of the suite."""

from __future__ import annotations

import dataclasses
import enum
import importlib.resources
from collections.abc import Sequence
from typing import Any

__all__ = ["GROUPS", "STABLEHLO_GROUP", "Result", "Run", "State", "group_of", "suite_files"]

GROUPS = ("loading", "transfers", "streams", "events", "memory", "executables", "collectives", "ops", "programs")
"""The parts of the suite, each the files `suite/test_GROUP.py` and `suite/test_GROUP_*.py`, in the order they run."""

STABLEHLO_GROUP = "stablehlo"
"""The group of StableHLO's test files, which runs instead of the others."""


def group_of(file: str) -> str:
    """The group of a file of the suite: "streams" for "test_streams.py" and for "test_streams_order.py"."""
    return file.removeprefix("test_").removesuffix(".py").partition("_")[0]


def suite_files(groups: Sequence[str] = GROUPS) -> list[str]:
    """The paths of the suite's files of these groups, in the groups' order."""
    files = importlib.resources.files("xla_conformance").joinpath("suite").iterdir()
    ordered = sorted((f for f in files if f.name.startswith("test_")), key=lambda f: f.name)
    return [str(f) for group in groups for f in ordered if group_of(f.name) == group]


class State(enum.Enum):
    """The verdict of a test.

    PASS: the result is right. FAIL: it is wrong. NOT_SUPPORTED: the backend doesn't claim the op or type. ERROR: the
    test crashed or couldn't decide. FILE_WRONG: the value that one of StableHLO's files expects is proved wrong.
    """

    PASS = "PASS"
    FAIL = "FAIL"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    ERROR = "ERROR"
    FILE_WRONG = "FILE_WRONG"


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one test. `properties` has what it recorded, such as the opcode and the largest error in ULP."""

    id: str
    state: State
    seconds: float = 0.0
    message: str = ""
    properties: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def group(self) -> str:
        """The group: "ops" for "test_ops.py::test_op[add-f32]"."""
        return group_of(self.id.partition("::")[0].rpartition("/")[2])

    @property
    def name(self) -> str:
        """The test's name without its file."""
        return self.id.partition("::")[2] or self.id


@dataclasses.dataclass
class Run:
    """All results of one run. `selection` is the expression (-k) that selected the tests, or empty."""

    backend: str
    profile: str
    results: list[Result] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    problem: str = ""
    environment: dict[str, Any] = dataclasses.field(default_factory=dict)
    selection: str = ""
    seed: int = 0

    def count(self, state: State, group: str | None = None) -> int:
        return sum(r.state is state and group in (None, r.group) for r in self.results)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups with results, in order."""
        return tuple(g for g in (*GROUPS, STABLEHLO_GROUP) if any(r.group == g for r in self.results))

    @property
    def conforms(self) -> bool:
        """Whether tests ran and none was wrong or undecided."""
        bad = self.count(State.FAIL) + self.count(State.ERROR)
        return not self.problem and not bad and self.count(State.PASS) > 0
