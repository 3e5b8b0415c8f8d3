"""PTX: NVIDIA's assembler takes the kernels of every op, for old and new processors."""

from __future__ import annotations

import itertools
import re

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.compiler import GpuCompiler
from xla_backend_gpu.processors import PROCESSORS
from xla_backend_gpu.ptx import entry_names, processor_of_ptx
from xla_backend_gpu.ptxas import assemble, find_ptxas
from xla_conformance.ops import generate

import xla_core as xla

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="ptxas was not found: install nvidia-cuda-nvcc")

OLD, USUAL, NEW = "sm_75", "sm_90", "sm_100"
CASES = {case.opcode: case for case in generate()}

SOFTMAX = """HloModule softmax

greater {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[64,512] parameter(0)
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[64] reduce(x, least), dimensions={1}, to_apply=greater
  wide = f32[64,512] broadcast(m), dimensions={0}
  shifted = f32[64,512] subtract(x, wide)
  e = f32[64,512] exponential(shifted)
  t = f32[64] reduce(e, zero), dimensions={1}, to_apply=sum
  total = f32[64,512] broadcast(t), dimensions={0}
  ROOT y = f32[64,512] divide(e, total)
}
"""


def ptx_of(program: str | xla.HloModule, processor: str = USUAL, **backend: object) -> str:
    module = xla.parse(program) if isinstance(program, str) else program
    executable = GpuCompiler(processor).compile(module, xla.CompileOptions(backend=backend))
    text = executable.artifacts()["ptx"]
    assert isinstance(text, str)
    return text


@needs_ptxas
@pytest.mark.parametrize(
    ("opcode", "processor"), list(zip(CASES, itertools.cycle((OLD, USUAL, NEW)), strict=False)), ids=str
)
def test_ptxas_takes_each_op(opcode: str, processor: str) -> None:
    ptx = ptx_of(CASES[opcode].module(), processor)
    if ptx:  # the runtime has no kernels for collectives
        machine_code, said = assemble(ptx, processor)
        assert machine_code
        assert {"0 bytes spill stores"} == set(re.findall(r"\d+ bytes spill stores", said))


@needs_ptxas
@pytest.mark.parametrize("processor", PROCESSORS)
def test_ptxas_takes_each_processor(processor: str) -> None:
    ptx = ptx_of(SOFTMAX, processor)
    assert processor_of_ptx(ptx) == processor
    assert assemble(ptx, processor)[0]


def test_the_kernel_of_a_softmax() -> None:
    """A block reduces its row twice, by exchanging registers and through shared memory."""
    executable = GpuCompiler().compile(xla.parse(SOFTMAX))
    ptx = str(executable.artifacts()["ptx"])
    assert executable.report.kernels == len(entry_names(ptx)) == 1
    assert str(executable.artifacts()["thunks"]).count("KernelThunk") == 1
    assert "ld.global.nc" in ptx, "operands that nothing writes are read through the read-only cache"
    assert re.search(r"bar(rier)?(\.cta)?\.sync", ptx)
    assert ".shared" in ptx
    assert "shfl.sync.bfly" in ptx


@pytest.mark.parametrize(("size", "loops"), [(1000, 0), (1 << 18, 0), (1 << 26, 1)])
def test_only_threads_with_several_units_have_a_loop(size: int, loops: int) -> None:
    text = ptx_of(f"HloModule m\n\nENTRY e {{\n  x = f64[{size}] parameter(0)\n  ROOT y = f64[{size}] negate(x)\n}}\n")
    labels = {name: place.start() for place in re.finditer(r"^(\$\S+):", text, re.MULTILINE) for name in [place[1]]}
    jumps = re.finditer(r"\bbra(?:\.uni)?\s+(\$\S+);", text)
    assert sum(labels[jump[1]] < jump.start() for jump in jumps) == loops


def test_operations_are_rounded_one_by_one() -> None:
    """ptxas joins a `mul.f32` and an `add.f32`, but not those with `.rn`."""
    program = """HloModule m

ENTRY main {
  x = f32[99] parameter(0)
  y = f32[99] multiply(x, x)
  ROOT z = f32[99] add(y, x)
}
"""
    strict = ptx_of(program)
    assert "mul.rn.f32" in strict
    assert "add.rn.f32" in strict
    assert "fma.rn.f32" in ptx_of(program, math="contract")


def test_kernels_that_are_alike_are_one() -> None:
    ptx = ptx_of("""HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[9,7] parameter(0)
  y = f32[9,7] parameter(1)
  s = f32[9,7] sort(x), dimensions={1}, to_apply=less
  t = f32[9,7] sort(y), dimensions={1}, to_apply=less
  ROOT z = (f32[9,7], f32[9,7]) tuple(s, t)
}
""")
    assert len(entry_names(ptx)) == 1


def test_an_unknown_processor() -> None:
    with pytest.raises(xla.InvalidArgumentError, match=r"(?s)cannot generate PTX for 'sm_12'.*sm_75, sm_80"):
        ptx_of(SOFTMAX, sm="sm_12")
    with pytest.raises(xla.InvalidArgumentError, match="sm_99"):
        GpuCompiler("sm_99")
