"""The cases meet every value of every attribute, every type and every size that the op table has."""

from __future__ import annotations

import itertools
import random

import pytest
from xla_conformance.ops import generate
from xla_conformance.ops.choices import Choice, Group, choose_each, choose_pairs, has
from xla_conformance.ops.coverage import count_triples, met, uncovered, unmet_pairs
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.element_types import USUAL
from xla_conformance.ops.elementwise import value_cases
from xla_conformance.ops.features import shown_features
from xla_conformance.ops.reasons import LARGEST_SIZE, NO_CASE, NO_VALUE

from xla_core.hlo import OPS, ElementType, Opcode, verify

SHAPES = {"rank", "elements", "size"}
DIFFERENT = {Opcode.MAP, Opcode.COPY, Opcode.BITCAST_CONVERT, Opcode.STOCHASTIC_CONVERT, Opcode.REDUCE_PRECISION}
"""Ops whose domains are tested by themselves."""

AXES = {"a": (1, 2, 3), "b": ("x", "y"), "c": (Group(4, 5), 6), "d": (True, False)}


def test_every_pair_meets() -> None:
    rows = choose_pairs(AXES, 3, "op")
    assert len(rows) < 12
    for one, other in itertools.combinations(AXES, 2):
        pairs = {(_group(r.values[one]), _group(r.values[other])) for r in rows}
        assert len(pairs) == len(AXES[one]) * len(AXES[other]), (one, other)


def _group(value: object) -> object:
    return "4 or 5" if value in (4, 5) else value


def test_wanted_combinations_are_there() -> None:
    wanted = [{"a": (2,), "b": ("x",), "c": (4,), "d": (d,)} for d in (True, False)]
    wanted += [{"a": (3,), "c": (4, 5)}, {"a": (3,), "b": ("y",)}]
    rows = choose_pairs(AXES, 3, "op", wanted)
    assert all(any(has(row, w) for row in rows) for w in wanted)
    before = choose_pairs(AXES, 3, "op")
    assert rows[: len(before)] == before
    assert len(rows) <= len(before) + 3


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


def test_any_choice_makes_a_valid_program() -> None:
    draw = random.Random(0)
    for domain in itertools.chain(*DOMAINS.values()):
        types = [t for t in ElementType if t.is_array and domain.accepts(t)]
        axes = {**domain.axes, "type": types, "size": [*domain.sizes, *domain.hiding], "place": domain.places}
        members = {
            axis: [m for value in values for m in (value if isinstance(value, Group) else (value,))]
            for axis, values in axes.items()
        }
        for _ in range(20):
            choice = Choice({axis: draw.choice(some) for axis, some in members.items() if some})
            verify(domain.program(choice, choice.type).module)


def test_a_dot_may_have_ten_dimensions() -> None:
    """Five sizes other than the chosen one are taken again for the dimensions that are left."""
    domain = DOMAINS[Opcode.DOT][0]
    counts = {"batch": 3, "contracting": 3, "left": 2, "right": 2}
    first = next(iter(domain.choices(0, every_type=False)))
    for size in range(2, 8):
        verify(domain.program(Choice({**first.values, **counts, "size": size}), ElementType.F32).module)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_quick_profile_meets_every_value_of_every_attribute(seed: int) -> None:
    assert uncovered(generate(seed=seed), every_type=False) == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_the_full_profile_meets_every_size_at_every_place(seed: int) -> None:
    """Each size around a power of two is the first, the last, one between, and the one dimension of an array."""
    assert uncovered(itertools.chain(generate(seed=seed, every_type=True), generate(seed=seed))) == []


def test_a_size_that_no_case_has_at_a_place_is_uncovered() -> None:
    cases = [case for case in generate(opcodes=[Opcode.ADD]) if case.element_type is ElementType.F32]
    unmet = {value for opcode, name, value in uncovered(cases) if (opcode, name) == ("add", "place")}
    assert "127 between" in unmet
    assert len(unmet) < 4 * 34


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_the_quick_profile_meets_every_pair(seed: int) -> None:
    """Types with values of attributes, sizes and ranks; values of two axes; values with places of a large dimension."""
    assert [line for opcode in DOMAINS for line in unmet_pairs(opcode, seed)] == []


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_full_profile_meets_every_triple(seed: int) -> None:
    total, quick, full = count_triples(seed)
    assert full == total > 500_000
    assert quick > 0.6 * total


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_elementwise_ops_have_each_type_in_each_shape(seed: int) -> None:
    shown: dict[tuple[Opcode, ElementType], set[object]] = {}
    for case in itertools.chain(generate(seed=seed), value_cases(seed=seed)):
        if OPS[case.opcode].is_elementwise and case.opcode not in DIFFERENT:
            instructions = [i for c in case.module().computations for i in c.instructions if i.opcode is case.opcode]
            features = {(name, value) for i in instructions for name, value in shown_features(i) if name in SHAPES}
            shown.setdefault((case.opcode, case.element_type), set()).update(features)
    every = set[object]().union(*shown.values())
    unmet = {key: every - some for key, some in shown.items() if key[1] in USUAL and every - some}
    assert unmet == {}
    scalars = {key for key, some in shown.items() if ("rank", "0") in some}
    assert set(shown) - scalars == set(), "scalars of every type"


def test_every_op_has_a_domain_or_a_reason() -> None:
    assert set(OPS) - set(DOMAINS) - set(NO_CASE) == set()
    assert set(DOMAINS) & set(NO_CASE) == set(), "these have cases now"


def test_reasons_name_ops_and_attributes() -> None:
    for opcode, attribute, value in NO_VALUE:
        op = next(op for name, op in OPS.items() if name.value == opcode)
        assert attribute in {*op.attributes, "type", "size", "place", "operands"}, (opcode, attribute, value)
        assert attribute != "type" or ElementType(value).is_array
    assert set(LARGEST_SIZE) <= set(OPS)


def test_no_value_with_a_reason_has_a_case() -> None:
    seen = {line for case in generate() for line in met(case)}
    assert [reason for reason in NO_VALUE if reason in seen and reason[1] != "type"] == []
