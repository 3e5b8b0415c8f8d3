"""Tests of the native function of a module. A long computation is split into functions of bounded length."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
import xla_backend_cpu

import xla_core as xla
from xla_core.errors import XlaError

LENGTH = 700
X = np.arange(8, dtype=np.float32)


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def test_a_program_writes_every_one_of_many_results(client):
    shapes, values = ", ".join(["f32[8]"] * LENGTH), ", ".join(["y"] * LENGTH)
    text = "HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] negate(x)\n"
    executable = client.compile(f"{text}  ROOT r = ({shapes}) tuple({values})\n}}\n")
    results = [np.asarray(r) for r in executable(X)]
    assert len(results) == LENGTH
    assert all((r == -X).all() for r in results)


def test_a_failure_within_a_long_computation_ends_the_run(client):
    target, calls = f"test.{uuid.uuid4().hex}", []

    def function(call):
        calls.append(call)
        if len(calls) == 400:
            raise RuntimeError("the 400th call fails")
        call.results[0][...] = call.operands[0] + 1

    xla_backend_cpu.register_custom_call(target, function)
    lines = ["HloModule m", "", "ENTRY e {", "  v0 = f32[8] parameter(0)"]
    for i in range(1, LENGTH):
        lines.append(f'  v{i} = f32[8] custom-call(v{i - 1}), custom_call_target="{target}"')
    executable = client.compile("\n".join([*lines, f"  ROOT r = f32[8] negate(v{LENGTH - 1})", "}", ""]))
    with pytest.raises(XlaError, match="the 400th call fails"):
        np.asarray(executable(X))
    assert len(calls) == 400
    assert (np.asarray(executable(X)) == -(X + LENGTH - 1)).all()
