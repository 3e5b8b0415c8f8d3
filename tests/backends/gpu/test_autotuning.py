"""Plans of kernels by the counts of the emulated device."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.autotuning import seconds_of
from xla_backend_gpu.chips import DEFAULT
from xla_backend_gpu.counting import counted
from xla_backend_gpu.emulator import Counters, EmulatorFault
from xla_backend_gpu.estimates import estimated_seconds

import xla_core as xla

ROWS = """HloModule rows
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4,96] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[4] reduce(x, z), dimensions={1}, to_apply=add
}
"""


def compiled(client: xla.Client, path: Path) -> xla.LoadedExecutable:
    options = xla.CompileOptions(backend={"autotune": True, "autotune_cache": str(path)}, keep_artifacts=True)
    return client.compile(ROWS, options)


def test_a_program_is_tuned_once_and_stays_right(client: xla.Client, tmp_path: Path) -> None:
    path = tmp_path / "plans.json"
    with counted(client) as first:
        executable = compiled(client, path)
    assert first.counters.launches > 1
    with counted(client) as second:
        again = compiled(client, path)
    assert second.counters.launches == 0
    assert again.artifacts()["plan"] == executable.artifacts()["plan"]
    x = np.random.default_rng(0).integers(-9, 9, (4, 96)).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(executable(x)[0]), x.sum(1))
    choices = list(json.loads(path.read_text()).values())
    assert len(choices) == 1
    assert ("kernel_plan" in executable.as_text()) == bool(choices[0])


def test_a_kernel_that_fails_has_no_time(lost_client: xla.Client) -> None:
    executable = lost_client.compile(ROWS, xla.CompileOptions(backend={"engine": "checked"}))._executable
    (kernel,) = executable.kernels()
    too_small = dataclasses.replace(kernel, operands=kernel.results)
    with pytest.raises(EmulatorFault, match="out-of-bounds"):
        seconds_of(lost_client.devices[0].executor, DEFAULT, [too_small])


@pytest.mark.parametrize("level", [0, 2])
def test_the_plan_of_a_program_s_text_is_used(client: xla.Client, level: int) -> None:
    chosen = ROWS.replace("to_apply=add\n}", 'to_apply=add, backend_config={"kernel_plan":{"threads":32}}\n}')
    options = xla.CompileOptions(keep_artifacts=True, optimization_level=level)
    texts = [text.replace("[4,96]", "[4,1024]") for text in (ROWS, chosen)]
    plans = [str(client.compile(text, options).artifacts()["plan"]) for text in texts]
    assert ["units of 32 threads" in plan for plan in plans] == [False, True]


@pytest.mark.parametrize(
    "more",
    [
        {"touched_sectors": 1 << 30},
        {"global_sectors": 1 << 30},
        {"warp_instructions": 1 << 30},
        {"local_bytes": 1 << 36},
        {"shared_bank_conflicts": 1 << 30},
        {"instructions": 1 << 36},
        {"launches": 100},
    ],
)
def test_more_work_is_estimated_to_take_longer(more: dict[str, int]) -> None:
    base = Counters(launches=1, blocks=132, threads=132 * 128, instructions=1 << 20, warp_instructions=1 << 15)
    assert estimated_seconds(base + Counters(**more), DEFAULT) > estimated_seconds(base, DEFAULT)
