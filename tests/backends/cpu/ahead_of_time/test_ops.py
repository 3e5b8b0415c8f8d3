"""One case of each op of the conformance suite, compiled ahead of time and run on other processors."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from xla_conformance.ops.cases import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.ops.domains import DOMAINS

from tests.backends.cpu.ahead_of_time.emulators import skip_faulty
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine
from xla_core.errors import UnimplementedError


def _case(machine: Machine, opcode: str) -> OpCase | None:
    """A case of an op: another one on each machine."""
    cases = [case for case in generate(opcodes=[opcode]) if not case.has_denormal_products]
    return min(cases, key=lambda case: zlib.crc32(f"{machine}/{case.name}".encode()), default=None)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("opcode", DOMAINS)
def test_results_are_within_the_bounds_of_the_evaluator(machine: Machine, opcode: str, tmp_path: Path) -> None:
    if machine.missing:
        pytest.skip(f"not installed: {machine.missing}")
    skip_faulty(machine, opcode)
    case = _case(machine, opcode)
    if case is None:
        pytest.skip("every case has denormal products")
    try:
        results = machine.results(case.module(), case.arguments(), tmp_path)
    except UnimplementedError as error:
        pytest.skip(error.message)
    check(f"{case.name} on {machine}.", results, case.expected(), module=case.module(), arguments=case.arguments())
