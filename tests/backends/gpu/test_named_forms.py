"""Every form that a kernel may be asked for, on the checked engine: it computes the kernel, or is refused."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.abi import PtxAbi
from xla_backend_gpu.emulator import Memory, Module

import xla_core as xla
from xla_core.codegen.llvm import KernelEmitter, compile_ir
from xla_core.codegen.llvm.planner import FORMS
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.target import ParallelModel

COMPUTATIONS = """
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
PROGRAMS = {
    "rows": ("f32[28]", "reduce(x, zero), dimensions={1}, to_apply=add"),
    "columns": ("f32[96]", "reduce(x, zero), dimensions={0}, to_apply=add"),
    "sum": ("f32[]", "reduce(x, zero), dimensions={0,1}, to_apply=add"),
    "elements": ("f32[28,96]", "negate(x)"),
    "transpose": ("f32[96,28]", "transpose(x), dimensions={1,0}"),
    "scan": ("f32[28,96]", "reduce-window(x, zero), window={size=1x96 pad=0_0x95_0}, to_apply=add"),
    "window": ("f32[9,96]", "reduce-window(x, zero), window={size=3x1 stride=3x1}, to_apply=add"),
    "sort": ("f32[28,96]", "sort(x), dimensions={1}, to_apply=less"),
    "top-k": ("(f32[28,4], s32[28,4])", "topk(x), k=4, largest=true"),
    "dot": ("f32[28,28]", "dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
}


def program(name: str, form: str) -> str:
    shape, call = PROGRAMS[name]
    return f"""HloModule m
{COMPUTATIONS}
ENTRY e {{
  x = f32[28,96] parameter(0)
  zero = f32[] constant(0)
  ROOT r = {shape} {call}, backend_config={{"kernel_plan":{{"form":"{form}"}}}}
}}
"""


@functools.cache
def refused(client: xla.Client, name: str) -> list[str]:
    """Runs a program in every form that computes it, and returns the other forms."""
    x = np.random.default_rng(0).integers(-9, 9, (28, 96)).astype(np.float32)  # sums are exact in every order
    found = []
    for form in FORMS:
        text = program(name, form.name)
        try:
            executable = client.compile(text, xla.CompileOptions(backend={"engine": "checked"}, keep_artifacts=True))
        except (InvalidArgumentError, UnimplementedError):
            found.append(form.name)
            continue
        assert form.name in executable.artifacts()["plan"]
        for result, wanted in zip(executable(x), xla.evaluate(xla.parse(text), x), strict=True):
            np.testing.assert_array_equal(np.asarray(result), wanted, err_msg=form.name)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_form_computes_the_kernel_or_is_refused(client: xla.Client, name: str) -> None:
    assert len(refused(client, name)) < len(FORMS) - 1  # two forms at least


def test_groups_of_neighbouring_rows_are_not_for_a_grid(client: xla.Client) -> None:
    assert "row groups" in refused(client, "rows")


def test_rows_of_a_grid_without_blocks() -> None:
    abi = PtxAbi("sm_90")
    abi.parallel = ParallelModel()
    emitter = KernelEmitter(abi)
    kernel = emitter.emit(xla.parse(program("rows", "row groups")).entry.root, "kernel")
    module = Module(compile_ir(emitter.module.to_text(), abi).assembly(), engine="checked")
    x = np.random.default_rng(0).integers(-9, 9, (28, 96)).astype(np.float32)
    memory = Memory(1 << 20)
    addresses = [memory.allocate(parameter.shape.byte_size) for parameter in kernel.parameters]
    memory.write(addresses[0], x)
    memory.write(addresses[1], np.zeros(1, np.float32))
    module.launch("kernel", (5,), (1,), addresses, memory)
    np.testing.assert_array_equal(np.frombuffer(memory.read(addresses[-1], 28 * 4), np.float32), x.sum(1))


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("dimensions", [(1, 0), (1, 1), (0, 0)])
def test_a_product_of_matrices_that_is_copied_by_narrow_reads(
    client: xla.Client, size: int, dimensions: tuple[int, int]
) -> None:
    shapes = [(40, 48) if d == 0 else (48, 40) for d in dimensions]
    x, y = (np.random.default_rng(0).integers(-9, 9, shape).astype(ml_dtypes.bfloat16) for shape in shapes)
    types = [f"bf16[{a},{b}]" for a, b in shapes]
    text = f"""HloModule m
ENTRY e {{
  x = {types[0]} parameter(0)
  y = {types[1]} parameter(1)
  ROOT d = f32[48,48] dot(x, y), lhs_contracting_dims={{{dimensions[0]}}}, rhs_contracting_dims={{{dimensions[1]}}}, backend_config={{"kernel_plan":{{"vector_bytes":{size}}}}}
}}
"""
    executable = client.compile(text, xla.CompileOptions(backend={"engine": "checked"}, keep_artifacts=True))
    assert "ldmatrix" in executable.artifacts()["ptx"]
    np.testing.assert_array_equal(np.asarray(executable(x, y)[0]), *xla.evaluate(xla.parse(text), x, y))
