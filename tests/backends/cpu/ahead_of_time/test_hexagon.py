"""Qualcomm's Hexagon: kernels with HVX, linked without a C library, and run under qemu-hexagon."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from xla_backend_cpu.compiler import CpuCompiler

import xla_core as xla
from xla_core.backend import AheadOfTimeOptions

PROGRAM = """HloModule squares
ENTRY main {
  x = f32[64,256] parameter(0)
  i = s32[1000] parameter(1)
  y = f32[64,256] multiply(x, x)
  square = s32[1000] multiply(i, i)
  j = s32[1000] add(square, i)
  ROOT both = (f32[64,256], s32[1000]) tuple(y, j)
}"""
START = """
#include "model.h"
void *memcpy(void *to, const void *from, size_t size) {
  for (size_t k = 0; k < size; ++k) ((char *)to)[k] = ((const char *)from)[k];
  return to;
}
static float x[64 * 256], y[64 * 256];
static int32_t i[1000], j[1000];
static char arena[MODEL_ARENA_BYTES] __attribute__((aligned(128)));

static void leave(long status) { /* Linux's exit */
  register long number __asm__("r6") = 93;
  register long code __asm__("r0") = status;
  __asm__ volatile("trap0(#1)" : : "r"(number), "r"(code));
}

void _start(void) {
  for (int k = 0; k < 64 * 256; ++k) x[k] = k * 0.5f;
  for (int k = 0; k < 1000; ++k) i[k] = k - 500;
  model_arguments arguments = {x, i};
  model_results results = {y, j};
  int wrong = model_run(&arguments, &results, arena);
  for (int k = 0; k < 64 * 256; ++k) wrong |= y[k] != x[k] * x[k];
  for (int k = 0; k < 1000; ++k) wrong |= j[k] != i[k] * i[k] + i[k];
  leave(wrong ? 8 : 7);
}
"""
HVX = "+hvxv67,+hvx-length128b"


def files(features: str) -> dict[str, str | bytes]:
    options = AheadOfTimeOptions(name="model", triple="hexagon-unknown-elf", cpu="hexagonv67", features=features)
    return dict(CpuCompiler().ahead_of_time_files(xla.parse(PROGRAM), options))


@pytest.mark.skipif(shutil.which("llvm-objdump") is None, reason="not installed: llvm-objdump")
def test_loops_are_hvx_code(tmp_path: Path) -> None:
    code = {}
    for features in (HVX, ""):
        (tmp_path / "model.o").write_bytes(bytes(files(features)["model.o"]))
        command = ["llvm-objdump", "-d", "--mcpu=hexagonv67", f"--mattr={HVX}", "model.o"]
        code[features] = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "vmem" in code[HVX]
    assert "vmem" not in code[""]


@pytest.mark.skipif(shutil.which("qemu-hexagon") is None, reason="not installed: qemu-hexagon")
@pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="not installed: ziglang, which links for Hexagon"
)
def test_program_without_a_c_library_runs(tmp_path: Path) -> None:
    for name, content in files(HVX).items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "start.c").write_text(START)
    flags = ["-target", "hexagon-freestanding", "-mcpu=hexagonv67", "-O1", "-ffreestanding", "-nostdlib", "-static"]
    command = [sys.executable, "-m", "ziglang", "cc", *flags, "start.c", "model.o", "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run(["qemu-hexagon", "-cpu", "v67", "./program"], cwd=tmp_path).returncode == 7
