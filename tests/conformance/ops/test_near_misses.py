"""What looks like a pattern has other results than the pattern, which a device that takes it for the pattern shows."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops.near_misses import RESEMBLANCES, Resemblance

from xla_core import evaluate
from xla_core.hlo import verify


@pytest.mark.parametrize("resemblance", RESEMBLANCES, ids=lambda resemblance: resemblance.name)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_near_miss_shows_in_the_results(resemblance: Resemblance, seed: int) -> None:
    arguments = resemblance.arguments(seed)
    results = {}
    for instead, module in resemblance.programs().items():
        verify(module)
        results[instead] = [np.asarray(r) for r in evaluate(module, *arguments)]
    pattern = results.pop("")
    assert results
    for instead, other in results.items():
        assert _differ(pattern, other), f"{resemblance.name}, {instead}"


def _differ(results: list[np.ndarray], others: list[np.ndarray]) -> bool:
    if [(r.shape, r.dtype) for r in results] != [(o.shape, o.dtype) for o in others]:
        return True
    return any((np.abs(r - o) > 0.01).mean() > 0.1 for r, o in zip(results, others, strict=True))


def test_the_names_are_distinct() -> None:
    assert len({r.name for r in RESEMBLANCES}) == len(RESEMBLANCES)
