"""Faults of emulators, each with the smallest program that shows it. Programs that meet one are skipped."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.backends.cpu.ahead_of_time.machines import Machine


@dataclasses.dataclass(frozen=True)
class Fault:
    """An instruction that an emulator executes wrongly.

    `assembly` is a program that ends with status 0 where the instruction is right. `programs` are those that execute it
    so that their results depend on it, and the ops whose cases do.
    """

    machine: str
    what: str
    assembly: str
    programs: frozenset[str]


FAULTS = [
    Fault(
        "s390x",
        "multiplies two floats to a double wrongly: 3 times 5 is 160 (mdebr)",
        """
        .globl main
main:   lhi     %r1, 3
        cefbr   %f0, %r1
        lhi     %r1, 5
        cefbr   %f2, %r1
        mdebr   %f0, %f2
        cfdbr   %r2, 0, %f0
        ahi     %r2, -15
        br      %r14
""",
        frozenset(
            {
                "complex_numbers",
                "cosine_transforms_and_spectrogram",
                "elementwise",
                "fourier",
                "convolution_by_fourier",
                "quantum_circuit",
                "decompositions",
            }
        ),
    ),
    Fault(
        "riscv64-v",
        "ends with an assertion of its own (decode_save_opc) at a vfcvt.rtz, where no instruction before it in its block"
        " set the rounding mode",
        """
        .option arch, +v
        .globl main
main:   vsetivli zero, 4, e32, m1, ta, ma
        vfcvt.rtz.x.f.v v8, v8
        li      a0, 0
        ret
""",
        frozenset(
            {
                "conversions",
                "audio_in_int16",
                "tiny_types",
                "int8_network",
                "int8_convnet_of_bytes",
                "stochastic-convert",
            }
        ),
    ),
]


def skip_faulty(machine: Machine, program: str) -> None:
    """Skips the test of a program that a fault of the machine's emulator would fail."""
    for fault in FAULTS:
        if fault.machine == machine.name and program in fault.programs and has_fault(machine, fault):
            pytest.skip(f"{machine.runner[0]} {fault.what}")


@functools.cache
def _status(compiler: str, runner: tuple[str, ...], assembly: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "fault.s").write_text(assembly)
        subprocess.run([compiler, "-static", "fault.s", "-o", "fault"], cwd=folder, check=True, capture_output=True)
        return subprocess.run([*runner, "./fault"], cwd=folder, capture_output=True).returncode


def has_fault(machine: Machine, fault: Fault) -> bool:
    """Whether the emulator that is installed has the fault."""
    return _status(machine.compiler, machine.runner, fault.assembly) != 0
