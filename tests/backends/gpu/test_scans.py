"""Scans and what is around them, on the checked engine, which finds races and divergence."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted

import xla_core as xla

PROGRAM = """HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

ENTRY main {
  x = f32[40,300] parameter(0)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
  $BODY
}
"""


def rows(x: str, op: str = "add", start: str = "zero") -> str:
    return f"f32[40,300] reduce-window({x}, {start}), window={{size=1x300 pad=0_0x299_0}}, to_apply={op}"


def columns(x: str) -> str:
    return f"f32[40,300] reduce-window({x}, zero), window={{size=40x1 pad=0_39x0_0}}, to_apply=add"


PROGRAMS = {
    # name: (lines, launches)
    "one kernel with what is around": (
        ["y = f32[40,300] exponential(x)", f"s = {rows('y')}", "ROOT r = f32[40,300] multiply(s, x)"],
        1,
    ),
    "two directions": ([f"s = {rows('x')}", f"t = {columns('x')}", "ROOT r = f32[40,300] add(s, t)"], 2),
    "a scan of a scan": ([f"s = {rows('x')}", f"ROOT t = {rows('s', 'largest', 'low')}"], 2),
    "a reduction of a scan": (
        [f"s = {rows('x')}", "ROOT t = f32[40] reduce(s, zero), dimensions={1}, to_apply=add"],
        2,
    ),
    "a scan of normalized rows": (
        [
            "m = f32[40] reduce(x, low), dimensions={1}, to_apply=largest",
            "w = f32[40,300] broadcast(m), dimensions={0}",
            "n = f32[40,300] subtract(x, w)",
            f"ROOT s = {rows('n')}",
        ],
        2,
    ),
    "normalized scans": (
        [
            f"s = {rows('x')}",
            "m = f32[40] reduce(s, low), dimensions={1}, to_apply=largest",
            "w = f32[40,300] broadcast(m), dimensions={0}",
            "ROOT n = f32[40,300] subtract(s, w)",
        ],
        2,
    ),
    "a scan and its operand": (
        ["y = f32[40,300] exponential(x)", f"s = {rows('y')}", "ROOT r = (f32[40,300], f32[40,300]) tuple(y, s)"],
        2,
    ),
    "a part of a scan": ([f"s = {rows('x')}", "ROOT r = f32[40,9] slice(s), slice={[0:40],[0:9]}"], 2),
    "a scan in another order": (
        [
            "y = f32[300,40] transpose(x), dimensions={1,0}",
            "s = f32[300,40] reduce-window(y, zero), window={size=300x1 pad=299_0x0_0}, to_apply=add",
            "ROOT t = f32[40,300] transpose(s), dimensions={1,0}",
        ],
        3,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_scans(client, name: str) -> None:
    lines, launches = PROGRAMS[name]
    text, x = PROGRAM.replace("$BODY", "\n  ".join(lines)), np.random.default_rng(0).standard_normal((40, 300))
    x = x.astype(np.float32)
    executable = client.compile(text, xla.CompileOptions(keep_artifacts=True, backend={"engine": "checked"}))
    with counted(client) as count:
        results = [np.asarray(result) for result in executable(x)]
    for got, want in zip(results, xla.evaluate(xla.parse(text), x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)
    assert "scans: " in executable.artifacts()["plan"]
    assert count.counters.launches <= launches


@pytest.mark.parametrize("padding", ["0_30", "30_0"])
def test_a_scan_whose_results_have_another_layout(padding: str) -> None:
    text = f"""HloModule m, entry_computation_layout={{(f32[2,31]{{1,0}})->f32[2,31]{{0,1}}}}

smallest {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] minimum(a, b)
}}

ENTRY main {{
  x = f32[2,31]{{1,0}} parameter(0)
  high = f32[] constant(inf)
  s = f32[2,31]{{1,0}} reduce-window(x, high), window={{size=1x31 pad=0_0x{padding}}}, to_apply=smallest
  n = f32[2,31]{{1,0}} negate(s)
  ROOT r = f32[2,31]{{0,1}} copy(n)
}}
"""
    x = np.random.default_rng(0).random((2, 31), np.float32)
    (got,) = xla.Client("gpu").compile(text)(x)
    smallest = np.minimum.accumulate(x[:, ::-1], 1)[:, ::-1] if padding == "0_30" else np.minimum.accumulate(x, 1)
    np.testing.assert_array_equal(np.asarray(got), -smallest)
