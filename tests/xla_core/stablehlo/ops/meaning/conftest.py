"""The meanings of ops by numpy, ml_dtypes, scipy and JAX, checked on the evaluator and on two backends."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xla_core as xla

Run = Callable[..., list[np.ndarray]]
SHARE = 12
"""Of so many tests one runs by default, chosen by its name; the rest are slow."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and zlib.crc32(item.name.encode()) % SHARE:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def clients() -> Iterator[dict[str, xla.Client]]:
    made = {name: xla.Client(name) for name in ("cpu", "template")}
    yield made
    for client in made.values():
        client.close()


def running(name: str, clients: dict[str, xla.Client]) -> Run:
    def on(text: str, *arrays: Any) -> list[np.ndarray]:
        if name == "evaluator":
            with np.errstate(all="ignore"):
                return [np.asarray(r) for r in xla.evaluate(xla.parse(text), *arrays)]
        return [np.asarray(r) for r in clients[name].compile(text)(*arrays)]

    return on


@pytest.fixture(params=["evaluator", "cpu", pytest.param("template", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest, clients: dict[str, xla.Client]) -> Run:
    """`run(text, *arrays)`: the results of a StableHLO program, on each of the three in turn."""
    return running(request.param, clients)


@pytest.fixture(params=["evaluator", "cpu"])
def run_collective(request: pytest.FixtureRequest, clients: dict[str, xla.Client]) -> Run:
    """As `run`, on those that have collectives."""
    return running(request.param, clients)
