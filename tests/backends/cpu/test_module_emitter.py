"""Tests of the native function of a module. A long computation is split into functions of bounded length."""

from __future__ import annotations

import re
import uuid
from collections import Counter

import numpy as np
import pytest
import xla_backend_cpu
from xla_backend_cpu.codegen.native_kernels import is_small
from xla_backend_cpu.compiler import CpuCompiler

import xla_core as xla
from xla_core.errors import UnimplementedError, XlaError
from xla_core.hlo import parse_hlo

LENGTH = 700
X = np.arange(8, dtype=np.float32)


@pytest.fixture(scope="module")
def client():
    with xla.Client("cpu") as made:
        yield made


def test_a_program_writes_every_one_of_many_results(client):
    shapes, values = ", ".join(["f32[8]"] * LENGTH), ", ".join(["y"] * LENGTH)
    text = "HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] negate(x)\n"
    executable = client.compile(f"{text}  ROOT r = ({shapes}) tuple({values})\n}}\n")
    results = [np.asarray(r) for r in executable(X)]
    assert len(results) == LENGTH
    assert all((r == -X).all() for r in results)


def test_a_failure_within_a_long_computation_ends_the_run(client):
    target, calls = f"test.{uuid.uuid4().hex}", []

    def function(call):
        calls.append(call)
        if len(calls) == 400:
            raise RuntimeError("the 400th call fails")
        call.results[0][...] = call.operands[0] + 1

    xla_backend_cpu.register_custom_call(target, function)
    lines = ["HloModule m", "", "ENTRY e {", "  v0 = f32[8] parameter(0)"]
    for i in range(1, LENGTH):
        lines.append(f'  v{i} = f32[8] custom-call(v{i - 1}), custom_call_target="{target}"')
    executable = client.compile("\n".join([*lines, f"  ROOT r = f32[8] negate(v{LENGTH - 1})", "}", ""]))
    with pytest.raises(XlaError, match="the 400th call fails"):
        np.asarray(executable(X))
    assert len(calls) == 400
    assert (np.asarray(executable(X)) == -(X + LENGTH - 1)).all()


def test_an_instruction_whose_results_differ_in_size_is_refused() -> None:
    """An empty first result must not hide that nothing computes the others."""
    module = parse_hlo("""HloModule m
body {
  c = f32[3] parameter(0)
  x = f32[3] parameter(1)
  s = f32[3] add(c, x)
  ROOT t = (f32[3], f32[3]) tuple(s, s)
}
ENTRY main {
  x = f32[3,0] parameter(0)
  c = f32[3] parameter(1)
  ROOT scan = (f32[3,0], f32[3]) scan(x, c), dimensions={1}, num_carries=1, to_apply=body
}
""")
    with pytest.raises(UnimplementedError, match="the results of scan have different dimensions"):
        xla.Client("cpu").platform.compiler.run_backend(module, xla.CompileOptions())


ROW_SUMS = """HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[1006,1000] parameter(0)
  zero = f32[] constant(0)
  square = f32[1006,1000] multiply(x, x)
  ROOT sums = f32[1006] reduce(square, zero), dimensions={1}, to_apply=add
}
"""


def test_threads_take_whole_groups_of_rows(client):
    """The rows that are left over are reduced one by one, so they must be the same with any number of threads."""
    x = np.random.default_rng(0).standard_normal((1006, 1000)).astype(np.float32)
    results = []
    for threads in (1, 2, 3):
        options = xla.CompileOptions(backend={"threads": threads}, keep_artifacts=True)
        executable = client.compile(ROW_SUMS, options)
        artifacts = executable.artifacts()
        (rows,) = re.findall(r"in groups of (\d+)", artifacts["plan"])
        pieces = re.findall(r"@xla_cpu_parallel_for\(.*, i64 1006, i64 (\d+)\)", artifacts["llvm-unoptimized"])
        assert len(pieces) == (threads > 1)
        assert all(int(piece) % int(rows) == 0 for piece in pieces)
        results.append(np.asarray(executable(x)[0]).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    ("root", "is_divided"),
    [
        ("f32[200,150] reverse(x), dimensions={1}", False),
        ("f32[200,150] tanh(x)", False),
        ("f32[200,150] sine(x)", True),
        ("f32[2000,1500] reverse(y), dimensions={1}", True),
        ("f32[2000,1500] tanh(y)", True),
    ],
)
def test_kernels_of_arrays_in_the_caches_run_on_one_thread(client: xla.Client, root: str, is_divided: bool) -> None:
    """The threads would take longer to start than the kernels of 3 and 8 microseconds, but not than that of sines."""
    parameters = "x = f32[200,150] parameter(0)\n  y = f32[2000,1500] parameter(1)"
    text = f"HloModule m\n\nENTRY e {{\n  {parameters}\n  ROOT r = {root}\n}}\n"
    options = xla.CompileOptions(backend={"threads": 2}, keep_artifacts=True)
    ir = str(client.compile(text, options).artifacts()["llvm-unoptimized"])
    assert ("call void @xla_cpu_parallel_for" in ir) == is_divided


@pytest.mark.parametrize(
    ("limit", "is_known"), [("constant(10)", True), ("constant(100000000)", True), ("parameter", False)]
)
def test_the_time_of_a_loop_is_estimated_from_its_iterations(limit: str, is_known: bool) -> None:
    """Short programs run in the caller, so the time of a loop that may be endless is limited while it runs."""
    bound = "get-tuple-element(s), index=1" if limit == "parameter" else limit
    text = f"""HloModule loop
body {{
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], s32[]) tuple(next, n)
}}
condition {{
  s = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] {bound}
  ROOT less = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  zero = s32[] constant(0)
  n = s32[] parameter(0)
  t = (s32[], s32[]) tuple(zero, n)
  w = (s32[], s32[]) while(t), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(w), index=0
}}"""
    compiler = CpuCompiler()
    module = compiler.run_hlo_passes(parse_hlo(text), xla.CompileOptions())
    program = compiler.run_backend(module, xla.CompileOptions())._program
    microseconds = program.microseconds
    assert (program.time_slot == 0) == is_known
    if limit == "constant(10)":
        assert 0 < microseconds < 40
    elif is_known:
        assert microseconds > 1e6


@pytest.mark.parametrize(
    ("root", "in_place", "expected"),
    [
        ("written", {0}, True),
        ("written", {}, False),
        ("(written, cell)", {0}, True),
        ("(cell, written)", {0}, False),
        ("(written, twice)", {0}, False),
        ("twice", {0}, False),
    ],
)
def test_kernels_are_small_by_the_elements_that_they_write(root: str, in_place: set[int], expected: bool) -> None:
    """Of an array that is updated in place, these are the elements of the update."""
    names = {"written": "f32[100000]", "cell": "f32[1]", "twice": "f32[100000]"}
    shape = f"({', '.join(names[n] for n in root[1:-1].split(', '))})" if root[0] == "(" else names[root]
    result = f"tuple{root}" if root[0] == "(" else f"copy({root})"
    module = parse_hlo(f"""HloModule m
fused {{
  x = f32[100000] parameter(0)
  cell = f32[1] parameter(1)
  i = s32[] parameter(2)
  twice = f32[100000] add(x, x)
  {"ROOT " if root == "written" else ""}written = f32[100000] dynamic-update-slice(x, cell, i)
  {"" if root == "written" else f"ROOT r = {shape} {result}"}
}}
ENTRY e {{
  x = f32[100000] parameter(0)
  cell = f32[1] parameter(1)
  i = s32[] parameter(2)
  ROOT f = {shape} fusion(x, cell, i), kind=kLoop, calls=fused
}}
""")
    assert is_small(module.entry.root, lambda instruction: in_place) == expected


@pytest.mark.parametrize(
    ("result", "kernels"),
    [("s8[1000]", 0), ("c128[7,3]{0,1}", 0), ("f32[]", 0), ("c128[7,3]{1,0}", 1), ("f32[1000,1000]{0,1}", 1)],
)
@pytest.mark.parametrize("level", [0, 2])
def test_short_copies_have_no_kernels(client: xla.Client, result: str, kernels: int, level: int) -> None:
    """A copy to another layout has one, and so has a copy that several threads share."""
    given = result.replace("{1,0}", "{0,1}")
    text = f"HloModule m\n\nENTRY e {{\n  x = {given} parameter(0)\n  ROOT y = {result} copy(x)\n}}\n"
    shape = parse_hlo(text).result_shape
    x = np.arange(shape.num_elements).astype(shape.dtype).reshape(shape.dimensions)
    options = xla.CompileOptions(
        optimization_level=level, keep_artifacts=True, use_entry_layouts=True, backend={"threads": 2}
    )
    executable = client.compile(text, options)
    assert (np.asarray(executable(x)[0]) == x).all()
    assert executable.report.kernels == kernels
    assert ("llvm.memcpy" in str(executable.artifacts()["llvm-unoptimized"])) == (kernels == 0)


@pytest.mark.parametrize(
    ("result", "value", "kernels"),
    [
        ("f32[5,7]", "0", 0),
        ("f64[]", "0", 0),
        ("s16[900]", "-1", 0),
        ("pred[9]", "true", 0),
        ("f32[9]", "-0", 1),
        ("c64[9]", "(0, 1)", 1),
        ("f32[1000,1000]", "0", 1),
    ],
)
def test_short_arrays_of_equal_bytes_have_no_kernels(client: xla.Client, result: str, value: str, kernels: int) -> None:
    scalar = f"{result.partition('[')[0]}[]"
    text = f"""HloModule m

ENTRY e {{
  c = {scalar} constant({value})
  ROOT y = {result} broadcast(c), dimensions={{}}
}}
"""
    executable = client.compile(text, xla.CompileOptions(backend={"threads": 2}))
    (expected,) = xla.evaluate(xla.parse(text))
    assert np.asarray(executable()[0]).tobytes() == expected.tobytes()
    assert executable.report.kernels == kernels


def test_calls_store_the_arguments_that_change(client: xla.Client) -> None:
    """An argument of the kernel before stays, and the address of the temporary buffers is loaded once."""
    text = """HloModule m

ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] reverse(x), dimensions={0}
  a = f32[64] add(x, y)
  b = f32[64] subtract(y, a)
  c = f32[64] multiply(x, b)
  ROOT r = f32[128] concatenate(c, y), dimensions={0}
}
"""
    executable = client.compile(text, xla.CompileOptions(optimization_level=0, keep_artifacts=True))
    x = np.arange(64, dtype=np.float32)
    assert (np.asarray(executable(x)[0]) == np.concatenate([x * (x[::-1] - (x + x[::-1])), x[::-1]])).all()
    ir = str(executable.artifacts()["llvm-unoptimized"])
    entry = ir.partition("define i32 @xla_cpu_entry(")[2].partition("\n}")[0]
    _, *calls = entry.split("call void @kernel")
    assert len(calls) == 5
    assert [call.count("store ptr") for call in calls] == [1, 2, 1, 3, 0]
    loaded = re.findall(r"ptr %allocations, i64 (\d+)", entry)
    assert sorted(Counter(loaded).values()) == [1, 1, 2], "x is stored twice, the result and the temporaries once"
