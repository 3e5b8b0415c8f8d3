"""Groups wrong results by their cause.

If an op is wrong, so are the ops whose programs were compiled to it. If a backend can't be loaded or opened, no test
that needs it runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_conformance.results import Result


@dataclasses.dataclass(frozen=True)
class RootCause:
    """An op that is wrong itself, or a stage of loading that failed.

    Attributes:
        name: the opcode, or the stage.
        tests: the ids of its wrong tests.
        dependents: the ids of the tests of ops that were compiled to it, or that need the stage.
        is_stage: whether it is a stage.
    """

    name: str
    tests: tuple[str, ...]
    dependents: tuple[str, ...]
    is_stage: bool = False

    @property
    def why(self) -> str:
        """Why a dependent is wrong, as the end of a sentence."""
        if self.is_stage:
            return f"could not run, because stage {self.name!r} of loading failed"
        return f"had a program compiled to {self.name}, which is wrong itself"


def find_root_causes(results: Sequence[Result]) -> list[RootCause]:
    """Returns the failed stages of loading that other tests need, and the wrong ops on which other wrong ops depend."""
    return [*_failed_stages(results), *_wrong_ops(results)]


def _failed_stages(results: Sequence[Result]) -> list[RootCause]:
    """Returns the failed stages of loading. If the suite's own client can't be opened, that is the cause of all."""
    of_loading = [result for result in results if result.group == "loading" and result.state.is_wrong]
    opening = next((result for result in of_loading if result.is_of_stage and result.name == "open"), None)
    dependents: dict[str, list[str]] = {}
    tests: dict[str, str] = {}
    for result in of_loading:
        stage = result.failure.get("stage")
        if result is opening:
            tests["open"] = result.id
        elif opening is not None and (stage or opening.message in result.message):
            dependents.setdefault("open", []).append(result.id)
        elif stage and result.name == f"test_each_stage_of_loading_ends[{stage}]":
            tests[stage] = result.id
        elif stage:
            dependents.setdefault(stage, []).append(result.id)
    return [RootCause(stage, (tests[stage],), tuple(ids), True) for stage, ids in dependents.items() if stage in tests]


def _wrong_ops(results: Sequence[Result]) -> list[RootCause]:
    """Returns the wrong ops on which other wrong ops depend.

    An op depends on another one if the programs of all its wrong tests were compiled to that other one, in an element
    type in which that is wrong itself, and the other one depends on no wrong op.
    """
    wrong: dict[str, list[Result]] = {}
    for result in results:
        if result.state.is_wrong and "opcode" in result.properties:
            wrong.setdefault(result.properties["opcode"], []).append(result)
    computed = {opcode: set().union(*map(_computed, own)) for opcode, own in wrong.items()}
    uses = {
        opcode: {
            root
            for root in wrong.keys() - {opcode}
            if all(not computed[root].isdisjoint(r.properties.get("runs_as", ())) for r in own)
        }
        for opcode, own in wrong.items()
    }
    roots: dict[str, list[str]] = {opcode: [] for opcode, used in uses.items() if not used}
    for opcode, used in uses.items():
        for root in sorted(used & set(roots)):
            roots[root] += [r.id for r in wrong[opcode]]
    return [
        RootCause(opcode, tuple(r.id for r in wrong[opcode]), tuple(dependents))
        for opcode, dependents in roots.items()
        if dependents
    ]


def _computed(result: Result) -> set[str]:
    """The op of a wrong test with its element type, if the device computes that itself."""
    kind = f"{result.properties['opcode']} {result.properties.get('element_type')}"
    return {kind} & set(result.properties.get("runs_as", ()))
