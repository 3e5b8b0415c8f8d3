"""The cases meet every value of every attribute, every type and every size that the op table has."""

from __future__ import annotations

import itertools

import pytest
from xla_conformance.ops import generate
from xla_conformance.ops.choices import Group, choose_each, choose_pairs
from xla_conformance.ops.coverage import met, uncovered
from xla_conformance.ops.domain import DOMAINS
from xla_conformance.ops.reasons import LARGEST_SIZE, NO_CASE, NO_VALUE

from xla_core.hlo import OPS, ElementType

AXES = {"a": (1, 2, 3), "b": ("x", "y"), "c": (Group(4, 5), 6), "d": (True, False)}


def test_every_pair_meets() -> None:
    rows = choose_pairs(AXES, 3, "op")
    assert len(rows) < 12
    for one, other in itertools.combinations(AXES, 2):
        pairs = {(_group(r.values[one]), _group(r.values[other])) for r in rows}
        assert len(pairs) == len(AXES[one]) * len(AXES[other]), (one, other)


def _group(value: object) -> object:
    return "4 or 5" if value in (4, 5) else value


def test_members_of_a_group_take_turns() -> None:
    rows = choose_pairs({**AXES, "e": range(6)}, 0, "op")
    assert {r.c for r in rows} == {4, 5, 6}


def test_each_value_is_there() -> None:
    rows = choose_each(AXES, 1, "op")
    assert len(rows) == 3
    assert all(
        {_group(r.values[a]) for r in rows} == {_group(v[0] if isinstance(v, Group) else v) for v in AXES[a]}
        for a in AXES
    )


def test_choices_depend_on_the_seed_alone() -> None:
    assert [str(r) for r in choose_pairs(AXES, 7, "op")] == [str(r) for r in choose_pairs(AXES, 7, "op")]
    assert [str(r) for r in choose_pairs(AXES, 7, "op")] != [str(r) for r in choose_pairs(AXES, 8, "op")]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_quick_profile_meets_every_value_of_every_attribute(seed: int) -> None:
    assert uncovered(generate(seed=seed), every_type=False) == []


@pytest.mark.slow
def test_the_full_profile_meets_every_type_and_size() -> None:
    assert uncovered(generate(every_type=True)) == []


def test_every_op_has_a_domain_or_a_reason() -> None:
    assert set(OPS) - set(DOMAINS) - set(NO_CASE) == set()
    assert set(DOMAINS) & set(NO_CASE) == set(), "these have cases now"


def test_reasons_name_ops_and_attributes() -> None:
    for opcode, attribute, value in NO_VALUE:
        op = next(op for name, op in OPS.items() if name.value == opcode)
        assert attribute in {*op.attributes, "type", "size", "operands"}, (opcode, attribute, value)
        assert attribute != "type" or ElementType(value).is_array
    assert set(LARGEST_SIZE) <= set(OPS)


def test_no_value_with_a_reason_has_a_case() -> None:
    seen = {line for case in generate() for line in met(case)}
    assert [reason for reason in NO_VALUE if reason in seen and reason[1] != "type"] == []
