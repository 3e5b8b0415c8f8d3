"""Drawn cases are valid, have exact results in any order of their values, and meet what covering arrays don't."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from xla_conformance.ops.arranged import ARRANGEMENTS, ROWS, arranged
from xla_conformance.ops.contexts import place
from xla_conformance.ops.drawn import DRAWN, drawn_cases, together
from xla_conformance.ops.fills import exactly, is_free, terms, tied, with_ends
from xla_conformance.ops.values import special

from xla_core import evaluate
from xla_core.hlo import ElementType, Opcode, Shape, verify

_TYPES = [t for t in ElementType if t.is_array]


@pytest.mark.parametrize("opcode", DRAWN, ids=str)
def test_cases_of_each_op_are_valid(opcode: Opcode) -> None:
    for drawn in drawn_cases(opcode, 0, 0, 6):
        placed = place(drawn.case.module(), drawn.context, drawn.case.arguments())
        verify(placed.module)
        results = evaluate(placed.module, *placed.arguments)
        for expected, result in zip(drawn.case.expected(), results, strict=True):
            assert not expected.wrong(np.asarray(result)).any(), drawn.name


def test_a_seed_has_its_own_cases() -> None:
    def named(seed: int, first: int, count: int) -> list[str]:
        return [drawn.name for drawn in drawn_cases(Opcode.REDUCE, seed, first, count)]

    assert named(3, 0, 8) == [*named(3, 0, 5), *named(3, 5, 3)]
    assert not {*named(3, 0, 8)} & {*named(4, 0, 8)}


def test_types_sizes_attributes_orders_and_operands_meet() -> None:
    cases = list(drawn_cases(Opcode.CONCATENATE, 0, 0, DRAWN[Opcode.CONCATENATE]))
    assert {drawn.context.operands for drawn in cases} == {"arguments", "constants", "last-constant", "kernels"}
    sizes = Counter(
        size for drawn in cases for s in drawn.case.program.module.parameter_shapes for size in s.dimensions
    )
    assert len({*range(2, 24)} - {*sizes}) < 4
    assert {drawn.context.level for drawn in cases} == {0, 2}
    assert all(any(f"-{name.replace(' ', '_')}-" in drawn.name for drawn in cases) for name in (*ARRANGEMENTS, ROWS))


def test_cases_of_one_level_and_layout_are_together() -> None:
    cases = list(drawn_cases(Opcode.DOT, 0, 0, 32))
    groups = together(cases)
    assert sorted(drawn.name for group in groups for drawn in group) == sorted(drawn.name for drawn in cases)
    kinds = [{(d.context.level, d.context.layouts) for d in group} for group in groups]
    assert all(len(kind) == 1 for kind in kinds)
    assert len(groups) == len({kind for some in kinds for kind in some})


@pytest.mark.parametrize("element", _TYPES, ids=str)
@pytest.mark.parametrize("name", [*ARRANGEMENTS, ROWS])
def test_an_arrangement_keeps_shape_and_type(name: str, element: ElementType) -> None:
    for sizes in ((), (0,), (1,), (3, 5), (64,)):
        values = special(Shape(element, sizes), 0)
        made = arranged(name, values, np.random.default_rng(1))
        assert made.shape == values.shape
        assert made.dtype == values.dtype


def test_what_arrangements_make() -> None:
    values = np.arange(2, 66, dtype=np.int32)
    made = {name: arranged(name, values, np.random.default_rng(1)) for name in ARRANGEMENTS}
    assert len({*made["equal"]}) == 1
    assert 1 in Counter(made["one apart"].tolist()).values()
    assert len({*made["few"]}) <= 3
    assert (np.diff(made["ascending"]) >= 0).all()
    assert (np.diff(made["descending"]) <= 0).all()
    assert (made["runs"][1:] == made["runs"][:-1]).any()
    assert not made["zeros"].any()
    assert 0 < np.count_nonzero(made["few not zero"]) < 20
    assert made["cancelling"].sum() == 0
    assert np.iinfo(np.int32).max in made["extremes"]
    zeros = arranged("zeros", np.ones(64, np.float32), np.random.default_rng(1))
    assert {*np.signbit(zeros).tolist()} == {True, False}


@pytest.mark.parametrize("name", [*ARRANGEMENTS, ROWS])
def test_sums_stay_exact(name: str) -> None:
    values = terms(64)(Shape(ElementType.F32, (64,)), np.random.default_rng(0))
    made = arranged(name, values, np.random.default_rng(1))
    assert np.cumsum(made)[-1] == np.cumsum(made[::-1])[-1] == made.astype(np.float64).sum()


@pytest.mark.parametrize("opcode", [Opcode.FUSION, Opcode.CALL, Opcode.ASYNC_DONE], ids=str)
def test_sums_of_many_operands_are_exact(opcode: Opcode) -> None:
    """They are the same in a wider type, so a device may add in any order and in any precision."""
    floats = (ElementType.F32, ElementType.BF16, ElementType.F16)
    cases = [drawn.case for drawn in drawn_cases(opcode, 5, 0, 400) if drawn.case.element_type in floats]
    many = [case for case in cases if len(case.program.module.parameter_shapes) == 33]
    assert len(many) >= 5
    for case in many:
        results = evaluate(case.build(ElementType.F64).module, *(a.astype(np.float64) for a in case.arguments()))
        for expected, result in zip(case.expected(), results, strict=True):
            assert not expected.wrong(np.asarray(result).astype(expected.value.dtype)).any(), case.name


def test_values_with_places_of_their_own_stay_there() -> None:
    f32, bf16 = ElementType.F32, ElementType.BF16
    assert is_free(terms(4), f32)
    assert is_free(special, f32)
    assert is_free(tied(with_ends(terms(4))), f32)
    assert not is_free(exactly(1, 2), f32)
    assert not is_free(with_ends(exactly(1, 2)), f32)
    assert not is_free(terms(1000), bf16)
    assert is_free(terms(1000, f32), bf16)
