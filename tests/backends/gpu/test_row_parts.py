"""Kernels that reduce rows and their columns, such as gradients of norms: each operand is read once."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.counting import counted
from xla_backend_gpu.ptxas import assemble, find_ptxas

import xla_core as xla

BODIES = """
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] add(a, b)
}
most {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] maximum(a, b)
}
"""

SOFTMAX_GRADIENT = """HloModule softmax_gradient
$BODIES
ENTRY e {
  y = $T[$R,$C] parameter(0)
  dy = $T[$R,$C] parameter(1)
  zero = $T[] constant(0)
  weighted = $T[$R,$C] multiply(y, dy)
  total = $T[$R] reduce(weighted, zero), dimensions={1}, to_apply=sum
  totals = $T[$R,$C] broadcast(total), dimensions={0}
  centred = $T[$R,$C] subtract(dy, totals)
  dx = $T[$R,$C] multiply(y, centred)
  bias = $T[$C] reduce(dx, zero), dimensions={0}, to_apply=sum
  ROOT r = ($T[$R,$C], $T[$C]) tuple(dx, bias)
}
"""
"""The column sums are of a result of the kernel."""

RMS_GRADIENT = """HloModule rms_gradient
$BODIES
ENTRY e {
  x = $T[$R,$C] parameter(0)
  dy = $T[$R,$C] parameter(1)
  scale = $T[$C] parameter(2)
  zero = $T[] constant(0)
  squares = $T[$R,$C] multiply(x, x)
  square = $T[$R] reduce(squares, zero), dimensions={1}, to_apply=sum
  one = $T[] constant(1)
  ones = $T[$R] broadcast(one), dimensions={}
  positive = $T[$R] add(square, ones)
  inverse = $T[$R] rsqrt(positive)
  inverses = $T[$R,$C] broadcast(inverse), dimensions={0}
  scales = $T[$R,$C] broadcast(scale), dimensions={1}
  scaled = $T[$R,$C] multiply(dy, scales)
  product = $T[$R,$C] multiply(scaled, x)
  dot = $T[$R] reduce(product, zero), dimensions={1}, to_apply=sum
  dots = $T[$R,$C] broadcast(dot), dimensions={0}
  normal = $T[$R,$C] multiply(x, inverses)
  back = $T[$R,$C] multiply(normal, dots)
  dx = $T[$R,$C] subtract(scaled, back)
  term = $T[$R,$C] multiply(dy, normal)
  dscale = $T[$C] reduce(term, zero), dimensions={0}, to_apply=sum
  ROOT r = ($T[$R,$C], $T[$C]) tuple(dx, dscale)
}
"""
"""The terms of the column sums need a sum of the row, and are no result."""

STATISTICS = """HloModule statistics
$BODIES
ENTRY e {
  x = $T[$R,$C] parameter(0)
  zero = $T[] constant(0)
  low = $T[] constant(-inf)
  top = $T[$R] reduce(x, low), dimensions={1}, to_apply=most
  tops = $T[$R,$C] broadcast(top), dimensions={0}
  shifted = $T[$R,$C] subtract(x, tops)
  squares = $T[$R,$C] multiply(x, x)
  mean = $T[$C] reduce(x, zero), dimensions={0}, to_apply=sum
  square = $T[$C] reduce(squares, zero), dimensions={0}, to_apply=sum
  largest = $T[$C] reduce(x, low), dimensions={0}, to_apply=most
  ROOT r = ($T[$R,$C], $T[$R], $T[$C], $T[$C], $T[$C]) tuple(shifted, top, mean, square, largest)
}
"""
"""Sums and extrema of columns of an operand, beside a kernel of its rows."""

SEQUENCES = """HloModule sequences
$BODIES
ENTRY e {
  x = $T[64,9,$C] parameter(0)
  init = $T[] constant(2)
  zero = $T[] constant(0)
  total = $T[64,9] reduce(x, zero), dimensions={2}, to_apply=sum
  totals = $T[64,9,$C] broadcast(total), dimensions={0,1}
  centred = $T[64,9,$C] subtract(x, totals)
  columns = $T[64,$C] reduce(centred, init), dimensions={1}, to_apply=sum
  ROOT r = ($T[64,9,$C], $T[64,$C]) tuple(centred, columns)
}
"""
"""The parts are those of the program: there is one kernel, and no second step."""


def program(text: str, rows: int, columns: int, element_type: str = "f32") -> str:
    text = text.replace("$BODIES", BODIES).replace("$T", element_type)
    return text.replace("$R", str(rows)).replace("$C", str(columns))


def inputs(text: str) -> list[np.ndarray]:
    """Small integers, divided by 4: their sums are exact."""
    rng = np.random.default_rng(0)
    return [(rng.integers(-8, 8, s.dimensions) / 4).astype(s.dtype) for s in xla.parse(text).parameter_shapes]


def check(client, text: str, *, tolerance: float = 1e-5, **options) -> str:
    """Runs a program, compares its results with the evaluator's, and returns the plan."""
    arguments = inputs(text)
    executable = client.compile(text, xla.CompileOptions(backend=options, keep_artifacts=True))
    for got, want in zip(executable(*arguments), xla.evaluate(xla.parse(text), *arguments), strict=True):
        scale = max(1.0, float(np.abs(want.astype(np.float64)).max()))
        found = np.asarray(got).astype(np.float64)
        np.testing.assert_allclose(found, want.astype(np.float64), rtol=tolerance, atol=tolerance * scale)
    return str(executable.artifacts()["plan"])


@pytest.mark.parametrize("engine", ["fast", "checked"])
@pytest.mark.parametrize(
    ("text", "rows", "columns", "element_type"),
    [
        (SOFTMAX_GRADIENT, 512, 256, "f32"),
        (SOFTMAX_GRADIENT, 1000, 72, "f32"),  # teams without an element, and without a row
        (SOFTMAX_GRADIENT, 8192, 6, "f32"),
        (SOFTMAX_GRADIENT, 945, 130, "f64"),
        (RMS_GRADIENT, 576, 256, "f32"),
        (RMS_GRADIENT, 512, 256, "bf16"),
        (STATISTICS, 520, 384, "f32"),
    ],
)
def test_rows_and_columns_in_one_kernel(
    client, text: str, rows: int, columns: int, element_type: str, engine: str
) -> None:
    tolerance = {"f32": 1e-5, "f64": 1e-12, "bf16": 0.03}[element_type]
    plan = check(client, program(text, rows, columns, element_type), tolerance=tolerance, engine=engine)
    first, second = plan.strip().splitlines()
    assert f"; {rows} rows of {columns}" in first
    assert "parts of" in first
    assert f"; {columns} columns of" in second


@pytest.mark.parametrize("engine", ["fast", "checked"])
def test_parts_of_the_program_itself(client, engine: str) -> None:
    plan = check(client, program(SEQUENCES, 0, 256), engine=engine)
    (only,) = plan.strip().splitlines()
    assert "; 576 rows of 256" in only
    assert "columns of 64 parts of 9 rows" in only


@pytest.mark.parametrize("engine", ["fast", "checked"])
def test_columns_are_combined_by_atomics_on_request(client, engine: str) -> None:
    text = program(SOFTMAX_GRADIENT, 512, 256)
    executable = client.compile(text, xla.CompileOptions(backend={"engine": engine, "deterministic": False}))
    arguments = inputs(text)
    for _ in range(2):  # the result starts anew in each run
        with counted(client) as count:
            results = [np.asarray(result) for result in executable(*arguments)]
        for got, want in zip(results, xla.evaluate(xla.parse(text), *arguments), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-2)
        assert count.counters.launches == 1
    if engine == "checked":
        assert count.counters.touched_bytes <= 1.01 * sum(a.nbytes for a in [*arguments, *results])


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        (SOFTMAX_GRADIENT, 256, 256),  # 32 parts of 8 rows are too few for the device
        (SOFTMAX_GRADIENT, 509, 256),  # a prime number has no equal parts
        (STATISTICS, 512, 32768),  # a block has no registers for its columns
    ],
)
def test_other_columns_have_kernels_of_their_own(client, text: str, rows: int, columns: int) -> None:
    made = client.compile(program(text, rows, columns), xla.CompileOptions(keep_artifacts=True))
    assert "parts of" not in made.artifacts()["plan"]


NORMALIZED = """HloModule normalized
$BODIES
ENTRY e {
  x = $T[$R,$C] parameter(0)
  zero = $T[] constant(0)
  mean = $T[$C] reduce(x, zero), dimensions={0}, to_apply=sum
  means = $T[$R,$C] broadcast(mean), dimensions={1}
  centred = $T[$R,$C] subtract(x, means)
  ROOT total = $T[$R] reduce(centred, zero), dimensions={1}, to_apply=sum
}
"""


def test_rows_that_need_all_of_their_columns_come_later(client) -> None:
    plan = check(client, program(NORMALIZED, 512, 256))
    assert "parts of" not in plan


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas was not found: install nvidia-cuda-nvcc")
@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("columns", [96, 1024, 8192])
def test_ptxas_needs_no_memory_for_registers(client, columns: int, deterministic: bool) -> None:
    options = {"deterministic": deterministic, "sm": "sm_90"}
    text = program(RMS_GRADIENT, 1024, columns)
    made = client.compile(text, xla.CompileOptions(backend=options, keep_artifacts=True))
    assert "parts of" in made.artifacts()["plan"]
    assert assemble(str(made.artifacts()["ptx"]), "sm_90")[0]
    report = str(made.artifacts()["ptxas"])
    assert report.count("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads") == report.count("stack frame")
