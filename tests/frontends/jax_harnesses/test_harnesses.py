"""JAX's primitive harness: the evaluator runs the text that JAX lowers to, the CPU backend the artifact it exports."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from tests.frontends.jax_harnesses.judging import differences
from tests.frontends.jax_harnesses.loading import load_harnesses
from tests.frontends.jax_harnesses.running import export

SAMPLE = 60
CHUNK = 50
CHUNKS = 152
"""Of `CHUNK` harnesses each: JAX 0.10 has 7414 that its CPU implements; chunks that a JAX doesn't fill are skipped."""


@pytest.fixture(scope="module")
def harnesses() -> list[Any]:
    """Returns the harnesses in a fixed order, because JAX makes them in the order of sets."""
    made = sorted(load_harnesses(), key=lambda harness: harness.fullname)
    chosen = [harness for harness in made if harness.filter("cpu")]
    random.Random(1).shuffle(chosen)
    return chosen


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def failures(harness: Any, client: xla.Client) -> list[str]:
    program = export(harness)
    runs = {
        "evaluator": lambda: xla.evaluate(program.text, *program.arguments),
        "cpu": lambda: client.compile(program.artifact or program.text)(*program.arguments),
    }
    found = []
    for name, run in runs.items():
        try:
            with np.errstate(all="ignore"):
                got = [np.asarray(result) for result in run()]
        except xla.XlaError as error:
            found.append(f"{harness}: {name}: {error}")
            continue
        wrong = differences(harness, program.arguments, got, program.results)
        found += [f"{harness}: {name}: {text}" for text in wrong]
    return found


@pytest.mark.parametrize("number", range(SAMPLE))
def test_a_sample(number: int, harnesses: list[Any], client: xla.Client) -> None:
    found = failures(harnesses[number], client)
    assert not found, "\n".join(found)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_all(chunk: int, harnesses: list[Any], client: xla.Client) -> None:
    mine = harnesses[chunk * CHUNK : (chunk + 1) * CHUNK]
    if not mine:
        pytest.skip(f"this JAX has {len(harnesses)} harnesses")
    found = [text for harness in mine for text in failures(harness, client)]
    assert not found, "\n".join(found)


def test_no_harness_is_left_out(harnesses: list[Any]) -> None:
    assert SAMPLE < len(harnesses) <= CHUNK * CHUNKS
