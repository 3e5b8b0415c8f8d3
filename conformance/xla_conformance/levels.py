"""The levels of conformance, which `levels.toml` lists, and how far a run reaches."""

from __future__ import annotations

import dataclasses
import importlib.resources
import tomllib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from xla_conformance.results import STABLEHLO_GROUP, Result, Run, State, Unclaimed
from xla_core.hlo import OPS, ElementType

LEAST_OF_AN_OP = 50
"""The least percentage of an op's tests in one element type that must pass, so that the op works in that type."""

_SHOWN_TYPES = 6
_GOOD = {State.PASS, State.NOT_SUPPORTED}


@dataclasses.dataclass(frozen=True)
class Level:
    """A level: its name, what it covers, the groups with their minima in percent, the ops, and how many of any ops."""

    name: str
    what: str
    groups: dict[str, int]
    ops: frozenset[str]
    any_ops: int


@dataclasses.dataclass(frozen=True)
class Score:
    """The result of a run for a level.

    Attributes:
        reached: whether the device meets the requirements of the level, and of every level below it.
        ops_working, ops: how many of the level's ops work, and how many are tested.
        types: the element types in which every op of the level works that has tests in the type.
        claimed: the percentage of the level's tests that the backend claims to pass.
        next: the next step towards the level, or empty.
    """

    level: str
    what: str
    reached: bool
    ops_working: int
    ops: int
    types: tuple[str, ...]
    claimed: float
    next: str

    def __str__(self) -> str:
        if self.reached:
            few = len(self.types) <= _SHOWN_TYPES
            types = ", ".join(self.types) if few else f"{len(self.types)} element types"
            return f"{self.level}: reached{f' in {types}' if types else ''}, {self.claimed:.0f} % claimed"
        kind = "primitive ops" if self.level == "core ops" else "ops"
        count = f"{self.ops_working} of {self.ops} {kind}, " if self.ops else ""
        return f"{self.level}: {count}{self.claimed:.0f} % claimed; next: {self.next}"


@dataclasses.dataclass(frozen=True)
class _TestedOp:
    """How an op does in its tests.

    Attributes:
        works: whether it works in some type, and is wrong in none.
        types: whether it works in each element type of its tests.
    """

    works: bool
    types: dict[str, bool]


def scores(run: Run) -> list[Score]:
    """Returns the score of each level, from the lowest. StableHLO's files have no levels."""
    if any(r.group == STABLEHLO_GROUP for r in run.results):
        return []
    made: list[Score] = []
    by_op = _by_op(run.results)
    for level in LEVELS:
        missing = _missing(level, run, by_op)
        ops = [op for op in by_op if op in level.ops]
        below = made[-1] if made else None
        if below is not None and not below.reached and not missing:
            missing = [f"reach the level {below.level}"]
        tests = [r for r in run.results if r.group in level.groups or r.properties.get("opcode") in level.ops]
        claimed = sum(r.state is not State.NOT_SUPPORTED for r in tests)
        made.append(
            Score(
                level=level.name,
                what=level.what,
                reached=not missing,
                ops_working=sum(by_op[op].works for op in ops),
                ops=len(ops),
                types=_types_of_all([by_op[op] for op in ops]),
                claimed=round(100 * claimed / len(tests), 1) if tests else 0.0,
                next=missing[0] if missing else "",
            )
        )
    return made


def conforms(run: Run) -> str:
    """Returns the highest level that the device reaches, or "".

    Nothing conforms by a run of a selection, by one with a wrong result, or by one that did not end.
    """
    if run.selection or not run.passes:
        return ""
    return next((s.level for s in reversed(scores(run)) if s.reached), "")


def _by_op(results: Sequence[Result]) -> dict[str, _TestedOp]:
    """How each op does that has a test, in the order of the op table."""
    found: dict[str, list[Result]] = {}
    for result in results:
        opcode = result.properties.get("opcode")
        if opcode in OPS:
            found.setdefault(str(opcode), []).append(result)
    return {op: _tested(found[op]) for op in map(str, OPS) if op in found}


def _tested(results: Sequence[Result]) -> _TestedOp:
    types = _by_type(results)
    return _TestedOp(all(r.state in _GOOD for r in results) and any(types.values()), types)


def _by_type(results: Sequence[Result]) -> dict[str, bool]:
    """Whether an op works in each element type of its tests.

    Tests that need another type too, which the device doesn't hold, don't count.
    """
    counts: dict[str, Counter[State]] = {}
    for result in results:
        if (
            result.state is not State.NOT_SUPPORTED
            or result.properties.get("unclaimed") != Unclaimed.ELEMENT_TYPE.value
        ):
            counts.setdefault(result.properties.get("element_type", ""), Counter())[result.state] += 1
    return {
        kind: 0 < 100 * count[State.PASS] >= LEAST_OF_AN_OP * count.total() and count.keys() <= _GOOD
        for kind, count in counts.items()
    }


def _types_of_all(ops: Sequence[_TestedOp]) -> tuple[str, ...]:
    """The element types in which each of the ops works that has tests in the type."""
    works: dict[str, bool] = {}
    for op in ops:
        for kind, good in op.types.items():
            works[kind] = works.get(kind, True) and good
    return tuple(str(t) for t in ElementType if works.get(str(t)))


def _missing(level: Level, run: Run, by_op: dict[str, _TestedOp]) -> list[str]:
    """The requirements of this level alone that the device lacks, most important first."""
    wrong = [r for r in run.wrong if r.group in level.groups or r.properties.get("opcode") in level.ops]
    missing = [f"mend `{r.name}`" for r in wrong]
    waived = (r for r in run.results if r.state is State.WAIVED and r.group in level.groups)
    missing += [f"mend `{r.name}`, which is waived" for r in waived]
    for group, least in level.groups.items():
        results = [r for r in run.results if r.group == group]
        passed = sum(r.state is State.PASS for r in results)
        if not results or 100 * passed < least * len(results):
            first = next((r.name for r in results if r.state is not State.PASS), "run them")
            missing.append(f"{group}, where {passed} of {len(results)} tests pass and {least} % must: `{first}`")
    working = sum(op.works for op in by_op.values())
    if working < level.any_ops:
        missing.append(f"an op that works, for example `{next(iter(by_op), 'add')}`")
    if level.ops:
        tested = [op for op in by_op if op in level.ops]
        missing += [f"`{op}`" for op in tested if not by_op[op].works]
        if not tested:
            missing.append("its ops, of which none was tested")
    return missing


def _ops(chosen: dict[str, list[str]]) -> frozenset[str]:
    """The opcodes that an entry of the table chooses."""
    traits, groups = set(chosen.get("traits", ())), set(chosen.get("groups", ()))
    found = {
        str(opcode)
        for opcode, op in OPS.items()
        if "*" in groups or op.group in groups or traits & {trait.name for trait in op.traits}
    }
    return frozenset((found | set(chosen.get("opcodes", ()))) - set(chosen.get("except", ())))


def _levels() -> tuple[Level, ...]:
    text = importlib.resources.files("xla_conformance").joinpath("levels.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["level"]
    return tuple(
        Level(e["name"], e["what"], e.get("groups", {}), _ops(e.get("ops", {})), e.get("any_ops", 0)) for e in entries
    )


LEVELS = _levels()
"""All levels, from the lowest."""
