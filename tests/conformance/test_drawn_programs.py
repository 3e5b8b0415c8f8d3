"""Programs that are drawn by chance are valid, exact, and have what a pass may overlook."""

from __future__ import annotations

import collections

import numpy as np
from xla_conformance.programs.drawn import drawn_programs
from xla_conformance.programs.drawn.steps import STEPS

from xla_core.hlo import verify

_PROGRAMS = drawn_programs(0, 0, 60)


def test_programs_are_valid_and_exact() -> None:
    for program in _PROGRAMS:
        verify(program.module())
        expected = program.expected(program.arguments(0))
        assert all(e.wide is None and e.wrong(e.value).sum() == 0 for e in expected)


def test_each_step_and_each_kind_of_control_flow_is_drawn() -> None:
    counts = collections.Counter(
        i.opcode for program in _PROGRAMS for c in program.module().computations for i in c.instructions
    )
    control = ("call", "while", "conditional", "tuple")
    for opcode in (
        *control,
        "scatter",
        "gather",
        "sort",
        "dynamic-update-slice",
        "reduce-window",
        "opt-barrier",
        "pad",
    ):
        assert counts[opcode] >= 5, opcode
    assert len(STEPS) > 20


def test_most_results_depend_on_arguments() -> None:
    differ = [
        one.value.tobytes() != other.value.tobytes()
        for program in _PROGRAMS
        for one, other in zip(*(program.expected(program.arguments(seed)) for seed in (0, 1)), strict=True)
    ]
    assert np.mean(differ) > 0.7


def test_programs_depend_on_the_seed_and_their_number_alone() -> None:
    texts = [[program.text for program in drawn_programs(seed, 0, 4)] for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]
    assert [program.text for program in drawn_programs(3, 2, 2)] == texts[0][2:]
