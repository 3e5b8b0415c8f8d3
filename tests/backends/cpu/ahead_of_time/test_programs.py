"""Stored programs of JAX, compiled ahead of time and run on processors of several architectures."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

import xla_core as xla
from tests.backends.cpu.ahead_of_time.emulators import skip_faulty
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine
from tests.programs import PROGRAMS, Program


def _cases() -> list[object]:
    """All programs on all machines. One of about eighty is not slow, another one on each machine."""
    cases = []
    for machine in MACHINES:
        chosen = min(PROGRAMS, key=lambda program: zlib.crc32(f"{machine}/{program}".encode()))
        for program in PROGRAMS:
            marks = [pytest.mark.skipif(bool(machine.missing), reason=f"not installed: {machine.missing}")]
            if program is not chosen:
                marks.append(pytest.mark.slow)
            cases.append(pytest.param(machine, program, id=f"{machine}-{program}", marks=marks))
    return cases


@pytest.mark.parametrize(("machine", "program"), _cases())
def test_results_are_those_of_jax(machine: Machine, program: Program, tmp_path: Path) -> None:
    skip_faulty(machine, program.name)
    program.check(machine.results(xla.parse(program.text), program.inputs(), tmp_path))
