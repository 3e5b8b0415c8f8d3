"""The queue device is a vendor's real backend: it conforms, and the zoo shows that each of its faults is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xla_conformance.levels import conforms
from xla_conformance.results import State
from xla_conformance.runner import Limits, run_suite

import xla_core as xla
from tests.programs import PROGRAMS
from xla_core.cli import main

PROGRAM = """HloModule network

plus {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY main {
  x = f32[3,4] parameter(0)
  w = f32[4,5] parameter(1)
  product = f32[3,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  active = f32[3,5] logistic(product)
  zero = f32[] constant(0)
  sums = f32[5] reduce(active, zero), dimensions={0}, to_apply=plus
  turned = f32[5,3] transpose(active), dimensions={1,0}
  padded = f32[9] pad(sums, zero), padding=1_-1_1
  ROOT r = (f32[5,3], f32[9]) tuple(turned, padded)
}
"""


def test_a_program_runs(queue_device: str) -> None:
    module = xla.parse(PROGRAM)
    random = np.random.default_rng(0)
    arrays = random.random((3, 4), np.float32), random.random((4, 5), np.float32)
    with xla.Client(queue_device) as client:
        for got, wanted in zip(client.compile(module)(*arrays), xla.evaluate(module, *arrays), strict=True):
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "fallback"),
    [
        *((n, "none") for n in ("sorts", "random_floats", "complex_numbers", "fourier", "bits", "bfloat16", "float16")),
        ("float64_and_int64", "host"),
    ],
)
def test_stored_programs_run(queue_device: str, name: str, fallback: str) -> None:
    program = next(p for p in PROGRAMS if p.name == name)
    with xla.Client(queue_device) as client:
        program.check(client.compile(program.text, xla.CompileOptions(fallback=fallback))(*program.inputs()))


@pytest.mark.parametrize("shape", ["s8[3,5]", "u8[5]", "bf16[]", "f16[7,3]", "u16[64]", "s16[0,2]"])
def test_narrow_types_are_words_in_memory(queue_device: str, shape: str) -> None:
    text = f"HloModule m\nENTRY e {{ x = {shape} parameter(0)\n y = {shape} abs(x)\n ROOT t = ({shape}, {shape}) tuple(x, y) }}"
    module = xla.parse(text)
    (given,) = module.parameter_shapes
    x = np.asarray(np.random.default_rng(0).integers(0, 100, given.dimensions)).astype(given.dtype)
    with xla.Client(queue_device) as client:
        executable = client.compile(text)
        for results in (executable(x), executable.execute([client.buffer_from_host(x)])):
            for found in results:
                np.testing.assert_array_equal(np.asarray(found), x)


def test_the_host_runs_what_the_device_does_not(queue_device: str) -> None:
    program = "HloModule m\n\nENTRY main {\n  x = f32[9] parameter(0)\n  ROOT r = f32[9] cbrt(x)\n}\n"
    values = np.linspace(-4, 4, 9, dtype=np.float32)
    with xla.Client(queue_device) as client:
        executable = client.compile(program, xla.CompileOptions(fallback="host"))
        np.testing.assert_allclose(np.asarray(executable(values)[0]), np.cbrt(values), rtol=1e-6)


def test_it_passes(queue_device: str) -> None:
    chosen = "test_loading or test_events or test_transfers or test_streams_failures or test_op[tanh"
    run = run_suite(queue_device, expression=chosen)
    bad = [(r.name, r.message[-300:]) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]
    assert bad == []
    assert run.count(State.PASS)


@pytest.mark.slow
def test_it_conforms(queue_device: str) -> None:
    run = run_suite(queue_device, limits=Limits(test=300, stage=300, total=4 * 3600))
    bad = [(r.name, r.message[-300:]) for r in run.results if r.state not in (State.PASS, State.NOT_SUPPORTED)]
    assert bad == []
    assert conforms(run)


def test_it_says_what_ran_on_the_host(queue_device: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "wide.hlo"
    program.write_text("HloModule m\n\nENTRY main {\n  x = f64[9] parameter(0)\n  ROOT r = f64[9] negate(x)\n}\n")
    assert main(["run", str(program), "--backend", queue_device, "--set", "fallback=host"]) == 0
    assert "warning: 1 of 1 instructions run on the host, in 1 part, and 144 bytes cross" in capfd.readouterr().err
    assert main(["compile", str(program), "--backend", queue_device, "--set", "fallback=host", "-e", "placement"]) == 0
    assert "the device holds no f64" in capfd.readouterr().out
