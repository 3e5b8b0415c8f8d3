"""The code of programs: its instructions, its calls, and what LLVM optimizes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xla_backend_cpu.compiler import CpuCompiler
from xla_backend_cpu.host import host_cpu, host_features

import xla_core as xla
from tests.backends.cpu.programs import LOOP


def test_code_has_no_instructions_that_the_host_hides() -> None:
    """LLVM knows a processor by its name, and a virtual machine may hide what processors of this name have."""

    class Masked(CpuCompiler):
        features = frozenset(name for name in CpuCompiler().features if not name.startswith(("avx512", "avx10")))

    program = """HloModule largest
larger { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
ENTRY main {
  x = f32[4096,2048] parameter(0)
  least = f32[] constant(-inf)
  ROOT y = f32[4096] reduce(x, least), dimensions={1}, to_apply=larger
}"""
    assembly = str(Masked().compile(xla.parse(program), xla.CompileOptions(keep_artifacts=True)).artifacts()["asm"])
    assert "%k1" not in assembly
    assert "zmm" not in assembly


@pytest.mark.parametrize(
    ("newest", "cpu", "newer", "hidden", "used"),
    [
        ("AVX2", "haswell", "avx512f", "zmm", "ymm"),
        ("avx", "sandybridge", "avx2", "zmm", "ymm"),
        ("SSE4_2", "nehalem", "avx", "ymm", "xmm"),
    ],
)
def test_code_has_no_instructions_newer_than_the_flag_allows(monkeypatch, newest, cpu, newer, hidden, used) -> None:
    def assembly() -> str:
        compiled = CpuCompiler().compile(xla.parse(LOOP), xla.CompileOptions(keep_artifacts=True))
        return str(compiled.artifacts()["asm"])

    if newer not in host_features():
        pytest.skip(f"this processor has nothing newer than {newest}")
    own = host_cpu()
    monkeypatch.setenv("XLA_FLAGS", f"--xla_cpu_max_isa={newest}")
    assert host_cpu() == cpu
    assert newer not in host_features()
    assert used in assembly()
    assert hidden not in assembly()
    assert "zmm" not in assembly()
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AMX_FP16")
    assert host_cpu() == own
    assert ("zmm" in assembly()) == ("avx512f" in host_features())


def test_extrema_are_stored_without_masks(monkeypatch) -> None:
    """A masked store of AVX2 is slow, and a load of what it stores waits long."""
    program = """HloModule pool
larger { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
ENTRY main {
  x = f32[16,56,56,32] parameter(0)
  least = f32[] constant(-inf)
  ROOT y = f32[16,28,28,32] reduce-window(x, least), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=larger
}"""
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX2")
    compiled = CpuCompiler().compile(xla.parse(program), xla.CompileOptions(keep_artifacts=True))
    assert "vmaskmov" not in str(compiled.artifacts()["asm"])


@pytest.mark.parametrize(("name", "gathers"), [("znver4", False), ("skylake-avx512", True)])
def test_code_has_no_gathers_where_they_are_slow(name, gathers) -> None:
    class Tuned(CpuCompiler):
        triple = "x86_64-unknown-linux-gnu"
        cpu = name
        features = frozenset({"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"})
        _absent = frozenset()  # whatever the host lacks

    program = """HloModule argmax
larger { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  is_first = pred[] compare(a, b), direction=GE
  m = f32[] select(is_first, a, b)
  k = s32[] select(is_first, i, j)
  ROOT t = (f32[], s32[]) tuple(m, k) }
ENTRY main {
  x = f32[1024,1024] parameter(0)
  i = s32[1024,1024] iota(), iota_dimension=1
  least = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT y = (f32[1024], s32[1024]) reduce(x, i, least, zero), dimensions={1}, to_apply=larger
}"""
    compiled = Tuned().compile(xla.parse(program), xla.CompileOptions(keep_artifacts=True))
    assert ("vgather" in str(compiled.artifacts()["asm"])) == gathers


def test_code_for_another_machine_calls_no_library_of_this_one():
    class Riscv(CpuCompiler):
        triple = "riscv64-unknown-linux-gnu"
        cpu = "generic-rv64"
        features = frozenset({"m", "a", "f", "d", "v"})

    program = """HloModule product
ENTRY main {
  x = f32[64,512] parameter(0)
  y = f32[300,512] parameter(1)
  ROOT z = f32[64,300] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}"""
    executable = Riscv().compile(xla.parse(program), xla.CompileOptions(keep_artifacts=True))
    assert "gemm" not in executable.artifacts()["asm"]


def test_llvm_looks_for_no_vectors_among_the_arguments_of_kernels() -> None:
    """LLVM takes quadratic time for that, 30 s for 400 kernels. It skips functions that have the attribute."""
    sizes = range(100, 112)
    arrays = ", ".join(f"f32[{n}]" for n in sizes)
    state = f"(s32[], {arrays})"
    body = "\n".join(f"x{n} = f32[{n}] get-tuple-element(s), index={n - 99}\ny{n} = f32[{n}] sine(x{n})" for n in sizes)
    text = LOOP[LOOP.index("condition") : LOOP.index("body")].replace("(s32[], f32[100])", state)
    text = f"""HloModule many
{text}
body {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  {body}
  ROOT t = {state} tuple(j, {", ".join(f"y{n}" for n in sizes)})
}}
ENTRY main {{
  s = {state} parameter(0)
  ROOT w = {state} while(s), condition=condition, body=body
}}"""
    exe = xla.Client("cpu").compile(text, xla.CompileOptions(keep_artifacts=True))
    functions = [line for line in str(exe.artifacts()["llvm-unoptimized"]).splitlines() if line.startswith("define")]
    callers = [line for line in functions if "kernel" not in line]
    assert len(callers) == 4
    assert [" noimplicitfloat " in line for line in callers if "@loop" not in line] == [False, True, True]
    assert [" optnone " in line for line in callers] == ["@xla_cpu_entry" in line for line in callers]


_SMALL_LOOP = """HloModule small
condition {
  s = (s32[], f32[], f32[], f32[3], f32[20]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(20)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[], f32[], f32[3], f32[20]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[] get-tuple-element(s), index=1
  b = f32[] get-tuple-element(s), index=2
  v = f32[3] get-tuple-element(s), index=3
  history = f32[20] get-tuple-element(s), index=4
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = f32[] add(a, b)
  spread = f32[3] broadcast(c), dimensions={}
  turned = f32[3] reverse(v), dimensions={0}
  sum = f32[3] add(turned, spread)
  cell = f32[1] reshape(c)
  written = f32[20] dynamic-update-slice(history, cell, i)
  ROOT t = (s32[], f32[], f32[], f32[3], f32[20]) tuple(j, b, c, sum, written)
}
ENTRY main {
  a = f32[] parameter(0)
  v = f32[3] parameter(1)
  zero = s32[] constant(0)
  none = f32[] constant(0)
  history = f32[20] broadcast(none), dimensions={}
  t = (s32[], f32[], f32[], f32[3], f32[20]) tuple(zero, a, a, v, history)
  ROOT w = (s32[], f32[], f32[], f32[3], f32[20]) while(t), condition=condition, body=body
}"""


def test_a_loop_of_small_kernels_calls_none_of_them(client) -> None:
    executable = client.compile(_SMALL_LOOP, xla.CompileOptions(keep_artifacts=True))
    assert not re.search(r"define .*@kernel_.* optnone ", str(executable.artifacts()["llvm-unoptimized"]))
    loop = str(executable.artifacts()["llvm"]).split("@loop(ptr")[-1].split("\n}\n")[0]
    assert "call" not in loop.replace("tail call i32 @llvm.", "")
    arguments = np.float32(0.25), np.float32([1, -2, 3])
    expected = xla.evaluate(xla.parse(_SMALL_LOOP), *arguments)
    for result, reference in zip(executable(*arguments), expected, strict=True):
        np.testing.assert_array_equal(result, reference)


@pytest.mark.parametrize(
    ("elements", "function", "is_plain"),
    [(64, "tanh", True), (600, "negate", True), (600, "tanh", False), (2000, "negate", False)],
)
def test_llvm_leaves_a_kernel_of_little_work_that_runs_once(client, elements, function, is_plain) -> None:
    """LLVM takes milliseconds to optimize it, and the kernel less than a microsecond to run."""
    text = f"HloModule m\nENTRY e {{\n  x = f32[{elements}] parameter(0)\n  ROOT y = f32[{elements}] {function}(x)\n}}"
    executable = client.compile(text, xla.CompileOptions(keep_artifacts=True))
    (kernel,) = re.findall(r"define void @kernel_0.*", str(executable.artifacts()["llvm-unoptimized"]))
    assert (" optnone " in kernel) == is_plain
    x = np.linspace(-3, 3, elements, dtype=np.float32)
    np.testing.assert_allclose(executable(x)[0], xla.evaluate(xla.parse(text), x)[0], rtol=1e-6)


@pytest.mark.parametrize("donate", [(), (0,)], ids=["copied", "donated"])
def test_a_kernel_that_copies_around_its_update_is_optimized(client, donate) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[100000] parameter(0)
  i = s32[] parameter(1)
  cell = f32[1] parameter(2)
  ROOT y = f32[100000] dynamic-update-slice(x, cell, i)
}"""
    executable = client.compile(text, xla.CompileOptions(keep_artifacts=True, donate=donate))
    (kernel,) = re.findall(r"define void @kernel_0.*", str(executable.artifacts()["llvm-unoptimized"]))
    assert (" optnone " in kernel) == bool(donate)


def test_the_addresses_of_arguments_are_loaded_where_they_are_used(client) -> None:
    """LLVM's register allocation takes quadratic time for thousands of values that live through a function."""
    count = 200
    parameters = "\n".join(f"x{n} = f32[4] parameter({n})" for n in range(count))
    sums = "\n".join(f"y{n} = f32[4] sine(x{n})" for n in range(count))
    shapes, results = ", ".join(["f32[4]"] * count), ", ".join(f"y{n}" for n in range(count))
    text = f"HloModule many\nENTRY main {{\n{parameters}\n{sums}\nROOT t = ({shapes}) tuple({results})\n}}"
    executable = client.compile(text, xla.CompileOptions(keep_artifacts=True))
    entry = (
        str(executable.artifacts()["llvm-unoptimized"]).split("@xla_cpu_entry(ptr")[-1].split("\n}\n")[0].splitlines()
    )
    loaded = {line.split(" = ")[0].strip(): n for n, line in enumerate(entry) if " = load ptr" in line}
    uses = [
        (n, name)
        for n, line in enumerate(entry)
        for name in re.findall(r"%v\d+", line.split(" = ")[-1])
        if name in loaded
    ]
    assert len(uses) >= 2 * count
    assert max(n - loaded[name] for n, name in uses) < 4


def test_llvm_joins_few_of_many_nested_loops(client) -> None:
    """It takes more than quadratic time in the depth: a minute for 100 loops."""
    depth = 9
    parts = ["HloModule nested"]
    for level in range(depth):
        inner = f"while(p), condition=c{level - 1}, body=b{level - 1}" if level else "copy(p)"
        parts.append(f"""c{level} {{
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant({level + 1})
  ROOT r = pred[] compare(i, one), direction=LT
}}
b{level} {{
  p = (s32[], s32[]) parameter(0)
  q = (s32[], s32[]) {inner}
  one = s32[] constant(1)
  i = s32[] get-tuple-element(q), index=0
  n = s32[] get-tuple-element(q), index=1
  j = s32[] add(i, one)
  m = s32[] add(n, one)
  ROOT r = (s32[], s32[]) tuple(j, m)
}}""")
    parts.append(f"""ENTRY main {{
  x = s32[] parameter(0)
  p = (s32[], s32[]) tuple(x, x)
  ROOT q = (s32[], s32[]) while(p), condition=c{depth - 1}, body=b{depth - 1}
}}""")
    text = "\n".join(parts)
    executable = client.compile(text, xla.CompileOptions(keep_artifacts=True))
    lines = [line for line in str(executable.artifacts()["llvm-unoptimized"]).splitlines() if "@computation_" in line]
    assert len([line for line in lines if line.startswith("define") and "noinline" in line]) == 2
    expected = xla.evaluate(xla.parse(text), np.int32(0))
    for result, reference in zip(executable(np.int32(0)), expected, strict=True):
        np.testing.assert_array_equal(result, reference)


@pytest.mark.parametrize(
    ("level", "llvm_level", "optimized"), [(0, None, False), (2, None, True), (0, 2, True), (2, 0, False)]
)
def test_programs_of_level_0_are_not_optimized_by_llvm(
    client: xla.Client, level: int, llvm_level: int | None, optimized: bool
) -> None:
    options = xla.CompileOptions(
        optimization_level=level, keep_artifacts=True, backend={"llvm_optimization_level": llvm_level}
    )
    text = "HloModule m\nENTRY e {\n x = f32[1000] parameter(0)\n ROOT y = f32[1000] add(x, x)\n}"
    assert ("vector.body" in client.compile(text, options).artifacts()["llvm"]) == optimized
