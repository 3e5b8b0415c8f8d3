"""Expressions are planted in drawn programs: valid, exact, changed in several things, and used."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import pytest
from xla_conformance.programs.drawn import drawn_programs, planted_programs

from xla_core.hlo import ElementType, Opcode, verify

_PROGRAMS = planted_programs(0, 0, 60)


def test_programs_are_valid_and_exact() -> None:
    for program in _PROGRAMS:
        verify(program.module())
        for seed in range(3):
            expected = program.expected(program.arguments(seed))
            assert all(e.wide is None and e.wrong(e.value).sum() == 0 for e in expected)
            assert all(e.any_sign is None for e in expected), "No float is a sum in any order."


def test_programs_have_expressions_at_each_place() -> None:
    counts = collections.Counter(i.opcode for p in _PROGRAMS for c in p.module().computations for i in c.instructions)
    for opcode in (Opcode.FUSION, Opcode.CALL, Opcode.WHILE, Opcode.CONDITIONAL, Opcode.SEND, Opcode.RECV_DONE):
        assert counts[opcode] >= 5, opcode
    drawn = drawn_programs(0, 0, 60)
    assert len(counts) > len({i.opcode for p in drawn for c in p.module().computations for i in c.instructions})


def test_programs_depend_on_the_seed_and_their_number_alone() -> None:
    texts = [[program.text for program in planted_programs(seed, 0, 3)] for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]
    assert [program.text for program in planted_programs(3, 2, 1)] == texts[0][2:]


@pytest.mark.parametrize(
    "held", [{*ElementType} - {ElementType.F64, ElementType.F16}, {ElementType.F32, ElementType.S32, ElementType.PRED}]
)
@pytest.mark.parametrize("programs", [drawn_programs, planted_programs])
def test_programs_have_types_that_the_device_holds(held: set[ElementType], programs: Callable[..., Any]) -> None:
    kinds = {
        leaf.element_type
        for program in programs(0, 0, 30, held)
        for computation in program.module().computations
        for i in computation.instructions
        for leaf in i.shape.array_leaves()
    }
    assert kinds <= held | {ElementType.U32}, "A send has a context of u32."
    assert ElementType.F32 in kinds
    assert programs is drawn_programs or (ElementType.BF16 in kinds) == (ElementType.BF16 in held)
