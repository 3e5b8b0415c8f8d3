"""Programs with effects at each place are valid, and one effect more or less shows."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from xla_conformance.programs.effects import EFFECTS, with_effects

from xla_core import evaluate
from xla_core.hlo import Environment, parse_hlo, verify


def _feed(fed: list[int]) -> np.ndarray:
    fed.append(7)
    return np.array(7, np.int32)


def _effects(kind: str, x: int) -> list[int]:
    fed: list[int] = []
    environment = Environment(next_infeed=functools.partial(_feed, fed))
    module = parse_hlo(with_effects(kind))
    verify(module)
    evaluate(module, np.int32(x), environment=environment)
    return fed + [int(np.asarray(value)) for value in environment.outfeed]


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.parametrize(("x", "count"), [(-2, 120), (1, 57), (5, 24)])
def test_loops_and_branches_run_effects_many_times_or_not_at_all(kind: str, x: int, count: int) -> None:
    assert len(_effects(kind, x)) == count


def test_each_place_is_reached() -> None:
    reached = {round(n, -3) for x in (-2, 1) for n in _effects("outfeed", x)}
    assert len(reached) == with_effects("outfeed").count(" outfeed(")
