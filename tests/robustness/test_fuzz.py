"""Mutants of real programs, read, verified and compiled: see fuzz.py."""

from __future__ import annotations

import pytest

import xla_core as xla

from .fuzz import mutant, run_cases

START, QUICK, MANY, BLOCKS = 0, 150, 10_000, 10


def check(seeds, seconds):
    outcomes = list(run_cases(seeds, seconds=seconds))
    failures = [o for o in outcomes if o.verdict == "FAILED"]
    shown = "\n".join(f"seed {o.seed} ({mutant(o.seed)[0]}): {o.detail}" for o in failures[:3])
    assert not failures, (
        f"{len(failures)} failures; `python -m tests.robustness.fuzz --show SEED` prints a text\n{shown}"
    )
    return outcomes


@pytest.mark.timeout(300)
def test_some_mutants():
    outcomes = check(range(START, START + QUICK), 60)
    verdicts = {o.verdict for o in outcomes}
    assert {"module", "INVALID_ARGUMENT"} <= verdicts
    assert len(outcomes) == QUICK


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_ten_thousand_mutants(block):
    size = MANY // BLOCKS
    check(range(1000 + block * size, 1000 + (block + 1) * size), 120)


def test_seeds_are_the_same_everywhere():
    assert mutant(7) == mutant(7)
    assert len({mutant(seed)[1] for seed in range(30)}) > 25


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def test_temporaries_whose_offsets_pass_64_bits(client):
    """Buffer assignment added up offsets that no machine has."""
    size = f"f32[{2**40},{2**21}]"
    text = f"""HloModule m
lt {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }}
ENTRY e {{
  x = {size} iota(), iota_dimension=0
  y = {size} sort(x), dimensions={{0}}, to_apply=lt
  ROOT z = f32[1,1] slice(y), slice={{[5:6], [0:1]}}
}}
"""
    with pytest.raises(xla.ResourceExhaustedError, match="more memory than 64 bits can address"):
        client.compile(text)
