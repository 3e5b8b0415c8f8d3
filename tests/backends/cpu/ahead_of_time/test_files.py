"""The files of a model: their interface, several models in one program, what they need, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from xla_backend_cpu.compiler import CpuCompiler

import xla_core as xla
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine
from xla_core.backend import AheadOfTimeOptions
from xla_core.errors import InvalidArgumentError, UnimplementedError

HOST = next(machine for machine in MACHINES if not machine.runner)
needs_host = pytest.mark.skipif(bool(HOST.missing), reason=f"not installed: {HOST.missing}")

SCALED = """HloModule scaled
ENTRY main {
  x = f32[2,3] parameter(0)
  table = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
  scaled = f32[2,3] multiply(x, table)
  whole = s8[2,3] convert(scaled)
  ROOT both = (f32[2,3], s8[2,3]) tuple(scaled, whole)
}"""
SORTED = """HloModule sorted
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT is = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[70000] parameter(0)
  ROOT y = f32[70000] sort(x), dimensions={0}, to_apply=less, is_stable=true
}"""
TWO_MODELS = """
#include "scaled.h"
#include "sorted.h"
#include <cstdio>
#include <cstdlib>
#include <vector>

int main() {
  alignas(SCALED_ARENA_ALIGNMENT) static char arena[SCALED_ARENA_BYTES];
  const float x[6] = {1, 1, 1, -1, -1, -1};
  float scaled[6];
  int8_t whole[6];
  const scaled_arguments arguments = {x};
  const scaled_results results = {scaled, whole};
  if (scaled_run(&arguments, &results, arena) != XLA_AOT_OK) return 1;
  if (scaled_run(&arguments, &results, arena + 4) != XLA_AOT_WRONG_ARENA) return 2;
  if (scaled_run(&arguments, &results, nullptr) != XLA_AOT_WRONG_ARENA) return 3;
  for (int i = 0; i < 6; ++i) std::printf("%g %d ", scaled[i], whole[i]);
  void *memory = std::aligned_alloc(SORTED_ARENA_ALIGNMENT, SORTED_ARENA_BYTES);
  std::vector<float> values(70000), ordered(70000);
  for (int i = 0; i < 70000; ++i) values[i] = 69999 - i;
  const sorted_arguments unsorted = {values.data()};
  const sorted_results in_order = {ordered.data()};
  if (sorted_run(&unsorted, &in_order, memory) != XLA_AOT_OK) return 4;
  std::printf("%g %g\\n", ordered[0], ordered[69999]);
}
"""


def files_of(text: str, **options: object) -> dict[str, str | bytes]:
    options = {"name": "model", "triple": "aarch64-linux-gnu", **options}
    return dict(CpuCompiler().ahead_of_time_files(xla.parse(text), AheadOfTimeOptions(**options)))


@needs_host
@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
def test_two_models_are_linked_into_one_program_in_cpp(tmp_path: Path) -> None:
    HOST.files(xla.parse(SCALED), tmp_path, "scaled")
    HOST.files(xla.parse(SORTED), tmp_path, "sorted")
    (tmp_path / "both.cc").write_text(TWO_MODELS)
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "both.cc", "scaled.o", "sorted.o", "-o", "both"]
    subprocess.run(command, cwd=tmp_path, check=True)
    printed = HOST.run(tmp_path / "both")
    assert printed == "1 1 2 2 3 3 -4 -4 -5 -5 -6 -6 0 69999\n"


def test_header_says_shapes_types_and_sizes() -> None:
    header = str(files_of(SCALED)["model.h"])
    assert "const float *argument0; /* f32[2,3] */" in header
    assert "int8_t *result1; /* s8[2,3] */" in header
    assert "#define MODEL_RESULTS 2" in header
    assert '{"result1", "s8", 6, 2, model_dimensions + 4},' in header
    assert "model_dimensions[] = {2, 3, 2, 3, 2, 3};" in header
    assert "#define MODEL_CONSTANT_BYTES ((size_t)24)" in header
    assert "The other pointers are not checked" in header


@needs_host
@pytest.mark.parametrize("emit", ["object", "c"])
def test_example_with_arrays_of_many_dimensions_or_none_holds_its_memory(emit: str, tmp_path: Path) -> None:
    dimensions = (2, *[1] * 30, 3)
    shape = f"f32[{','.join(map(str, dimensions))}]"
    text = f"""HloModule wide
ENTRY main {{
  x = {shape} parameter(0)
  n = f32[] parameter(1)
  spread = {shape} broadcast(n), dimensions={{}}
  sum = {shape} add(x, spread)
  empty = f32[0,2] parameter(2)
  ROOT all = (f32[], {shape}, f32[0,2]) tuple(n, sum, empty)
}}"""
    x = np.arange(6, dtype=np.float32).reshape(dimensions)
    sanitized = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    inputs = [x, np.float32(4), np.zeros((0, 2), np.float32)]
    n, total, empty = HOST.results(xla.parse(text), inputs, tmp_path, sanitized, emit=emit)
    assert (n, empty.shape) == (4, (0, 2))
    np.testing.assert_array_equal(total, x + 4)
    assert '{"result1", "f32", 24, 32, model_dimensions + 34}' in (tmp_path / "model.h").read_text()


@needs_host
@pytest.mark.skipif(shutil.which("nm") is None, reason="not installed: nm")
def test_object_allocates_nothing_and_shows_one_symbol(tmp_path: Path) -> None:
    HOST.files(xla.parse(SORTED), tmp_path)
    symbols = subprocess.run(["nm", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    shown = [line.split()[-2:] for line in symbols.splitlines() if line.split()[-2] not in "trbd"]
    assert shown in ([["T", "model_run"]], [["U", "memcpy"], ["T", "model_run"]])


@needs_host
def test_threads_divide_kernels(tmp_path: Path) -> None:
    text = """HloModule wide
ENTRY main {
  x = f32[300,4000] parameter(0)
  ROOT y = f32[300,4000] tanh(x)
}"""
    x = np.random.default_rng(0).standard_normal((300, 4000), np.float32)
    (alone,) = HOST.results(xla.parse(text), [x], tmp_path)
    (divided,) = HOST.results(xla.parse(text), [x], tmp_path, threads=4)
    assert b"xla_cpu_parallel_for" in (tmp_path / "model.o").read_bytes()
    np.testing.assert_array_equal(alone, divided)
    np.testing.assert_allclose(alone, np.tanh(x), rtol=1e-6)


@needs_host
def test_threads_do_not_share_scratch_memory(tmp_path: Path) -> None:
    text = SORTED.replace("f32[70000]", "f32[60,9000]").replace("dimensions={0}", "dimensions={1}")
    x = np.random.default_rng(0).standard_normal((60, 9000), np.float32)
    (ordered,) = HOST.results(xla.parse(text), [x], tmp_path, threads=4)
    np.testing.assert_array_equal(ordered, np.sort(x, axis=1))


def test_small_code_is_smaller() -> None:
    product = """HloModule product
ENTRY main {
  x = f32[256,300] parameter(0)
  y = f32[200,300] parameter(1)
  ROOT z = f32[256,200] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}"""
    fast, small = files_of(product)["model.o"], files_of(product, optimize_for_size=True)["model.o"]
    assert len(small) < 0.6 * len(fast)


@pytest.mark.parametrize("machine", MACHINES[:1], ids=str)
def test_every_file_is_made_without_the_host(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of a target is the same whatever processor compiles it."""
    options = AheadOfTimeOptions(name="model", **machine.options)
    before = CpuCompiler().ahead_of_time_files(xla.parse(SCALED), options)
    monkeypatch.setattr("xla_backend_cpu.compiler.host_cpu", lambda: "x86-64-v4")
    monkeypatch.setattr("xla_backend_cpu.compiler.host_features", lambda: frozenset({"avx512f"}))
    assert CpuCompiler().ahead_of_time_files(xla.parse(SCALED), options) == before


def test_extrema_of_doubles_are_compiled_for_arm() -> None:
    """LLVM's code generator for 32-bit ARM fails on its own intrinsics of them."""
    text = """HloModule extrema
ENTRY main {
  x = f64[4] parameter(0)
  y = f64[4] parameter(1)
  larger = f64[4] maximum(x, y)
  ROOT z = f64[4] minimum(larger, y)
}"""
    assert bytes(files_of(text, triple="armv7-linux-gnueabihf")["model.o"]).startswith(b"\x7fELF")


@pytest.mark.slow
@pytest.mark.parametrize("machine", [m for m in MACHINES if m.name == "armv7"], ids=str)
def test_extrema_of_doubles_order_zeros_and_keep_nan(machine: Machine, tmp_path: Path) -> None:
    if machine.missing:
        pytest.skip(f"not installed: {machine.missing}")
    text = "HloModule m\nENTRY main { x = f64[6] parameter(0)\n y = f64[6] parameter(1)\n ROOT z = f64[6] OP(x, y) }"
    x, y = np.array([[1, -0.0, 0.0, np.nan, 3, -np.inf], [2, 0.0, -0.0, 1, np.nan, np.inf]])
    for op in ("maximum", "minimum"):
        module = xla.parse(text.replace("OP", op))
        (got,) = machine.results(module, [x, y], tmp_path)
        (wanted,) = xla.evaluate(module, x, y)
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(np.signbit(got[:3]), np.signbit(wanted[:3]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"triple": "z80-unknown-none"}, "LLVM has no target 'z80-unknown-none'"),
        ({"cpu": "cortex-a533"}, "no processor 'cortex-a533'.*cortex-a53"),
        ({"features": "+svee"}, r"'\+svee' is no feature.*sve"),
        ({"features": "sve"}, "'sve' is no feature"),
        ({"vector_length": 96}, "no vectors of 96 bits"),
        ({"vector_length": 256}, "aarch64-unknown-linux-gnu has no vectors of 256 bits.*128 bits.*--features"),
        ({"features": "+sve", "vector_length": 4096}, "no vectors of 4096 bits.*from 128 to 2048"),
        ({"features": "+sve", "vector_length": 384}, "no vectors of 384 bits.*power of two"),
        ({"triple": "riscv64-linux-gnu", "features": "+v", "vector_length": 96}, "no vectors of 96 bits.*power of two"),
        ({"triple": "x86_64-linux-gnu", "cpu": "x86-64-v3", "vector_length": 512}, "no vectors of 512 bits.*256 bits"),
        ({"triple": "riscv64-linux-gnu", "vector_length": 256}, "no vectors of 256 bits.*--features"),
        ({"float_abi": "soft"}, "no soft-float convention"),
        ({"triple": "thumbv7em-none-eabi", "float_abi": "hard"}, "no floating-point registers.*--cpu"),
        ({"triple": "thumbv7em-none-eabihf"}, "no floating-point registers.*--cpu"),
        ({"triple": "riscv32-unknown-elf", "float_abi": "hard"}, "no floating-point registers.*--features"),
        ({"name": "2nd"}, "name"),
        ({"name": "xla_aot"}, "files that all models share"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){said}"):
        files_of(SCALED, **options)


def test_vectors_may_be_longer_than_llvm_prefers() -> None:
    text = "HloModule sum\nENTRY main { x = f32[4096] parameter(0)\n ROOT y = f32[4096] add(x, x) }"
    options = {"triple": "x86_64-linux-gnu", "cpu": "x86-64-v4"}  # 512 bits, of which LLVM uses 256
    assert files_of(text, **options)["model.o"] != files_of(text, vector_length=512, **options)["model.o"]


@needs_host
@pytest.mark.parametrize(
    ("op", "value"),
    [("tanh", 3.9749992658483e-311 - 1.5022830972566383j), ("tan", 1.5432955622455655 + 1.61218811755e-312j)],
)
def test_tiny_quotients_are_exact_without_fused_multiply_add(op: str, value: complex, tmp_path: Path) -> None:
    module = xla.parse(f"HloModule m\nENTRY main {{ x = c128[8] parameter(0)\n ROOT y = c128[8] {op}(x) }}")
    x = np.full(8, value)
    (wanted,) = xla.evaluate(module, x)
    (got,) = HOST.results(module, [x], tmp_path)
    for part in ("real", "imag"):
        np.testing.assert_array_max_ulp(getattr(got, part), getattr(wanted, part), maxulp=4)


@needs_host
def test_calls_of_lapack_need_no_library(tmp_path: Path) -> None:
    text = """HloModule factor
ENTRY main {
  x = f32[3,4,4]{1,2,0} parameter(0)
  f = (f32[3,4,4]{1,2,0}, s32[3]) custom-call(x), custom_call_target="lapack_spotrf_ffi",
    backend_config={uplo = 76 : ui8}
  ROOT y = f32[3,4,4] get-tuple-element(f), index=0
}"""
    a = np.random.default_rng(0).standard_normal((3, 4, 4)).astype(np.float32)
    a = a @ a.swapaxes(1, 2) + 4 * np.eye(4, dtype=np.float32)
    (factor,) = HOST.results(xla.parse(text), [a], tmp_path)  # symmetric, so its layout doesn't matter
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ lower.swapaxes(1, 2), a, rtol=1e-5)


def test_calls_of_python_are_refused_with_their_place() -> None:
    text = """HloModule log
ENTRY main {
  x = f32[4,4] parameter(0)
  ROOT y = f32[4,4] custom-call(x), custom_call_target="acme_log", metadata={source_file="model.py" source_line=7}
}"""
    with pytest.raises(UnimplementedError, match=r"(?s)acme_log needs Python.*model\.py:7"):
        files_of(text)
