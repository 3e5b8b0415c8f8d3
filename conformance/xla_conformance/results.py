"""The results of a run of the suite."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib.resources
from collections.abc import Iterable, Sequence
from typing import Any

GROUPS = (
    "loading",
    "transfers",
    "streams",
    "events",
    "memory",
    "executables",
    "claims",
    "collectives",
    "ops",
    "programs",
)
"""The parts of the suite, each the files `suite/test_GROUP.py` and `suite/test_GROUP_*.py`, in the order they run."""

CAUSES = (
    "loading",
    "events",
    "streams",
    "memory",
    "transfers",
    "executables",
    "claims",
    "collectives",
    "ops",
    "programs",
)
"""The groups, each after those that it depends on, whose failures may be the cause of its own."""

_OF_THE_DRIVER = ("test_memory_device.py",)
"""Files that test a driver below the core. Their failures may be the cause of others of the same group."""

STABLEHLO_GROUP = "stablehlo"
"""The group of StableHLO's test files, which runs instead of the others."""


def group_of(file: str) -> str:
    """The group of a file of the suite: "streams" for "test_streams.py" and for "test_streams_order.py"."""
    return file.removeprefix("test_").removesuffix(".py").partition("_")[0]


def _file_of(id: str) -> str:
    return id.partition("::")[0].rpartition("/")[2]


def name_of(id: str) -> str:
    """The name of a test without its file."""
    return id.partition("::")[2] or id


def by_cause(id: str) -> tuple[int, bool]:
    """The key that sorts ids of tests: tests whose failures may be the cause of others come first."""
    file = _file_of(id)
    group = group_of(file)
    return (CAUSES.index(group) if group in CAUSES else len(CAUSES), file not in _OF_THE_DRIVER)


def suite_files(groups: Sequence[str] = GROUPS) -> list[str]:
    """The paths of the suite's files of these groups, in the groups' order."""
    files = importlib.resources.files("xla_conformance").joinpath("suite").iterdir()
    ordered = sorted((f for f in files if f.name.startswith("test_")), key=lambda f: f.name)
    return [str(f) for group in groups for f in ordered if group_of(f.name) == group]


STAGES = {
    "start": "the suite was being loaded",
    "open": "the devices were being opened",
    "collect": "the tests were being collected",
    "close": "the devices were being closed",
}
"""The stages of a worker that run no test, and what happens in each."""
WAIVERS = "waivers"
"""The group of the results of waivers that are not right."""


class State(enum.Enum):
    """The outcome of a test."""

    PASS = "PASS"
    FAIL = "FAIL"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"
    DEVICE_LOST = "DEVICE_LOST"
    WAIVED = "WAIVED"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    FILE_WRONG = "FILE_WRONG"
    SUITE_ERROR = "SUITE_ERROR"

    @property
    def is_wrong(self) -> bool:
        """Whether a backend with such a result does not conform."""
        return self in (State.FAIL, State.CRASH, State.TIMEOUT, State.DEVICE_LOST)

    @property
    def title(self) -> str:
        return self.value.replace("_", " ").lower()

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    State.PASS: "the result is right",
    State.FAIL: "the result is wrong, or the backend can't do what it claims",
    State.CRASH: "the process of the test ended",
    State.TIMEOUT: "the test did not end within its time limit",
    State.DEVICE_LOST: "the test failed, and the device moves no data after it",
    State.WAIVED: "the result is wrong, and a waiver says why that is accepted",
    State.NOT_SUPPORTED: "the backend doesn't claim it, and the core can't decompose it into what the backend claims",
    State.FILE_WRONG: "only for StableHLO's files: the value that the file expects is proved wrong",
    State.SUITE_ERROR: "this machine had no room for the test's files, so there is no verdict",
}


class Unclaimed(enum.Enum):
    """What a test needs and the backend doesn't claim."""

    FEATURE = "feature"
    ELEMENT_TYPE = "element type"  # one that the device doesn't hold


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one test.

    Attributes:
        message: one sentence that says what is wrong, or why the test is not supported.
        details: the test's output, stacks, and the frames of an exception; may have many lines.
        properties: values that the test recorded, such as the opcode and the largest error in ULP; `unclaimed`, of one
            that is not supported, is the value of an `Unclaimed`.
        failure: the data of a `Failure`, as text: module, index, operands, got, wanted, ulp, seed.
    """

    id: str
    state: State
    seconds: float = 0.0
    message: str = ""
    properties: dict[str, Any] = dataclasses.field(default_factory=dict)
    details: str = ""
    failure: dict[str, Any] = dataclasses.field(default_factory=dict)

    @functools.cached_property  # reports ask for it dozens of times
    def group(self) -> str:
        """The group: "ops" for "test_ops.py::test_op[add-f32]"."""
        return group_of(_file_of(self.id))

    @property
    def name(self) -> str:
        """The test's name without its file."""
        return name_of(self.id)

    @property
    def is_of_stage(self) -> bool:
        """Whether it is of no test, but of a stage of a worker, such as opening the devices."""
        return self.group == "loading" and self.name in STAGES

    @property
    def is_of_waiver(self) -> bool:
        """Whether it is of no test, but of a waiver that is not right."""
        return self.group == WAIVERS


@dataclasses.dataclass
class Run:
    """All results of one run.

    Attributes:
        selection: the options that selected the tests (-k, --test or --lf), or empty if all ran.
        problem: why the suite did not run, or not to its end.
        not_run: the number of tests that were chosen and did not run.
        environment: the versions and the device.
        waivers: the waivers that the run was given, as they are in reports.
        seeds: the seed of each round, for a run of rounds.
        timed_out: whether its total time was over before all tests ran.
    """

    backend: str
    profile: str
    results: list[Result] = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    problem: str = ""
    environment: dict[str, Any] = dataclasses.field(default_factory=dict)
    selection: str = ""
    seed: int = 0
    not_run: int = 0
    waivers: list[dict[str, str]] = dataclasses.field(default_factory=list)
    seeds: list[int] = dataclasses.field(default_factory=list)
    timed_out: bool = False

    def count(self, state: State, group: str | None = None) -> int:
        return sum(r.state is state and group in (None, r.group) for r in self.results)

    @property
    def wrong(self) -> list[Result]:
        """The wrong results, first those that may be the cause of others."""
        return sorted((r for r in self.results if r.state.is_wrong), key=lambda r: by_cause(r.id))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups with results, in order."""
        return ordered_groups(r.group for r in self.results)

    @property
    def passes(self) -> bool:
        """Whether all chosen tests ran, none was wrong and one passed."""
        complete = not self.problem and not self.not_run and not self.count(State.SUITE_ERROR)
        return complete and not self.wrong and self.count(State.PASS) > 0


def ordered_groups(groups: Iterable[str]) -> tuple[str, ...]:
    """Sorts groups as the suite runs them."""
    found = dict.fromkeys(groups)
    return (*(g for g in GROUPS if g in found), *(g for g in found if g not in GROUPS))
