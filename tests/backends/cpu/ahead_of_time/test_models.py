"""Models that JAX exports, compiled ahead of time and run on processors of several architectures."""

from __future__ import annotations

import importlib.util
import zlib
from pathlib import Path

import pytest

import xla_core as xla
from tests.backends.cpu.ahead_of_time.emulators import skip_faulty
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine
from tests.backends.cpu.ahead_of_time.models import NAMES, find


def _cases() -> list[object]:
    """All models on all machines. One is not slow on each machine, another one on each."""
    cases = []
    for machine in MACHINES:
        chosen = min(NAMES, key=lambda name: zlib.crc32(f"{name} on {machine}".encode()))
        for name in NAMES:
            marks = [pytest.mark.skipif(bool(machine.missing), reason=f"not installed: {machine.missing}")]
            if name != chosen:
                marks.append(pytest.mark.slow)
            cases.append(pytest.param(machine, name, id=f"{machine}-{name}", marks=marks))
    return cases


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="not installed: jax")
@pytest.mark.parametrize(("machine", "name"), _cases())
def test_results_are_those_of_jax(machine: Machine, name: str, tmp_path: Path) -> None:
    skip_faulty(machine, name)
    model = find(name)
    model.check(machine.results(xla.parse(model.exported[0]), model.inputs(), tmp_path))
