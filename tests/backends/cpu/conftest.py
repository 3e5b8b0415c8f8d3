from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import xla_core as xla


@pytest.fixture(scope="session")
def client() -> xla.Client:
    return xla.Client("cpu")


@pytest.fixture(scope="session")
def agree(client) -> Callable[..., list[np.ndarray]]:
    """Runs a program on the CPU and on the evaluator, compares, returns the results."""

    def check(program, *inputs, rtol=1e-5, atol=1e-6):
        module = xla.parse(program)
        expected = xla.evaluate(module, *inputs)
        results = [np.asarray(r) for r in client.compile(program)(*inputs)]
        assert len(results) == len(expected)
        for result, reference in zip(results, expected, strict=True):
            assert result.dtype == reference.dtype
            np.testing.assert_allclose(
                result.astype(np.complex128), reference.astype(np.complex128), rtol=rtol, atol=atol
            )
        return results

    return check
