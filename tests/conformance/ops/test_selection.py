"""The choices of the quick profile: what is left out has nothing that the others lack."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from xla_conformance.ops import generate
from xla_conformance.ops.choices import Choice, Group, has
from xla_conformance.ops.selection import Selection

from xla_core.hlo import ElementType, Opcode

F32, S32, S4 = ElementType.F32, ElementType.S32, ElementType.S4
AXES = {"type": (Group(F32), Group(S32), Group(S4)), "a": range(6), "b": range(5), "c": range(3), "size": (0, 7, 65)}
WANTED = [{"size": (7,), "a": (a,), "c": (0,)} for a in range(6)]


def _shown(choice: Choice) -> frozenset[Hashable]:
    if not choice.size:
        return frozenset({("elements", "0")})
    return frozenset({("size", choice.size), ("sum", choice.a + choice.b)})


def _parts(choices: Sequence[Choice]) -> set[Hashable]:
    """What the choices have, but for types that are not usual."""
    found: set[Hashable] = set()
    for choice in choices:
        values = [(axis, value) for axis, value in choice.values.items() if axis != "type"]
        together = {*itertools.combinations(values, 2), *(n for n, one in enumerate(WANTED) if has(choice, one))}
        found |= together
        if choice.size:
            found |= {("shown", one) for one in together}
        found |= {choice.type, (choice.type, choice.size == 0)}
        if choice.type is not S4:
            found |= {(choice.type, one, choice.size == 0) for one in (*_shown(choice), *values)}
    return found


@pytest.mark.parametrize("seed", range(3))
def test_what_is_left_out_has_nothing_that_others_lack(seed: int) -> None:
    selection = Selection(AXES, WANTED, (), _shown, np.random.default_rng(seed))
    for element_type in (F32, S32):
        selection.add_values(element_type)
    selection.add_wanted(itertools.cycle([S4, F32]))
    selection.add_features([F32, S32], [])
    before = selection.choices
    selection.leave_out_repeated([F32, S32])
    kept = selection.choices
    assert len(kept) < len(before)
    assert all(choice in before for choice in kept)
    assert _parts(kept) == _parts(before)
    assert all(_parts([c for c in kept if c is not choice]) != _parts(kept) for choice in kept)


@pytest.mark.parametrize("opcode", [Opcode.DYNAMIC_SLICE, Opcode.SLICE, Opcode.GATHER, Opcode.PAD])
def test_each_type_has_a_case_with_elements(opcode: Opcode) -> None:
    found: dict[ElementType, int] = {}
    for case in generate(opcodes=[opcode]):
        elements = sum(leaf.num_elements for leaf in case.module().result_shape.leaves())
        found[case.element_type] = max(elements, found.get(case.element_type, 0))
    assert [element_type for element_type, elements in found.items() if not elements] == []
