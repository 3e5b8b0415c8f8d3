"""Reductions whose blocks combine their parts by atomics, as `deterministic=False` allows."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted
from xla_backend_gpu.ptxas import assemble, find_ptxas

import xla_core as xla

ENGINES = ["fast", "checked"]


def _program(type_: str, op: str, dims: str, result: str, init: str = "2") -> str:
    return f"""HloModule m
op {{
  a = {type_}[] parameter(0)
  b = {type_}[] parameter(1)
  ROOT c = {type_}[] {op}(a, b)
}}
ENTRY e {{
  x = {type_}[{dims}] parameter(0)
  y = {type_}[{dims}] add(x, x)
  init = {type_}[] constant({init})
  ROOT r = {type_}[{result}] reduce(y, init), dimensions={{0}}, to_apply=op
}}
"""


def _options(engine: str, **own: object) -> xla.CompileOptions:
    backend = {"engine": engine, "deterministic": False, **own}
    return xla.CompileOptions(backend=backend, keep_artifacts=True)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("type_", "op", "dims", "result"),
    [
        ("f32", "add", "262144", ""),
        ("f32", "add", "16384,16", "16"),
        ("s32", "maximum", "262144", ""),
        ("u64", "xor", "131072", ""),
    ],
)
def test_one_launch_reads_each_byte_once(engine: str, type_: str, op: str, dims: str, result: str) -> None:
    client, text = xla.Client("gpu"), _program(type_, op, dims, result)
    dtype = {"f32": np.float32, "s32": np.int32, "u64": np.uint64}[type_]
    x = np.random.default_rng(0).integers(0, 50, tuple(map(int, dims.split(",")))).astype(dtype)
    (expected,) = xla.evaluate(xla.parse(text), x)
    executable = client.compile(text, _options(engine))
    for _ in range(2):  # the result starts anew in each run
        with counted(client) as count:
            found = np.asarray(executable(x)[0])
        assert np.array_equal(found, expected)  # these sums are exact
        assert count.counters.launches == 1
    assert "combined by atomics" in executable.artifacts()["plan"]
    if engine == "checked":
        assert count.counters.global_load_bytes == x.nbytes
        assert count.counters.touched_bytes <= 1.01 * x.nbytes


def test_by_default_two_launches_combine_parts_in_order() -> None:
    client = xla.Client("gpu")
    executable = client.compile(_program("f32", "add", "262144", ""), _options("checked", deterministic=True))
    with counted(client) as count:
        executable(np.ones(262144, np.float32))[0].block_until_ready()
    assert count.counters.launches == 2
    assert "atomics" not in executable.artifacts()["plan"]


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas was not found: install nvidia-cuda-nvcc")
@pytest.mark.parametrize("processor", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize(("type_", "op"), [("f32", "add"), ("f64", "add"), ("s64", "minimum"), ("u32", "and")])
def test_ptxas_takes_the_atomics(type_: str, op: str, processor: str) -> None:
    made = xla.Client("gpu").compile(_program(type_, op, "262144", ""), _options("fast", sm=processor))
    ptx = str(made.artifacts()["ptx"])
    assert "red." in ptx or "atom." in ptx
    assert assemble(ptx, processor)[0]
