"""A sample of JAX's own tests on the CPU backend."""

from __future__ import annotations

import dataclasses

import pytest

from tests.xla_core.pjrt.jax_suite.comparison import known_cause
from tests.xla_core.pjrt.jax_suite.running import run_file
from tests.xla_core.pjrt.jax_suite.selection import FILES, REASON, file_of_tests, tests_folder

_SHARE = 0.02
_SEED = 13


@pytest.mark.skipif(tests_folder() is None, reason=REASON)
@pytest.mark.parametrize("name", FILES)
def test_jax_tests_pass_as_on_jax_cpu(name: str) -> None:
    folder = tests_folder()
    assert folder is not None
    file, selection = file_of_tests(folder, name), dataclasses.replace(FILES[name], share=_SHARE, seed=_SEED)
    ours = run_file(file, "xla_cpu", selection)
    failures = {test: outcome for test, outcome in ours.items() if outcome.is_failure and known_cause(test) is None}
    if failures:
        reference = run_file(file, "cpu", selection, only=failures)
        failures = {test: outcome for test, outcome in failures.items() if not reference[test].is_failure}
    assert failures == {}
