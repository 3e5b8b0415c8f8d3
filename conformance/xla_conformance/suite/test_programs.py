"""Whole programs as a framework exports them: training steps, networks, control flow."""

from __future__ import annotations

import numpy as np
import pytest

from xla_conformance.programs import PROGRAMS, Program
from xla_core import Client, CompileOptions, evaluate, parse
from xla_core.hlo import Tolerance, compare_arrays


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_program(client: Client, program: Program) -> None:
    module = parse(program.text, file=program.name)
    arguments = program.arguments()
    results = [np.asarray(r) for r in client.compile(module)(*arguments)]
    expected = evaluate(module, *arguments)
    assert len(results) == len(expected)
    for number, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
        tolerance = Tolerance(rtol=program.rtol, atol=program.atol) if wanted.dtype.kind not in "biu" else None
        difference = compare_arrays(actual, wanted, tolerance)
        assert difference.equal, f"result {number}: {difference}"


@pytest.mark.parametrize("name", ["mlp_sgd_step", "rnn_scan"])
def test_programs_run_many_times(client: Client, name: str) -> None:
    """The arguments stay on the device. The last result equals the first."""
    program = next(p for p in PROGRAMS if p.name == name)
    executable = client.compile(parse(program.text), CompileOptions(donate=()))
    buffers = [client.buffer_from_host(a) for a in program.arguments()]
    first = [np.asarray(r).tobytes() for r in executable.execute(buffers)]
    for _ in range(20):
        last = executable.execute(buffers)
    assert [np.asarray(r).tobytes() for r in last] == first
