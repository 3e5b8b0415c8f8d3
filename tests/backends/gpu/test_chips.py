"""Programs are planned for a chip: the device's own figures, or those of a chip that is named."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.chips import CHIPS, DEFAULT, chip_like
from xla_backend_gpu.compiler import GpuCompiler
from xla_backend_gpu.emulator import Counters
from xla_backend_gpu.estimates import estimated_seconds
from xla_backend_gpu.processors import PROCESSORS

import xla_core as xla
from tests.backends.gpu.cuda_stub import Run, result

SUM = """HloModule sum
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4194304] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add
}
"""
NEGATE = "HloModule m\n\nENTRY e {\n  x = f32[4194304] parameter(0)\n  ROOT y = f32[4194304] negate(x)\n}\n"


def launches(executable: xla.LoadedExecutable) -> list[dict[str, int]]:
    data = json.loads(executable.executable.serialize())
    return [launch for phases in data["launches"].values() for launch in phases]


@pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)
def test_the_figures_of_a_chip(chip) -> None:
    model = GpuCompiler(chip=chip).target_config.parallel
    assert chip.processor in PROCESSORS
    assert chip.multiprocessors / 1.5 < model.blocks_at_once < chip.multiprocessors * 1.5
    assert model.units & (model.units - 1) == 0
    assert model.resident_threads == chip.multiprocessors * chip.threads
    assert chip.product_operations("f64", 8) < chip.product_operations("f32", 4) * 3
    assert chip.product_operations("f32", 4) < chip.product_operations("f32", 2) < chip.product_operations("f32", 1)


def test_memory_costs_more_where_it_is_slow_beside_the_arithmetic() -> None:
    bytes_ = {name: GpuCompiler(chip=chip).target_config.fusion.costs.byte for name, chip in CHIPS.items()}
    assert bytes_["b200"] < bytes_["h100"] < bytes_["t4"] < bytes_["l4"]


def test_a_sum_is_divided_for_the_chip(client: xla.Client) -> None:
    found = {}
    for name in ("t4", "h100"):
        executable = client.compile(SUM, xla.CompileOptions(backend={"chip": name}))
        found[name] = launches(executable)[0]["blocks"]
        x = np.arange(4194304, dtype=np.float32) % 8
        assert float(np.asarray(executable(x)[0])) == x.sum()
    assert found["t4"] < found["h100"]


def test_no_more_threads_are_launched_than_the_chip_runs(client: xla.Client) -> None:
    for name in ("t4", "h100"):
        (launch,) = launches(client.compile(NEGATE, xla.CompileOptions(backend={"chip": name})))
        assert launch["blocks"] * launch["threads"] <= CHIPS[name].resident_threads


@pytest.mark.parametrize(
    ("options", "processor"),
    [({}, "sm_90"), ({"chip": "t4"}, "sm_75"), ({"chip": "t4", "sm": "sm_90"}, "sm_90"), ({"sm": "sm_80"}, "sm_80")],
)
def test_a_chip_s_processor_is_the_default(options: dict[str, str], processor: str) -> None:
    executable = GpuCompiler().compile(xla.parse(NEGATE), xla.CompileOptions(backend=options))
    assert re.search(r"\.target (\w+)", str(executable.artifacts()["ptx"]))[1] == processor


def test_an_unknown_chip_is_refused_with_the_known_ones(client: xla.Client) -> None:
    with pytest.raises(xla.InvalidArgumentError, match="h200"):
        client.compile(NEGATE, xla.CompileOptions(backend={"chip": "h300"}))


def test_a_program_for_another_chip_of_the_processor_is_loaded() -> None:
    """Its PTX runs there."""
    ours, theirs = GpuCompiler(), GpuCompiler(chip=CHIPS["h200"])
    assert ours.target_config.fingerprint() == theirs.target_config.fingerprint()
    assert ours.target_config.fingerprint() != GpuCompiler(chip=CHIPS["t4"]).target_config.fingerprint()


def test_estimates_are_those_of_the_chip() -> None:
    counters = Counters(launches=1, blocks=1000, threads=256000, touched_sectors=1 << 20)
    slow, fast = (estimated_seconds(counters, CHIPS[name]) for name in ("t4", "h100"))
    assert 5 < (slow - 2e-6) / (fast - 2e-6) < 20


@pytest.mark.parametrize(
    ("processor", "name"), [("sm_75", "t4"), ("sm_87", "a10"), ("sm_90a", "h100"), ("sm_103", "b200"), ("sm_70", "t4")]
)
def test_a_chip_is_like_one_of_the_newest_processor_that_is_not_newer(processor: str, name: str) -> None:
    assert chip_like(processor).name == name


FIGURES = """
import dataclasses, json
from tests.backends.gpu.cuda_stub.state import ATTRIBUTES
from xla_backend_gpu.cuda_calls import chip_of
from xla_backend_gpu.platform import GpuPlatform
ATTRIBUTES.update({changed})
compiler = GpuPlatform().create_compiler()
target = compiler.target_config
print(json.dumps([dataclasses.asdict(chip_of(0)), target.parallel.resident_threads, target.fusion.costs.byte]))
"""
CLOCK, IS_INTEGRATED, MEMORY_CLOCK = 13, 18, 36


@pytest.mark.parametrize(
    ("changed", "clock", "bandwidth", "cost"),
    [
        ({}, 1e9, DEFAULT.memory_bandwidth, 4),
        ({CLOCK: 0, MEMORY_CLOCK: 0}, DEFAULT.clock_hz, DEFAULT.memory_bandwidth, 8),
        ({MEMORY_CLOCK: 0, IS_INTEGRATED: 1}, 1e9, 250e9, 64),
    ],
    ids=["all", "without rates", "of a chip with the host's memory"],
)
def test_a_device_s_attributes_are_its_chip(
    run: Run, changed: dict[int, int], clock: float, bandwidth: float, cost: float
) -> None:
    pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")
    found, resident, byte = result(run("", sys.executable, "-c", FIGURES.replace("{changed}", str(changed))))
    assert (found["processor"], found["multiprocessors"], resident) == ("sm_90", 132, DEFAULT.resident_threads)
    assert (found["clock_hz"], byte) == (clock, cost)
    assert found["memory_bandwidth"] == pytest.approx(bandwidth, rel=0.01)
