"""Cases of linear algebra have each combination of an op's flags, in real and in complex types."""

from __future__ import annotations

import pytest
from xla_conformance.ops.cases import generate

from xla_core.hlo import Opcode

_FLAGS = ("left_side", "lower", "unit_diagonal", "transpose_a")


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_triangular_solves_have_each_combination_of_flags(seed: int, is_complex: bool) -> None:
    found = set()
    for case in generate(seed=seed, opcodes=[Opcode.TRIANGULAR_SOLVE]):
        (solve,) = (i for i in case.program.module.entry.instructions if i.opcode is Opcode.TRIANGULAR_SOLVE)
        shows = solve.shape.num_elements and solve.operand(0).shape.dimensions[-1] > 1
        if shows and case.element_type.is_complex == is_complex:
            found.add(tuple(solve.attribute(name) for name in _FLAGS))
    assert len(found) == 24
