"""Cases in one program have the results that they have alone, and what is wrong names one of them."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.failures import Failure
from xla_conformance.ops import generate
from xla_conformance.ops.contexts import ALONE, CONTEXTS, Context, Placed, place
from xla_conformance.ops.joint import JointPrograms, JointRuns, join

from xla_core import Client, CompileOptions, InternalError, LoadedExecutable, evaluate
from xla_core.hlo import HloModule, verify


def some_parts() -> dict[str, Placed]:
    """Cases with several results, with computations of their own, and with names that occur in each."""
    wanted = ("reduce", "sort", "add", "while", "scatter", "scatter")
    found: dict[str, Placed] = {}
    for opcode in wanted:
        case = next(c for c in generate() if c.opcode == opcode and c.name not in found)
        found[case.name] = place(case.module(), ALONE, case.arguments())
    return found


def test_every_op_has_programs_of_its_own() -> None:
    joint = JointPrograms()
    programs: dict[str, list[str]] = {}
    alone = set()
    plain = set()
    for case in generate():
        for level in (0, 2):
            program = joint.of(case, Context(level=level))
            plain.add((case.opcode, level))
            if program:
                programs.setdefault(program, []).append(case.name)
            else:
                alone.add((case.opcode, level))
    assert alone == plain
    assert max(map(len, programs.values())) == 8
    full = sum(len(cases) == 8 for cases in programs.values())
    assert full > len(programs) / 2, "most programs have many cases"


def test_cases_among_other_ops_run_alone() -> None:
    case = next(generate())
    joint = JointPrograms()
    assert all(joint.of(case, context) == "" for context in CONTEXTS if not context.is_plain)


def test_a_joined_module_has_the_results_of_its_parts() -> None:
    parts = list(some_parts().values())
    joined = join(parts)
    verify(joined.module)
    together = evaluate(joined.module, *joined.arguments)
    alone = [r for part in parts for r in evaluate(part.module, *part.arguments)]
    assert len(together) == len(alone)
    for one, other in zip(together, alone, strict=True):
        assert one.tobytes() == other.tobytes()


def test_each_case_takes_its_results() -> None:
    parts = some_parts()
    with Client("template") as client:
        runs = JointRuns(client)
        runs.start({name: lambda part=part: [part] for name, part in parts.items()}, 0)
        for name, part in parts.items():
            taken = runs.take(name)
            assert taken is not None
            ((placed, results),) = taken
            assert placed is part
            for got, wanted in zip(results, evaluate(part.module, *part.arguments), strict=True):
                np.testing.assert_array_equal(got, wanted)
            assert runs.take(name) is None


class Narrow(Client):
    """A client that compiles programs of few results only."""

    def compile(
        self, program: str | bytes | HloModule, options: CompileOptions | None = None, *, file: str = ""
    ) -> LoadedExecutable:
        if isinstance(program, HloModule) and program.name == "joint":
            raise InternalError("too many results")
        return super().compile(program, options, file=file)


def test_what_fails_only_together_is_told_once() -> None:
    parts = some_parts()
    names = list(parts)
    with Narrow("template") as client:
        runs = JointRuns(client)
        runs.start({name: lambda part=part: [part] for name, part in parts.items()}, 0)
        assert all(runs.take(name) is None for name in names)
        for name in names[:-1]:
            runs.is_right_alone(name)
        with pytest.raises(Failure, match="too many results"):
            runs.is_right_alone(names[-1])


def test_what_fails_alone_too_is_told_there() -> None:
    parts = some_parts()
    with Narrow("template") as client:
        runs = JointRuns(client)
        runs.start({name: lambda part=part: [part] for name, part in parts.items()}, 0)
        for name in list(parts)[1:]:  # the first one was wrong
            runs.is_right_alone(name)
