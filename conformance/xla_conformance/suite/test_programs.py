"""Whole programs as a framework exports them: training steps, networks, control flow."""

from __future__ import annotations

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.programs import PROGRAMS, Program
from xla_core import Client, CompileOptions, evaluate, parse
from xla_core.hlo import Tolerance
from xla_core.target import TargetConfig


@pytest.mark.promise("executable.run", "compiler.run-backend")
@pytest.mark.parametrize(
    "program", [pytest.param(p, id=p.name, marks=pytest.mark.profile(p.profile)) for p in PROGRAMS]
)
def test_program(client: Client, program: Program, seed: int) -> None:
    module = parse(program.text, file=program.name)
    arguments = program.arguments(seed)
    expected = [np.asarray(r) for r in evaluate(module, *arguments)]
    within = Tolerance(rtol=program.rtol, atol=program.atol)
    require_bits(
        "A whole program gives its results.",
        [np.asarray(r) for r in client.compile(module)(*arguments)],
        expected,
        module=program.text,
        arguments=arguments,
        tolerances=[None if e.dtype.kind in "biu" else within for e in expected],
        promise="executable.run",
    )


@pytest.mark.promise("executable.equal-runs")
@pytest.mark.parametrize("name", ["mlp_sgd_step", "rnn_scan"])
def test_programs_run_many_times(client: Client, target: TargetConfig, name: str) -> None:
    """The arguments stay on the device. Each result equals the first."""
    program = next(p for p in PROGRAMS if p.name == name)
    executable = client.compile(parse(program.text), CompileOptions(donate=()))
    arguments = program.arguments()
    buffers = [client.buffer_from_host(a) for a in arguments]
    runs = [executable.execute(buffers) for _ in range(21)]
    first, *others = ([np.asarray(r) for r in results] for results in runs)
    sentence = "Runs on equal arguments give equal bits, unless the target declares `reorders_sums`."
    within = Tolerance(rtol=program.rtol, atol=program.atol)
    tolerances = [None if e.dtype.kind in "biu" else within for e in first] if target.reorders_sums else []
    for found in others:
        require_bits(
            sentence,
            found,
            first,
            module=program.text,
            arguments=arguments,
            tolerances=tolerances,
            promise="executable.equal-runs",
        )
