"""A case's program also runs with its values in another arrangement, and those results are compared too."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.failures import Failure
from xla_conformance.ops.case_runs import cases_run, joined_runs, placed_runs
from xla_conformance.ops.cases import generate
from xla_conformance.ops.contexts import ALONE, Context
from xla_conformance.ops.drawn import drawn_cases
from xla_conformance.ops.drawn_runs import require_group
from xla_conformance.ops.executions import Before, before_for
from xla_conformance.ops.joint import join

from xla_core import Client, CompileOptions, LoadedExecutable, evaluate
from xla_core.hlo import ElementType, HloModule, Opcode
from xla_core.target import LayoutRules

SIGNED = (ElementType.S8, ElementType.S16, ElementType.S32, ElementType.S64)
SMALL = [case for case in generate(opcodes=[Opcode.REVERSE]) if len(cases_run(case, ALONE, "other")) > 1]
LARGE = next(generate(opcodes=[Opcode.MAXIMUM]))


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return [a.tobytes() for a in one] == [a.tobytes() for a in other]


def test_an_earlier_run_has_other_values_of_the_same_program() -> None:
    case = SMALL[0]
    other, own = cases_run(case, ALONE, "other")
    assert own is case
    assert other.arrangement
    assert other.program is case.program
    assert not same(other.arguments(), case.arguments())
    assert same(other.arguments(), other.arguments())


def test_what_has_no_earlier_run() -> None:
    case = SMALL[0]
    assert cases_run(case, ALONE, "same") == cases_run(case, ALONE, "alike") == [case]
    assert cases_run(case, Context("constants"), "other") == [case]
    assert cases_run(LARGE, ALONE, "other") == [LARGE]
    without_arguments = next(generate(opcodes=[Opcode.IOTA]))
    assert cases_run(without_arguments, ALONE, "other") == [without_arguments]


def test_cases_of_one_program_have_both_runs_together() -> None:
    layouts = LayoutRules()
    kinds: list[Before] = ["other", "same"]
    parts = [
        placed_runs(cases_run(case, ALONE, before), ALONE, layouts) for case, before in zip(SMALL, kinds, strict=False)
    ]
    executions = joined_runs(join([runs[-1] for runs in parts]), parts)
    assert [len(runs) for runs in parts] == [2, 1]
    assert len(executions) == 2
    first, second = ([np.asarray(r) for r in evaluate(whole.module, *whole.arguments)] for whole in executions)
    alone = [[np.asarray(r) for r in evaluate(run.module, *run.arguments)] for run in (*parts[0], *parts[1])]
    count = len(alone[0])
    assert same(first[:count], alone[0])
    assert same(second, [*alone[1], *alone[2]])
    assert not same(first[count:], alone[2]), "elements are at other places"


class Wrong(Client):
    """A client whose programs of `abs` are wrong where an element is that of an array, and not that of another one."""

    at: np.ndarray
    but: np.ndarray

    def compile(
        self, program: str | bytes | HloModule, options: CompileOptions | None = None, *, file: str = ""
    ) -> LoadedExecutable:
        assert isinstance(program, HloModule)
        program = program.clone()
        c = program.entry
        found = next(i for i in c.instructions if i.opcode is Opcode.ABS)
        x = found.operand(0)
        at = c.add("and", c.add("compare", x, c.constant(self.at), direction="EQ"), c.constant(self.at != self.but))
        c.replace_with(found, c.add("select", at, x, c.add("abs", x)))
        return super().compile(program, options, file=file)


def test_a_fault_that_shows_in_the_earlier_values_alone_fails() -> None:
    for drawn in drawn_cases(Opcode.ABS, 0, 0, 1000):
        if before_for(drawn.name) == "other" and drawn.context.is_plain and drawn.case.element_type in SIGNED:
            other, own = (case.arguments()[0] for case in cases_run(drawn.case, drawn.context, "other"))
            if ((other != own) & (other < -1) & (other != np.iinfo(other.dtype).min)).any():
                break
    else:
        pytest.fail("no case has such values")
    with Wrong("template") as client:
        client.at, client.but = other, own
        with pytest.raises(Failure, match="here abs"):
            require_group(client, client.platform.compiler.target_config, [drawn], 0)
