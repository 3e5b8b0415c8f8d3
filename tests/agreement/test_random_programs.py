"""Random programs give on a backend what the reference evaluator says, to within bounds known beforehand."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xla_core as xla

from .checking import check, seeded
from .generator import RandomProgram

QUICK = {"cpu": 25, "template": 20}
MANY = {"cpu": 2000, "template": 500}


@pytest.fixture(scope="module", params=["cpu", "template"])
def client(request):
    with xla.Client(request.param) as made:
        yield made


def test_seeded_programs_agree(client):
    for seed in range(QUICK[client.platform_name]):
        check(seeded(seed, 4 + seed % 20), client, seed)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data(), size=st.integers(1, 12))
def test_programs_that_hypothesis_can_shrink_agree(shared, data, size):
    rng = data.draw(st.randoms(use_true_random=False))
    check(RandomProgram(rng, size), shared)


@pytest.fixture(scope="module")
def shared():
    with xla.Client("cpu") as made:
        yield made


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(10))
def test_many_programs_agree(client, block):
    count = MANY[client.platform_name] // 10
    for seed in range(1000 + block * count, 1000 + (block + 1) * count):
        check(seeded(seed), client, seed)


def test_bounds_are_not_empty_promises():
    """Most results are exact, some are not, and none may be anything."""
    results = [v for seed in range(60) for v in RandomProgram(random.Random(seed), 20).results]
    exact = sum(v.is_exact for v in results)
    assert 0.4 * len(results) < exact < len(results)
    assert all(v.error <= 0.1 * max(v.bound, 1) + 1 for v in results)
