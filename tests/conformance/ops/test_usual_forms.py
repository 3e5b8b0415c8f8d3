"""Cases of the forms that frameworks and passes make, and of many elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.domains.movement import INDEX_TYPES
from xla_conformance.ops.elementwise import value_cases

from xla_core.hlo import HloInstruction, Opcode


def cases_of(opcode: Opcode, variant: str) -> list[OpCase]:
    return [case for case in generate(opcodes=[opcode]) if f"-{variant}-" in case.name]


def instructions(case: OpCase) -> list[HloInstruction]:
    return [i for i in case.module().entry.instructions if i.opcode == case.opcode]


def test_scattered_windows_are_also_partly_outside_and_stay_apart_where_they_replace() -> None:
    found = set()
    for case in cases_of(Opcode.SCATTER, "windows"):
        arguments = case.arguments()
        for scatter in instructions(case):
            operand, indices, updates = scatter.operands
            sizes, taken = operand.shape.dimensions, updates.shape.dimensions[1:]
            starts = arguments[indices.parameter_number].astype(np.int64)
            behind = (starts < sizes) & (starts + np.array(taken) > sizes)
            inside = starts[np.all((starts >= 0) & (starts + np.array(taken) <= sizes), axis=1)]
            found.add((len(sizes), bool(behind.any()), bool((starts < 0).any()), len(inside) > 0))
            if scatter.attribute("unique_indices"):
                assert len({tuple(row // taken) for row in inside}) == len(inside), case.name
    assert {(rank, True, below, True) for rank in (1, 2) for below in (False, True)} <= found


def test_scatters_of_sorted_indices_name_some_place_twice() -> None:
    twice = False
    for case in cases_of(Opcode.SCATTER, "usual"):
        arguments = case.arguments()
        for scatter in instructions(case):
            places = arguments[scatter.operand(1).parameter_number].reshape(-1)
            if scatter.attribute("indices_are_sorted"):
                assert (places[1:] >= places[:-1]).all(), case.name
                twice |= not scatter.attribute("unique_indices") and len(set(places)) < len(places)
    assert twice


@pytest.mark.parametrize("variant", ["usual", "rank"])
def test_windows_of_a_pool_have_several_largest_elements(variant: str) -> None:
    cases = [c for c in generate(opcodes=[Opcode.SELECT_AND_SCATTER]) if f"-f32-{variant}" in c.name]
    arrays = [case.arguments()[0].reshape(-1) for case in cases]
    tied = [np.sum(a == a.max()) for a in arrays if a.size > 20]
    assert tied
    assert np.mean(np.array(tied) > 1) > 0.9


def test_sums_of_ends_have_two_neighbours_of_the_least_number() -> None:
    for case in cases_of(Opcode.DOT, "ends"):
        (dot,) = instructions(case)
        lhs, rhs = (case.arguments()[o.parameter_number].astype(np.int64) for o in dot.operands)
        if case.element_type.is_signed and lhs.shape[1] > 9:  # the smallest sizes have too few elements
            least = case.element_type.integer_range[0]
            both = (lhs[:, :, None] == least) & (rhs[None] == least)
            assert (both[:, 1:] & both[:, :-1]).any(), case.name


def test_each_elementwise_op_has_a_case_of_a_million_elements() -> None:
    every = [case for case in value_cases(every_type=True) if "-million-" in case.name]
    assert {c.opcode for c in every} == {c.opcode for c in value_cases()}
    (case,) = (c for c in every if c.opcode is Opcode.TANH)
    (arguments,) = case.arguments()
    assert arguments[0].size > 1 << 20
    assert arguments[0].size % 2 == 1


def test_products_contract_sizes_of_each_remainder_with_and_without_a_batch() -> None:
    found = set()
    for case in cases_of(Opcode.DOT, "remainders"):
        for dot in instructions(case):
            size = dot.operand(0).shape.dimensions[-1]
            found.add((size % 8, bool(dot.attribute("lhs_batch_dims")), dot.shape.element_type is case.element_type))
    assert found == set(itertools.product(range(8), (False, True), (False, True)))


def test_columns_are_of_each_remainder_in_each_type() -> None:
    found: dict[str, set[int]] = {}
    for case in cases_of(Opcode.REDUCE, "rows"):
        for reduce in instructions(case):
            if reduce.attribute("dimensions") == (0,):
                sizes = reduce.operand(0).shape.dimensions
                found.setdefault(case.element_type.value, set()).add(sizes[1] % 4)
    assert all(found[name] == set(range(4)) for name in ("s32", "bf16", "f32"))


def test_gathers_of_rows_have_indices_of_each_type_up_to_its_end() -> None:
    found: dict[str, int] = {}
    for case in cases_of(Opcode.GATHER, "usual"):
        arguments = case.arguments()
        for gather in instructions(case):
            operand, indices = gather.operands
            places = arguments[indices.parameter_number].astype(np.int64)
            inside = places[(places >= 0) & (places < operand.shape.dimensions[0])]
            name = indices.shape.element_type.value
            found[name] = max(found.get(name, 0), int(inside.max(initial=0)))
    assert found.keys() == {t.value for t in INDEX_TYPES}
    assert found["s8"] > 120
    assert found["u8"] > 240


def test_rows_that_are_matrices_have_each_remainder_in_some_type() -> None:
    found: dict[str, set[int]] = {}
    for case in cases_of(Opcode.REDUCE, "rows"):
        for reduce in instructions(case):
            sizes = reduce.operand(0).shape.dimensions
            if reduce.attribute("dimensions") == (1, 2):
                assert np.prod(sizes) > 4096
                found.setdefault(case.element_type.value, set()).add(sizes[-1] % 4)
    assert {"s8", "s32", "bf16", "f32"} <= found.keys()
    assert set().union(*found.values()) == set(range(4))
