"""What looks like a pattern has other results than the pattern, which a device that takes it for the pattern shows."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops.near_misses import RESEMBLANCES, Resemblance
from xla_conformance.ops.variations import variations

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


@pytest.mark.parametrize("resemblance", RESEMBLANCES, ids=lambda resemblance: resemblance.name)
def test_a_variation_has_the_shapes_of_the_pattern(resemblance: Resemblance) -> None:
    pattern = resemblance.programs()[""]
    for instead, module in variations(pattern).items():
        verify(module)
        assert module.result_shape == pattern.result_shape, instead
        assert module.to_text() != pattern.to_text(), instead


def test_each_part_of_a_pattern_varies() -> None:
    pattern = next(r for r in RESEMBLANCES if r.name == "softmax").programs()[""]
    said = {name.partition(" in ")[0] for name in variations(pattern)}
    assert {one for one in said if not one.startswith("operand ")} == {"the other dimension", "exchanged operands"}
    pattern = next(r for r in RESEMBLANCES if r.name == "logistic").programs()[""]
    assert "another number" in {name.partition(" in ")[0] for name in variations(pattern)}


def test_each_use_of_a_value_that_is_used_twice_varies() -> None:
    """As in x * logistic(1.75 x), which a pass may take for x * logistic(x)."""
    resemblance = next(r for r in RESEMBLANCES if r.name == "silu")
    arguments = resemblance.arguments(0)
    pattern = resemblance.programs()[""]
    made = variations(pattern)
    changes = ("times a number", "plus a number", "negated", "turned")
    uses = ("operand 0 {} in logistic", "operand 0 {} in multiply")
    assert set(made) == {use.format(change) for use in uses for change in changes}
    expected = [np.asarray(r) for r in evaluate(pattern, *arguments)]
    for instead, module in made.items():
        assert _differ(expected, [np.asarray(r) for r in evaluate(module, *arguments)]), instead


def test_the_names_are_distinct() -> None:
    assert len({r.name for r in RESEMBLANCES}) == len(RESEMBLANCES)
