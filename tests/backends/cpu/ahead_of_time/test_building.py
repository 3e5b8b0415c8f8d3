"""Models built as their users build them: static programs, CMake, C++ with threads, and no allocation on any target."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import xla_core as xla
from tests.backends.cpu.ahead_of_time.machines import MACHINES, Machine

SORTED_PRODUCT = """HloModule sorted_product
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT is = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[300,400] parameter(0)
  y = f32[400,500] parameter(1)
  product = f32[300,500] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  root = f32[300,500] tanh(product)
  ROOT sorted = f32[300,500] sort(root), dimensions={1}, to_apply=less, is_stable=true
}"""
WIDE = """HloModule wide
ENTRY main {
  x = f32[300,4000] parameter(0)
  c = f32[4000] constant({TABLE})
  b = f32[300,4000] broadcast(c), dimensions={1}
  s = f32[300,4000] add(x, b)
  ROOT y = f32[300,4000] sqrt(s)
}""".replace("TABLE", "0.5" + ", 0.25" * 3999)
HALVED = """HloModule halved
ENTRY main {
  x = f32[6] parameter(0)
  h = f32[] constant(0.5)
  b = f32[6] broadcast(h), dimensions={}
  ROOT y = f32[6] multiply(x, b)
}"""

CMAKE = """cmake_minimum_required(VERSION 3.13)
project(host C CXX)
add_subdirectory(.. models)
add_executable(host main.cc)
target_link_libraries(host halved wide)
"""
MAIN = """
#include "halved.h"
#include "wide.h"
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  alignas(HALVED_ARENA_ALIGNMENT) static char arena[HALVED_ARENA_BYTES];
  const float x[6] = {2, 4, 6, 8, 10, 12};
  float halves[6];
  const halved_arguments arguments = {x};
  const halved_results results = {halves};
  if (halved_run(&arguments, &results, arena) != XLA_AOT_OK) return 1;
  for (float half : halves) std::printf("%g ", half);
  const std::vector<float> zeros(300 * 4000, 0.0f);
  int wrong[3] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&, t] {
    std::vector<float> roots(zeros.size());
    std::vector<char> memory(WIDE_ARENA_BYTES + WIDE_ARENA_ALIGNMENT);
    char *own = memory.data();
    own += WIDE_ARENA_ALIGNMENT - reinterpret_cast<uintptr_t>(own) % WIDE_ARENA_ALIGNMENT;
    const wide_arguments in = {zeros.data()};
    const wide_results out = {roots.data()};
    for (int run = 0; run < 3; ++run) wrong[t] += wide_run(&in, &out, own) != XLA_AOT_OK;
    for (size_t i = 0; i < roots.size(); ++i)
      wrong[t] += std::fabs(roots[i] - (i % 4000 ? 0.5f : std::sqrt(0.5f))) > 1e-6f;
  });
  for (auto &thread : threads) thread.join();
  std::printf("%d %d %d\\n", wrong[0], wrong[1], wrong[2]);
}
"""

PROCESSORS = [m for m in MACHINES if m.name in ("x86_64", "aarch64", "riscv64", "armv7", "s390x")]


def on_processors(*quick: str) -> pytest.MarkDecorator:
    """Runs a test for each processor. Those that are not `quick` are slow."""
    return pytest.mark.parametrize(
        "machine",
        [pytest.param(m, id=m.name, marks=[] if m.name in quick else [pytest.mark.slow]) for m in PROCESSORS],
    )


def need(machine: Machine, *tools: str) -> None:
    missing = [machine.missing] if machine.missing else [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@on_processors("s390x")
@pytest.mark.skipif(shutil.which("readelf") is None, reason="not installed: readelf")
@pytest.mark.parametrize("threads", [1, 4])
def test_object_calls_nothing_that_allocates(machine: Machine, threads: int, tmp_path: Path) -> None:
    machine.files(xla.parse(SORTED_PRODUCT), tmp_path, threads=threads)
    command = ["readelf", "--symbols", "--wide", "model.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines() if " UND " in line]
    called = {row[-1] for row in rows if row[-1] not in ("UND", "_GLOBAL_OFFSET_TABLE_")}
    called = {name for name in called if not name.startswith("__")}  # the compiler's own library
    assert called <= {"memcpy", "memset", "memmove", *(["xla_cpu_parallel_for"] if threads > 1 else [])}


@on_processors("aarch64")
@pytest.mark.parametrize("relocation_model", ["pic", "static"])
def test_static_program(machine: Machine, relocation_model: str, tmp_path: Path) -> None:
    need(machine)
    x = np.arange(6, dtype=np.float32)
    (got,) = machine.results(xla.parse(HALVED), [x], tmp_path, ["-static"], relocation_model=relocation_model)
    np.testing.assert_array_equal(got, x / 2)


@on_processors()
def test_cmake_builds_the_examples(machine: Machine, tmp_path: Path) -> None:
    need(machine, "cmake")
    machine.files(xla.parse(HALVED), tmp_path, "halved")
    machine.files(xla.parse(WIDE), tmp_path, "wide", threads=4)
    made = ["cmake", "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER={machine.compiler}", "-DXLA_AOT_THREADS=4"]
    for command in (made, ["cmake", "--build", "build"]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert machine.run(tmp_path / "build" / "halved_example") == "result0: f32, 24 bytes\n"
    assert machine.run(tmp_path / "build" / "wide_example") == "result0: f32, 4800000 bytes\n"
    roots = machine.array(tmp_path / "build" / "wide.result0", xla.parse(WIDE).result_shape)
    np.testing.assert_allclose(roots, np.sqrt(np.float32([[0.5] + 3999 * [0.25]] * 300)))


@on_processors()
def test_program_in_cpp_runs_models_in_its_own_threads(machine: Machine, tmp_path: Path) -> None:
    cpp = machine.compiler.removesuffix("gcc") + "g++"
    need(machine, "cmake", cpp)
    machine.files(xla.parse(HALVED), tmp_path, "halved")
    machine.files(xla.parse(WIDE), tmp_path, "wide", threads=4)
    host = tmp_path / "host"
    host.mkdir()
    (host / "CMakeLists.txt").write_text(CMAKE)
    (host / "main.cc").write_text(MAIN)
    compilers = [f"-DCMAKE_C_COMPILER={machine.compiler}", f"-DCMAKE_CXX_COMPILER={cpp}"]
    made = ["cmake", "-S", "host", "-B", "build", *compilers, "-DXLA_AOT_THREADS=4", "-DXLA_AOT_EXAMPLES=OFF"]
    for command in (made, ["cmake", "--build", "build"]):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert machine.run(tmp_path / "build" / "host") == "1 2 3 4 5 6 0 0 0\n"
