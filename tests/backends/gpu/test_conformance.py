"""A seeded selection of the conformance suite on the backend. `make test-gpu` runs the whole suite."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_conformance.results import State, group_of
from xla_conformance.runner import collect_tests, run_suite

GROUPS = {"loading", "transfers", "streams", "events", "executables", "ops", "programs"}
"""Tests of the other groups fill the device, start processes or compile every op."""

SMALL = 33
"""The largest size of a dimension for the checked engine, which interprets every instruction."""

WHOLE = "all_bits"
"""In the name of a test with every value of a narrow type, whose arrays are larger than its sizes say."""

SERIAL = ("fft", "sort", "scatter", "cholesky", "triangular-solve", "rng")
"""Ops of which one thread does the work of a row, or whose tests have many rows; too slow for the checked engine."""


@pytest.fixture(scope="module")
def tests() -> list[str]:
    here = (id for id in collect_tests("quick", 0) if "another_process" not in id)
    found = sorted(id for id in here if group_of(id.partition("::")[0]) in GROUPS)
    random.Random(7).shuffle(found)
    return found


def is_small(test: str) -> bool:
    sizes = re.findall(r"-size\.(\d+)-", test)
    is_one_row = any(f"[{op}" in test for op in SERIAL)
    return bool(sizes) and int(sizes[0]) <= SMALL and WHOLE not in test and not is_one_row


@pytest.mark.parametrize(("engine", "count"), [("fast", 20), ("checked", 10)])
def test_a_selection_of_the_suite(tests: list[str], engine: str, count: int, tmp_path: Path) -> None:
    chosen = [test for test in tests if engine == "fast" or is_small(test)][:count]
    run = run_suite("gpu", only=set(chosen), settings=[f"engine={engine}"], artifacts=tmp_path)
    assert not run.wrong, "\n".join(f"{result.id}: {result.message}" for result in run.wrong)
    assert not run.problem
    assert run.count(State.PASS) > 0.8 * count
    assert run.environment["settings"] == [f"engine={engine}"]
