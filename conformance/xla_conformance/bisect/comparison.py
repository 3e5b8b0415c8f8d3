"""Compares results as `xla run --check` does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_core.cli import comparison
from xla_core.hlo import ElementType, compare_arrays

__all__ = ["first_difference"]


def first_difference(actual: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    """Describes the first result that differs by more than roundings; "" if none does."""
    if len(actual) != len(expected):
        return f"there are {len(actual)} results, {len(expected)} are expected"
    for number, (got, wanted) in enumerate(zip(actual, expected, strict=True)):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return f"result {number} is {got.dtype}{list(got.shape)}, not {wanted.dtype}{list(wanted.shape)}"
        difference = compare_arrays(got, wanted, comparison.tolerance_for(ElementType.from_numpy(wanted.dtype)))
        if not difference.equal:
            return f"result {number}: {difference}"
    return ""
