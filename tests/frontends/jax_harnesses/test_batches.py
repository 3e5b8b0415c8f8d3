"""The harness's functions over batches of symbolic size: one program, which is specialized for each size."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from tests.frontends.jax_harnesses.judging import differences
from tests.frontends.jax_harnesses.loading import load_harnesses
from tests.frontends.jax_harnesses.running import Exported, export_batches

SIZES = (2, 3)
GROUPS = 130
"""JAX 0.10 has 127; numbers that a JAX doesn't fill are skipped."""
LEAST = 120
"""Fewer would be a harness that lost its groups."""
SAMPLE = 4
EACH = 3


@pytest.fixture(scope="module")
def groups() -> list[list[Any]]:
    """Some harnesses of every group that have arguments to make batches of, in an order of their own."""
    found: dict[str, list[Any]] = {}
    for harness in sorted(load_harnesses(), key=lambda harness: harness.fullname):
        unstable = harness.group_name == "sort" and not harness.params["is_stable"]
        if harness.filter("cpu") and not unstable and harness.dyn_args_maker(np.random.RandomState(0)):
            found.setdefault(harness.group_name, []).append(harness)
    chosen = random.Random(2)
    made = [chosen.sample(harnesses, min(EACH, len(harnesses))) for _, harnesses in sorted(found.items())]
    chosen.shuffle(made)
    return made


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def check(harness: Any, calls: list[Exported], client: xla.Client) -> None:
    exe = client.compile(calls[0].artifact)
    for call in calls:
        with np.errstate(all="ignore"):
            results = {
                "evaluator": [np.asarray(r) for r in xla.evaluate(call.text, *call.arguments)],
                "cpu": [np.asarray(r) for r in exe(*call.arguments)],
            }
        for name, got in results.items():
            assert not differences(harness, call.arguments, got, call.results), f"{harness}: {name}"
    assert len(exe.signatures()) == len(calls)


@pytest.mark.parametrize("number", [pytest.param(n, marks=[pytest.mark.slow] * (n >= SAMPLE)) for n in range(GROUPS)])
def test_batches(number: int, groups: list[list[Any]], client: xla.Client) -> None:
    assert LEAST <= len(groups) <= GROUPS
    if number >= len(groups):
        pytest.skip(f"this JAX's harness has {len(groups)} groups with arguments")
    refused = []
    for harness in groups[number]:
        try:
            calls = export_batches(harness, SIZES)
        except NotImplementedError as error:  # JAX has no such program of symbolic size
            refused.append(f"{harness}: JAX: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        check(harness, calls, client)
    if len(refused) == len(groups[number]):
        pytest.skip("; ".join(refused))
