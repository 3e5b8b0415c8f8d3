"""What is drawn for an op's cases: threes of things meet more often than by chance."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from xla_conformance.ops import draws
from xla_conformance.ops.draws import Draws

from xla_core.hlo import Opcode


def _threes(opcode: Opcode, count: int) -> set[Hashable]:
    made = Draws(opcode, 3)
    return {three for number in range(count) for three in made[number].threes()}


@pytest.mark.parametrize("opcode", [Opcode.PAD, Opcode.GATHER, Opcode.REDUCE])
def test_more_threes_meet_than_by_chance(opcode: Opcode, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = _threes(opcode, 512)
    monkeypatch.setattr(draws, "_CANDIDATES", 1)
    assert len(chosen) > 1.12 * len(_threes(opcode, 512))


def test_draws_depend_on_the_seed_and_the_number_alone() -> None:
    made, again, other = Draws(Opcode.PAD, 0), Draws(Opcode.PAD, 0), Draws(Opcode.PAD, 1)
    assert str(made[40].choice) == str([again[n] for n in range(41)][40].choice)
    assert [str(made[n].choice) for n in range(9)] != [str(other[n].choice) for n in range(9)]
