"""Cases of gather and scatter keep the promises that their attributes make of the indices."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops import OpCase, generate

from xla_core.hlo import HloInstruction, Opcode

MAPS = {Opcode.GATHER: "start_index_map", Opcode.SCATTER: "scatter_dims_to_operand_dims"}


@pytest.fixture(scope="module")
def cases() -> list[OpCase]:
    return [case for case in generate() if case.opcode in MAPS]


def main(case: OpCase) -> HloInstruction:
    return next(i for i in case.module().entry.instructions if i.opcode == case.opcode)


def rows(case: OpCase) -> np.ndarray:
    """The start indices, a row each, with a column for each mapped dimension in the operand's order."""
    instruction = main(case)
    mapped, vector = instruction.attribute(MAPS[case.opcode]), instruction.attribute("index_vector_dim")
    number = 1 if case.opcode is Opcode.GATHER else len(instruction.operands) // 2
    values = case.arguments()[instruction.operand(number).parameter_number]
    if vector == values.ndim:
        values = values[..., None]
    table = np.moveaxis(values, vector, -1).reshape(-1, len(mapped))
    return table[:, np.argsort(mapped)]


@pytest.mark.parametrize("opcode", MAPS)
def test_sorted_and_unique_indices_are_so(cases: list[OpCase], opcode: Opcode) -> None:
    promised = set()
    for case in cases:
        attributes = main(case).attributes
        is_sorted, is_unique = attributes.get("indices_are_sorted", False), attributes.get("unique_indices", False)
        if case.opcode != opcode or not (is_sorted or is_unique):
            continue
        promised.add((is_sorted, is_unique))
        found = [tuple(row) for row in rows(case).tolist()]
        assert not is_sorted or found == sorted(found), case.name
        assert not is_unique or len(set(found)) == len(found), case.name
    assert (True, False) in promised
    assert opcode is Opcode.GATHER or {(False, True), (True, True)} <= promised


def test_sorted_indices_are_behind_each_dimension(cases: list[OpCase]) -> None:
    """Also between others that are inside: a kernel may look at the first and the last one alone."""
    behind = set()
    for case in cases:
        instruction = main(case)
        if case.opcode is not Opcode.GATHER or not instruction.attribute("indices_are_sorted"):
            continue
        sizes = [instruction.operand(0).shape.dimensions[d] for d in sorted(instruction.attribute("start_index_map"))]
        outside = rows(case)[1:-1] >= np.array(sizes)
        behind |= {(len(sizes), column) for column in range(len(sizes)) if outside[:, column].any()}
    assert {(2, 1), (3, 1), (3, 2)} <= behind
