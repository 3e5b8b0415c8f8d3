"""Transposes on the emulated device, whose checked engine finds races and accesses out of bounds, and counts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.compiler import GpuCompiler
from xla_backend_gpu.counting import counted

import xla_core as xla
from tests.xla_core.codegen.llvm.kernels import random_array

CHECKED = xla.CompileOptions(backend={"engine": "checked"}, keep_artifacts=True)


def transpose(element_type: str, result: str, dimensions: str, operand: str) -> str:
    return (
        f"HloModule m\n\nENTRY main {{\n  x = {element_type}[{operand}] parameter(0)\n"
        f"  ROOT y = {element_type}[{result}] transpose(x), dimensions={{{dimensions}}}\n}}\n"
    )


def run(client: xla.Client, program: str):
    """Returns the counters of a run, whose results are the evaluator's, and the plan."""
    module = xla.parse(program)
    arguments = [random_array(s, n) for n, s in enumerate(module.parameter_shapes)]
    executable = client.compile(program, CHECKED)
    with counted(client) as count:
        results = [np.asarray(r) for r in executable(*arguments)]
    for got, want in zip(results, xla.evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(got, want)
    floor = sum(a.nbytes for a in [*arguments, *results])
    return count.counters, floor, executable.artifacts()["plan"]


@pytest.mark.parametrize("element_type", ["pred", "s8", "bf16", "s16", "f32", "s64", "f64", "c64", "c128"])
def test_aligned_transposes_move_each_byte_once(client, element_type: str) -> None:
    counters, floor, plan = run(client, transpose(element_type, "2,128,256", "0,2,1", "2,256,128"))
    assert "transposed tiles: " in plan
    assert counters.launches == 1
    assert counters.global_bytes == floor
    assert counters.coalescing == 1
    assert counters.shared_bank_conflicts == counters.local_bytes == 0


@pytest.mark.parametrize(
    ("result", "dimensions", "operand"),
    [
        ("33,70", "1,0", "70,33"),  # no side is a multiple of the tile's
        ("9,8", "1,0", "8,9"),
        ("3,40,5,50", "0,3,2,1", "3,50,5,40"),  # a loop between the two
        ("40,6,34", "2,0,1", "6,34,40"),
        ("2,64,7,9", "0,3,1,2", "2,7,9,64"),
    ],
)
@pytest.mark.parametrize("element_type", ["s8", "bf16", "f32"])
def test_other_shapes(client, element_type: str, result: str, dimensions: str, operand: str) -> None:
    counters, floor, plan = run(client, transpose(element_type, result, dimensions, operand))
    assert "transposed tiles: " in plan
    assert counters.global_bytes == floor
    assert counters.shared_bank_conflicts == 0


SEVERAL = """HloModule m

ENTRY main {
  x = bf16[96,64] parameter(0)
  y = f32[96,64] parameter(1)
  z = bf16[64,96] parameter(2)
  s = f32[96] parameter(3)
  p = f32[96,64] convert(x)
  q = f32[96,64] multiply(p, y)
  t = f32[64,96] transpose(q), dimensions={1,0}
  w = f32[64,96] convert(z)
  v = f32[64,96] broadcast(s), dimensions={1}
  a = f32[64,96] add(t, w)
  b = f32[64,96] multiply(a, v)
  c = pred[64,96] compare(a, v), direction=LT
  ROOT r = (f32[64,96], pred[64,96]) tuple(b, c)
}
"""


def test_several_operands_of_several_types(client) -> None:
    counters, floor, plan = run(client, SEVERAL)
    assert "staged operands: 2" in plan
    assert counters.launches == 1
    assert counters.coalescing == 1
    assert counters.shared_bank_conflicts == 0
    assert counters.global_bytes <= floor + 64 * 96 * 4  # each row reads the vector again


def test_a_matrix_and_its_transpose(client) -> None:
    """One operand is read in both directions."""
    program = """HloModule m

ENTRY main {
  x = f32[64,64] parameter(0)
  t = f32[64,64] transpose(x), dimensions={1,0}
  ROOT y = f32[64,64] add(x, t)
}
"""
    counters, floor, plan = run(client, program)
    assert "staged operands: 1" in plan
    assert counters.coalescing == 1
    assert counters.global_bytes == floor + 64 * 64 * 4


@pytest.mark.parametrize(("element_type", "access"), [("bf16", "b32"), ("s8", "b32"), ("f32", "b32"), ("f64", "b64")])
def test_elements_of_less_than_a_word_are_moved_in_words(element_type: str, access: str) -> None:
    module = xla.parse(transpose(element_type, "128,256", "1,0", "256,128"))
    ptx = str(GpuCompiler().compile(module).artifacts()["ptx"])
    loads = {line.split()[0] for line in ptx.splitlines() if "ld.global" in line}
    assert loads == {f"ld.global.nc.{access}"}


def test_what_is_not_worth_a_tile(client) -> None:
    """A loop of a few iterations reads cache lines that the next ones find in the cache."""
    _, _, plan = run(client, transpose("f32", "3,64", "1,0", "64,3"))
    assert "transposed tiles: " not in plan
