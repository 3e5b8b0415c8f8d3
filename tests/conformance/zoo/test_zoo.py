"""The suite finds faults that it found before, and passes the backend without a fault."""

from __future__ import annotations

import functools
import itertools
from argparse import Namespace
from collections.abc import Callable, Iterable

import pytest

pytest.importorskip("xla_backend_template")
pytest.importorskip("xla_backend_cpu")

from xla_conformance.chosen import passes_of
from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.elementwise import ValueCase, value_cases
from xla_conformance.promises import PROMISES

from tests.conformance.zoo.__main__ import known, main, run_mutants
from tests.conformance.zoo.mutant import BROKEN, Mutant, all_mutants
from tests.conformance.zoo.reasons import UNBREAKABLE
from tests.conformance.zoo.run import installed, run_profile
from xla_core.hlo import HloInstruction, Opcode


def test_every_mutant_says_what_it_breaks() -> None:
    for mutant in all_mutants().values():
        assert mutant.breaks, mutant.name
        assert mutant.fault.endswith("."), mutant.name
        if mutant.level != "device":  # whose driver reads its fault once in a process
            mutant.make()


def test_each_promise_is_broken_by_a_mutant() -> None:
    broken = {mutant.breaks for mutant in all_mutants().values()}
    assert set(PROMISES) - broken - set(UNBREAKABLE) == set(), "write a mutant for these, or say why none can be"
    assert broken & set(UNBREAKABLE) == set(), "these can be broken"
    groups = {id.partition(".")[0] for id in PROMISES}
    levels = {m.breaks for m in all_mutants().values() if not m.opcode and m.breaks.partition(".")[0] in groups}
    assert levels - set(PROMISES) == set(), "there are no such promises"


def test_backends_without_a_fault_pass() -> None:
    assert main(["--control", "--profile", "quick", "-k", "template/events"]) == 0


@pytest.mark.slow
def test_backends_without_a_fault_pass_every_group() -> None:
    assert main(["--control", "--profile", "quick"]) == 0


@functools.cache
def _instructions(
    cases: Callable[..., Iterable[OpCase | ValueCase]], opcode: Opcode, every_type: bool
) -> list[HloInstruction]:
    """The instructions of an op in its cases of a profile."""
    computations = (c for case in cases(every_type=every_type, opcodes=[opcode]) for c in case.module().computations)
    return [i for c in computations for i in c.instructions if i.opcode is opcode]


def _may_show(mutant: Mutant, profile: str) -> bool:
    """Whether a case of a profile has an instruction in which a fault may show."""
    passes = itertools.product(passes_of(profile), (generate, value_cases))
    found = (_instructions(cases, Opcode(mutant.opcode), every_type) for every_type, cases in passes)
    return mutant.applies is None or any(map(mutant.applies, itertools.chain.from_iterable(found)))


def test_each_fault_that_was_found_may_still_show_in_a_case() -> None:
    unseen = [name for name, row in known().items() if not _may_show(all_mutants()[name], row["verdict"])]
    assert unseen == [], "no case has an instruction in which these faults show"


def test_a_mutant_with_a_mistake_in_its_own_python_proves_nothing() -> None:
    with installed():
        results = run_mutants([BROKEN], Namespace(profile="full", seeds=1, verbose=False))
    result = results[BROKEN.name]
    assert result["verdict"] == "broken", result
    assert result["message"].startswith("mutant.py:")
    assert "has no attribute 'fil'" in result["message"]


def test_faults_of_native_code_are_found() -> None:
    names = ("swap-icmp-slt-ult-i32", "loop-unit-tail", "vectors-no-tail")
    with installed():
        results = list(run_profile([all_mutants()[f"code/{name}"] for name in names], "quick"))
    assert [result["verdict"] for result in results] == ["caught"] * len(names), results


def test_stress_finds_what_shows_only_beside_other_work() -> None:
    mutant = all_mutants()["attributes/reverse/scratch-of-new-streams"]
    with installed():
        verdicts = [next(run_profile([mutant], profile))["verdict"] for profile in ("quick", "stress")]
    assert verdicts == ["missed", "caught"]


def test_faults_that_quick_found_are_found() -> None:
    assert main(["--verdict", "quick", "--profile", "quick", "--sample", "15"]) == 0


@pytest.mark.slow
def test_every_fault_that_was_found_is_found() -> None:
    assert main(["--verdict", "quick", "--profile", "quick"]) == 0
