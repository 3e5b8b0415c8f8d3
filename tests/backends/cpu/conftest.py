from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import xla_core as xla
from tests.roundings import assert_within


@pytest.fixture(scope="session")
def client() -> xla.Client:
    return xla.Client("cpu")


@pytest.fixture(scope="session")
def agree(client) -> Callable[..., list[np.ndarray]]:
    """Runs a program on the CPU and on the evaluator, compares, returns the results."""

    def check(program, *inputs, roundings=8):
        expected = xla.evaluate(xla.parse(program), *inputs)
        results = [np.asarray(r) for r in client.compile(program)(*inputs)]
        for result, reference in zip(results, expected, strict=True):
            assert_within(roundings, result, reference)
        return results

    return check
