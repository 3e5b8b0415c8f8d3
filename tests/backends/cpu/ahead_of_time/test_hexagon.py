"""Qualcomm's Hexagon: kernels with HVX, linked without a C library, and run under qemu-hexagon."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xla_backend_cpu.compiler import CpuCompiler

import xla_core as xla
from tests.programs import PROGRAMS, Program
from xla_core.backend import AheadOfTimeOptions
from xla_core.hlo import HloModule

SQUARES = """HloModule squares
ENTRY main {
  x = f32[64,256] parameter(0)
  i = s32[1000] parameter(1)
  y = f32[64,256] multiply(x, x)
  square = s32[1000] multiply(i, i)
  j = s32[1000] add(square, i)
  ROOT both = (f32[64,256], s32[1000]) tuple(y, j)
}"""

# A program without a C library: arguments are in the program, and the results are written to its standard output.
START = """
#include "model.h"

void *memmove(void *to, const void *from, size_t size) {
  char *t = to;
  const char *f = from;
  if (t < f) for (size_t k = 0; k < size; ++k) t[k] = f[k];
  else while (size--) t[size] = f[size];
  return to;
}
void *memcpy(void *to, const void *from, size_t size) { return memmove(to, from, size); }
void *memset(void *to, int value, size_t size) {
  for (size_t k = 0; k < size; ++k) ((char *)to)[k] = (char)value;
  return to;
}
/* LLVM calls this function of Qualcomm's library for copies of multiples of 8 bytes. */
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *to, const void *from, size_t size) {
  return memmove(to, from, size);
}

/* The compiler's library has no roundeven. Adding 2^23 or 2^52 leaves no bits for a fraction. */
float roundevenf(float x) {
  volatile float sum = __builtin_fabsf(x) + 0x1p23f;
  return __builtin_fabsf(x) < 0x1p23f ? __builtin_copysignf(sum - 0x1p23f, x) : x;
}
double roundeven(double x) {
  volatile double sum = __builtin_fabs(x) + 0x1p52;
  return __builtin_fabs(x) < 0x1p52 ? __builtin_copysign(sum - 0x1p52, x) : x;
}

static long linux_call(long number, long first, long second, long third) {
  register long r6 __asm__("r6") = number;
  register long r0 __asm__("r0") = first;
  register long r1 __asm__("r1") = second;
  register long r2 __asm__("r2") = third;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2) : "memory");
  return r0;
}
static void leave(int status) { linux_call(93, status, 0, 0); }
static void put(const char *data, long size) {
  while (size > 0) {
    long done = linux_call(64, 1, (long)data, size);
    if (done <= 0) leave(9);
    data += done;
    size -= done;
  }
}

static char arena[MODEL_ARENA_BYTES] __attribute__((aligned(128)));
@ARRAYS@
void _start(void) {
  const void *arguments[] = {@ARGUMENTS@ 0};
  void *results[] = {@RESULTS@ 0};
  if (model_run((const model_arguments *)arguments, (const model_results *)results, arena) != XLA_AOT_OK) leave(8);
@OUTPUT@
  leave(7);
}
"""
INPUT = """
__asm__(".section .data\\n.balign 128\\n.globl @NAME@\\n@NAME@:\\n.incbin \\"@NAME@.bin\\"\\n.byte 0\\n");
extern char @NAME@[];
"""
HVX = "+hvxv67,+hvx-length128b"

needs_machine = pytest.mark.skipif(
    shutil.which("qemu-hexagon") is None or importlib.util.find_spec("ziglang") is None,
    reason="not installed: qemu-hexagon, or ziglang, which links for Hexagon",
)


def write_files(module: HloModule, folder: Path, features: str) -> None:
    options = AheadOfTimeOptions(name="model", triple="hexagon-unknown-elf", cpu="hexagonv67", features=features)
    for name, content in CpuCompiler().ahead_of_time_files(module, options).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def results(module: HloModule, inputs: Sequence[np.ndarray], folder: Path) -> list[np.ndarray]:
    """Compiles a program with HVX, links it without a C library, and runs it."""
    shapes = list(module.result_shape.array_leaves())
    write_files(module, folder, HVX)
    arrays = []
    for number, array in enumerate(inputs):
        (folder / f"input{number}.bin").write_bytes(np.ascontiguousarray(array).tobytes())
        arrays.append(INPUT.replace("@NAME@", f"input{number}"))
    for number, shape in enumerate(shapes):
        arrays.append(f"static char output{number}[{shape.byte_size} + 1] __attribute__((aligned(128)));\n")
    parts = {
        "@ARRAYS@": "".join(arrays),
        "@ARGUMENTS@": "".join(f"input{number}, " for number in range(len(inputs))),
        "@RESULTS@": "".join(f"output{number}, " for number in range(len(shapes))),
        "@OUTPUT@": "\n".join(f"  put(output{number}, {shape.byte_size});" for number, shape in enumerate(shapes)),
    }
    text = START
    for name, part in parts.items():
        text = text.replace(name, part)
    (folder / "start.c").write_text(text)
    flags = ["-target", "hexagon-freestanding", "-mcpu=hexagonv67", "-O1", "-ffreestanding", "-fno-builtin"]
    command = [sys.executable, "-m", "ziglang", "cc", *flags, "-static", "-nostartfiles", "start.c", "model.o"]
    linked = subprocess.run([*command, "-o", "program"], cwd=folder, capture_output=True, text=True)
    assert linked.returncode == 0, linked.stderr
    done = subprocess.run(["qemu-hexagon", "-cpu", "v67", "./program"], cwd=folder, capture_output=True)
    assert done.returncode == 7, done.stderr
    found, place = [], 0
    for shape in shapes:
        data = done.stdout[place : place + shape.byte_size]
        found.append(np.frombuffer(data, shape.dtype).reshape(shape.dimensions))
        place += shape.byte_size
    return found


@pytest.mark.skipif(shutil.which("llvm-objdump") is None, reason="not installed: llvm-objdump")
def test_loops_are_hvx_code(tmp_path: Path) -> None:
    code = {}
    for features in (HVX, ""):
        write_files(xla.parse(SQUARES), tmp_path, features)
        command = ["llvm-objdump", "-d", "--mcpu=hexagonv67", f"--mattr={HVX}", "model.o"]
        code[features] = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "vmem" in code[HVX]
    assert "vmem" not in code[""]


@needs_machine
def test_program_without_a_c_library_runs(tmp_path: Path) -> None:
    x = np.arange(64 * 256, dtype=np.float32).reshape(64, 256) / 2
    i = np.arange(-500, 500, dtype=np.int32)
    squares, sums = results(xla.parse(SQUARES), [x, i], tmp_path)
    np.testing.assert_array_equal(squares, x * x)
    np.testing.assert_array_equal(sums, i * i + i)


def _cases() -> list[object]:
    """All stored programs; one in thirty is not slow."""
    return [
        pytest.param(
            program,
            id=program.name,
            marks=[] if zlib.crc32(f"hexagon/{program}".encode()) % 30 == 0 else pytest.mark.slow,
        )
        for program in PROGRAMS
    ]


@needs_machine
@pytest.mark.parametrize("program", _cases())
def test_stored_program_gives_the_results_of_jax(program: Program, tmp_path: Path) -> None:
    program.check(results(xla.parse(program.text), program.inputs(), tmp_path))
