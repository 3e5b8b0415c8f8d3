"""The state of the process that each test of the suite must leave as it was."""

from __future__ import annotations

import decimal
import gc
import os
import random
from collections.abc import Callable

import numpy as np
import pytest
from xla_conformance.failures import Failure
from xla_conformance.invariants import Invariants
from xla_conformance.programs.alike_names import ALIKE, program_of_names


def _precision(digits: int) -> Callable[[], None]:
    return lambda: setattr(decimal.getcontext(), "prec", digits)


@pytest.mark.parametrize(
    ("change", "undo", "what"),
    [
        (gc.disable, gc.enable, "the garbage collector"),
        (_precision(50), _precision(decimal.getcontext().prec), "decimal's context"),
        (lambda: np.seterr(divide="raise"), lambda: np.seterr(divide="warn"), "numpy's error state"),
        (lambda: os.environ.update(ACME="1"), lambda: os.environ.pop("ACME"), "environment variables .ACME"),
        (random.random, lambda: None, "the state of random"),
        (np.random.random, lambda: None, "the state of numpy.random"),
    ],
)
def test_a_changed_state_fails_the_test(change: Callable[[], object], undo: Callable[[], object], what: str) -> None:
    before = Invariants()
    before.check()
    change()
    try:
        with pytest.raises(Failure, match=what):
            before.check()
    finally:
        undo()


@pytest.mark.parametrize("how", ALIKE)
def test_programs_of_alike_names_have_results_that_differ(how: str) -> None:
    named = program_of_names(how)
    results = named.results(named.arguments(np.random.default_rng(0)))
    assert len({r.tobytes() for r in results}) == len(results)
