"""Gathers of many slices on devices that lack gather: the reference evaluator gives the same before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import ElementType, HloModule, parse_hlo, verify
from xla_core.hlo.decompositions.gather_as_slice import gather_as_slice
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.builder import Builder
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.passes.simplifiers.algebraic_simplifier import AlgebraicSimplifier
from xla_core.target import Capabilities

SIMPLE = Capabilities.all_of([ElementType.F32, ElementType.S32, ElementType.PRED], opcodes=PRIMITIVES)
GATHERS = {
    "rows": (
        "f32[5,3]", "s32[400]", "f32[400,3]",
        "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
    ),
    "windows": (
        "f32[5,4]", "s32[300,2]", "f32[2,300,3]",
        "offset_dims={0,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,3}",
    ),
    "batches": (
        "f32[2,5,3,4]", "s32[1,2,100,3]", "f32[2,100,3,3]",
        "offset_dims={3}, collapsed_slice_dims={3}, start_index_map={1}, operand_batching_dims={0,2},"
        " start_indices_batching_dims={1,3}, index_vector_dim=0, slice_sizes={1,3,1,1}",
    ),
}  # fmt: skip


def program(gather: Sequence[str]) -> HloModule:
    x, indices, result, rest = gather
    text = f"HloModule m\nENTRY e {{\n x = {x} parameter(0)\n i = {indices} parameter(1)\n"
    return parse_hlo(f"{text} ROOT g = {result} gather(x, i), {rest}\n}}\n")


@pytest.mark.parametrize("case", GATHERS)
def test_a_small_operand_is_read_once_for_each_position(case: str) -> None:
    module, legal = program(GATHERS[case]), program(GATHERS[case])
    legalize(legal, SIMPLE.check)
    verify(legal)
    assert not unsupported_instructions(legal, SIMPLE.check)
    rng = np.random.default_rng(0)
    x, indices = (p.shape.dimensions for p in module.entry.parameters)
    arguments = rng.random(x).astype(np.float32), rng.integers(-3, 9, indices).astype(np.int32)
    (found,), (expected,) = evaluate(legal, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)
    (loop,) = [i for i in legal.entry.instructions if i.opcode == "while"]
    (limit,) = [i for i in loop.attribute("condition").instructions if i.opcode == "constant"]
    assert limit.literal.array < 60, "the loop is over positions, not over index vectors"


FIXED = {
    "batches": (
        "f32[3,7,2]", "s32[7,4,3,0]", "f32[7,2,4,3]",
        "offset_dims={1}, collapsed_slice_dims={}, start_index_map={}, operand_batching_dims={0,1},"
        " start_indices_batching_dims={2,0}, index_vector_dim=3, slice_sizes={1,1,2}",
    ),
    "beginnings": (
        "f32[5,4,1]", "s32[0,6]", "f32[3,6,2]",
        "offset_dims={0,2}, collapsed_slice_dims={2}, start_index_map={}, index_vector_dim=0, slice_sizes={3,2,1}",
    ),
    "whole": (
        "f32[4,1,3]", "s32[5,2]", "f32[5,4,3]",
        "offset_dims={1,2}, collapsed_slice_dims={1}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={4,1,3}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FIXED)
@pytest.mark.parametrize("change", [lambda m: legalize(m, SIMPLE.check), lambda m: AlgebraicSimplifier().run(m)])
def test_a_gather_whose_indices_choose_nothing_is_a_slice(case: str, change: Callable[[HloModule], object]) -> None:
    module, changed = program(FIXED[case]), program(FIXED[case])
    change(changed)
    verify(changed)
    assert not {"gather", "while"} & {i.opcode for i in changed.entry.instructions}
    rng = np.random.default_rng(0)
    x, indices = (p.shape.dimensions for p in module.entry.parameters)
    arguments = rng.random(x).astype(np.float32), rng.integers(-3, 9, indices).astype(np.int32)
    (found,), (expected,) = evaluate(changed, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)


def test_a_gather_of_nothing_is_not_made_a_slice() -> None:
    """Its slice has no element, and three after the dimension that is left out."""
    dims = "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,3}"
    module = program(("f32[0,3]", "s32[0,1]", "f32[0,3]", dims))
    assert gather_as_slice(module.entry.root, Builder(module.entry)) is None
