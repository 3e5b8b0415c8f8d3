"""Groups wrong results by their cause: if an op is wrong, so are the ops whose programs were compiled to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_conformance.results import Result


@dataclasses.dataclass(frozen=True)
class RootCause:
    """An op that is wrong itself: the ids of its wrong tests, and those of ops that were compiled to it."""

    opcode: str
    tests: tuple[str, ...]
    dependents: tuple[str, ...]


def find_root_causes(results: Sequence[Result]) -> list[RootCause]:
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
