"""Cases of ops that add floats have sums that are rounded, so that the order of the additions shows."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops.rounded import ADDING, first_result, rounded_arguments, rounded_cases

from xla_core import evaluate
from xla_core.hlo import ElementType, Opcode


@pytest.mark.parametrize("opcode", ADDING, ids=str)
def test_each_op_has_cases_in_each_type_of_its_own(opcode: Opcode) -> None:
    every = rounded_cases(opcode, 0, every=True)
    assert len({case.name for case in every}) == len(every)
    types = {case.element_type for case in every}
    assert {ElementType.F32, ElementType.F64} <= types
    turns = [{case.element_type for case in rounded_cases(opcode, seed, every=False)} for seed in range(3)]
    assert all(ElementType.F32 in turn and len(turn) <= 2 for turn in turns)
    assert set.union(*turns) == types


def test_the_order_of_a_sum_shows() -> None:
    cases = [case for case in rounded_cases(Opcode.REDUCE, 0, every=False) if case.element_type is ElementType.F32]
    found = [max(rounded_arguments(case), key=lambda array: array.size).reshape(-1) for case in cases]
    assert any(np.cumsum(array)[-1] != np.cumsum(array[::-1])[-1] for array in found)
    assert all(array.size > 4096 for array in found)


@pytest.mark.parametrize("seed", range(4))
def test_one_long_dimension_is_summed_with_each_seed(seed: int) -> None:
    cases = [case for case in rounded_cases(Opcode.REDUCE, seed, every=False) if case.element_type is ElementType.F32]
    reduces = [i for case in cases for i in case.program.module.entry.instructions if i.opcode == Opcode.REDUCE]
    rows = [(i.operand(0).shape.dimensions, i.attribute("dimensions")) for i in reduces]
    assert any(len(axes) == 1 and sizes[axes[0]] > 4000 for sizes, axes in rows)


def test_a_case_of_several_results_has_a_program_of_the_first_one() -> None:
    case = next(c for c in rounded_cases(Opcode.REDUCE, 0, every=False) if c.program.module.entry.root.shape.is_tuple)
    module, arguments = first_result(case), case.arguments()
    assert module is not None
    (alone,), (first, *_) = evaluate(module, *arguments), evaluate(case.program.module, *arguments)
    np.testing.assert_array_equal(np.asarray(alone), np.asarray(first))
    single = next(
        c for c in rounded_cases(Opcode.DOT, 0, every=False) if not c.program.module.entry.root.shape.is_tuple
    )
    assert first_result(single) is None
