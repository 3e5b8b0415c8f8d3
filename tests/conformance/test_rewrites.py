"""The programs that a pass may rewrite wrongly are valid, and their arguments reach what they are about."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.programs.rewrites import KINDS, apart, rewritten

from xla_core import evaluate
from xla_core.hlo import verify

_PROGRAMS = [program for kind in KINDS for program in rewritten(kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_valid(kind: str) -> None:
    for program in rewritten(kind):
        module = program.module()
        verify(module)
        arguments = program.arguments(0)
        assert [a.dtype for a in arguments] == [s.dtype for s in module.parameter_shapes]
        assert all(e.wrong(e.value).sum() == 0 for e in program.expected(arguments))


def test_each_program_says_what_it_computes() -> None:
    assert len({p.name for p in _PROGRAMS}) == len(_PROGRAMS) > 200


def test_a_rule_that_holds_for_most_values_shows() -> None:
    """x - x is 0 for all but infinities and NaNs, of which the arguments have some."""
    program = next(p for p in _PROGRAMS if p.name.startswith("x - x"))
    (expected,) = program.expected(program.arguments(0))
    assert expected.wrong(np.zeros_like(expected.value)).any()


def test_functions_may_have_errors_and_other_ops_not() -> None:
    by_kind = {kind: [e for p in rewritten(kind) for e in p.expected(p.arguments(0))] for kind in KINDS}
    assert all(e.wide is None for e in by_kind["integers"])
    assert all(e.wide is not None for e in by_kind["functions"])


def test_single_places_are_in_front_of_an_array_within_and_behind_it() -> None:
    program = next(p for p in _PROGRAMS if p.name.startswith("starts that count from the end"))
    names = [p.name for p in program.module().entry.parameters]
    for seed in range(5):
        runs = [dict(zip(names, program.arguments(seed + turn), strict=True)) for turn in range(3)]
        for name in ("i", "j"):
            least, middle, greatest = sorted(int(run[name]) for run in runs)
            assert least < 0 <= middle < 5 <= greatest


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_alone_is_the_result_that_it_was(kind: str) -> None:
    for program in rewritten(kind):
        arguments = program.arguments(0)
        expected = program.expected(arguments)
        for alone in apart(program):
            verify(alone.module())
            (result,) = evaluate(alone.module(), *arguments)
            assert not expected[int(alone.name.split()[-2])].wrong(np.asarray(result)).any()


def test_a_value_of_a_result_alone_has_no_other_use() -> None:
    program = next(p for p in _PROGRAMS if p.name.startswith("reductions of reductions"))
    texts = [alone.text for alone in apart(program)]
    assert any(text.count(" reduce(") == 2 for text in texts)
    assert all(text.count(" reduce(") <= 2 for text in texts)
