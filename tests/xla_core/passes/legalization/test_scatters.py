"""Scatters of many updates on devices that lack scatter: the reference evaluator gives the same before and after."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.hlo import ElementType, HloModule, parse_hlo, verify
from xla_core.hlo.evaluator import evaluate
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

SIMPLE = Capabilities.all_of([ElementType.F32, ElementType.S32, ElementType.PRED], opcodes=[*PRIMITIVES, "maximum"])
SCATTERS = {
    "elements": (
        "f32[41]", "s32[3000]", "f32[3000]",
        "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    ),
    "rows": (
        "f32[511,5]", "s32[2000,1]", "f32[2000,5]",
        "update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    ),
    "windows that overlap": (
        "f32[9,3,8]", "s32[2,1500]", "f32[2,1500,3]",
        "update_window_dims={0,2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={2,0}, index_vector_dim=0",
    ),
    "batches": (
        "f32[2,50]", "s32[2,900,1]", "f32[2,900]",
        "update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0},"
        " scatter_indices_batching_dims={0}, index_vector_dim=2",
    ),
    "a large operand": (
        "f32[70001]", "s32[1200,1]", "f32[1200]",
        "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1",
    ),
}  # fmt: skip
COMBINERS = ("add", "maximum", "replace")


def program(case: str, combiner: str) -> HloModule:
    x, indices, updates, rest = SCATTERS[case]
    root = (
        "ROOT b = f32[] parameter(1)"
        if combiner == "replace"
        else f"b = f32[] parameter(1)\n ROOT r = f32[] {combiner}(b, a)"
    )
    computation = f"c {{ a = f32[] parameter(0)\n {root} }}\n"
    return parse_hlo(
        f"HloModule m\n{computation}ENTRY e {{\n x = {x} parameter(0)\n i = {indices} parameter(1)\n"
        f" u = {updates} parameter(2)\n ROOT s = {x} scatter(x, i, u), {rest}, to_apply=c\n}}\n"
    )


@pytest.mark.parametrize(
    ("case", "combiner"),
    # which of several windows that overlap is the last one is nobody's promise
    [(case, c) for case in SCATTERS for c in COMBINERS if (case, c) != ("windows that overlap", "replace")],
)
def test_many_updates_are_sorted(case: str, combiner: str) -> None:
    module, legal = program(case, combiner), program(case, combiner)
    legalize(legal, SIMPLE.check)
    verify(legal)
    assert not unsupported_instructions(legal, SIMPLE.check)
    assert not [i for c in legal.computations for i in c.instructions if i.opcode == "while"]
    rng = np.random.default_rng(0)
    x, indices, updates = (p.shape.dimensions for p in module.entry.parameters)
    arguments = (
        rng.integers(-9, 9, x).astype(np.float32),
        rng.integers(-3, max(x) + 3, indices).astype(np.int32),
        rng.integers(-9, 9, updates).astype(np.float32),
    )
    (found,), (expected,) = evaluate(legal, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("indices", ["none inside", "all the same", "the ends"])
def test_places_of_all_kinds(indices: str) -> None:
    values = {"none inside": [-1, 41], "all the same": [17], "the ends": [0, 40, -(2**31), 2**31 - 1]}[indices]
    module, legal = program("elements", "add"), program("elements", "add")
    legalize(legal, SIMPLE.check)
    arguments = np.ones(41, np.float32), np.resize(np.int32(values), 3000), np.ones(3000, np.float32)
    (found,), (expected,) = evaluate(legal, *arguments), evaluate(module, *arguments)
    np.testing.assert_array_equal(found, expected)


def test_few_updates_and_other_combiners_are_a_loop() -> None:
    difference = program("elements", "add")
    combiner = difference.entry.root.attribute("to_apply")
    combiner.set_root(combiner.add("subtract", *combiner.parameters))
    few = parse_hlo(program("elements", "add").to_text().replace("3000", "30"))
    for module in (difference, few):
        legalize(module, SIMPLE.check)
        assert [i for i in module.entry.instructions if i.opcode == "while"]
