"""Compiles programs for the targets of examples/targets and checks the assembly.

    python -m tests.examples.assembly_checks TARGET NAME...

A name is that of a benchmark program or of a case of the conformance suite. It is a process of its own, because LLVM
ends the process for a frame that a target can't have, and for its own defects, or never returns.
"""

from __future__ import annotations

import faulthandler
import functools
import re
import sys
from collections.abc import Callable
from pathlib import Path

from xla_conformance.ops import generate

import xla_core
from benchmarks.suite import PROGRAMS
from examples.targets.assembly import TARGETS, AssemblyCompiler
from xla_core.errors import UnimplementedError
from xla_core.hlo import HloModule

MOST_SCALARS = 8  # scalar registers of a wave that a kernel of complex or f64 functions keeps in vector registers
MOST_SECONDS = 300  # for a program; the process ends if LLVM takes longer
MOST_VECTORS = 4  # vectors that a kernel of Hexagon keeps on the stack


SPILLED_SCALARS = "spilled scalar registers"
SPILLS = r"reduce-window-\w+-wide-rank\.\d-count\.17-"
"""Programs that spill them: the addresses of 17 operands, initial values and results fill all 102."""


def problems(target: str, assembly: str) -> list[str]:
    """The faults in the assembly of a program's kernels."""
    return _hexagon_problems(assembly) if target == "hexagon" else _amdgpu_problems(target, assembly)


def _amdgpu_problems(target: str, assembly: str) -> list[str]:
    kernels = len(re.findall(r"^\s*\.amdhsa_kernel ", assembly, re.MULTILINE))
    found = []

    def values(key: str) -> list[int]:
        numbers = [int(n) for n in re.findall(rf"^\s*\.{key}:? +(\d+)$", assembly, re.MULTILINE)]
        if len(numbers) != kernels:
            found.append(f"{kernels} kernels, but {len(numbers)} have {key}")
        return numbers

    if f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"' not in assembly:
        found.append("another target")
    if any(values("vgpr_spill_count")):
        found.append("spilled vector registers")
    if max(values("sgpr_spill_count"), default=0) > MOST_SCALARS:
        found.append(SPILLED_SCALARS)
    if set(values("wavefront_size")) - {64} or set(values("amdhsa_system_sgpr_workgroup_id_x")) - {1}:
        found.append("no waves of 64 lanes, or no index of the block")
    if not all(1 <= n <= 1024 for n in values("max_flat_workgroup_size")):
        found.append("blocks of a size that the device doesn't have")
    if not all(n <= 64 << 10 for n in values("group_segment_fixed_size")):
        found.append("more shared memory than a block has")
    if not all(n <= 1 << 12 for n in values("private_segment_fixed_size")):
        found.append("more stack than the ABI gives a thread")
    if re.search(r"\bflat_(load|store|atomic)", assembly):
        found.append("an access without an address space")
    lines = [line.strip() for line in assembly.splitlines()]
    for number, line in enumerate(lines):
        if line == "s_barrier" and (waits := _writes_before(lines, number)):
            found.append(f"a barrier that doesn't wait for {waits}")
    return found


def _writes_before(lines: list[str], barrier: int) -> str:
    """A write to shared memory in the barrier's basic block that may not be done at the barrier, or ""."""
    for line in reversed(lines[:barrier]):
        if line.startswith("s_waitcnt") and "lgkmcnt(0)" in line:
            return ""
        if line.startswith("ds_write"):
            return line
        if line.endswith(":") or line.startswith(("s_branch", "s_cbranch")):
            return ""
    return ""


def _hexagon_problems(assembly: str) -> list[str]:
    found = []
    if not re.search(r"^\s*\.attribute\s+4, 73$", assembly, re.MULTILINE):
        found.append("another processor")
    for kernel in re.split(r"^// -- End function|^\.Lfunc_end", assembly, flags=re.MULTILINE):
        stores = len(re.findall(r"128-byte Folded Spill", kernel))
        if stores > MOST_VECTORS:
            found.append(f"{stores} spilled vectors")
    return found


@functools.cache
def _programs() -> dict[str, Callable[[], HloModule]]:
    files = {path.stem: functools.partial(_read, path) for path in sorted(PROGRAMS.glob("*.mlir"))}
    return {**files, **{case.name: case.module for case in generate()}}


def _read(path: Path) -> HloModule:
    return xla_core.parse(path.read_text(), file=str(path))


def program_names() -> list[str]:
    """The benchmark programs and the cases of the conformance suite."""
    return list(_programs())


def main(target: str, names: list[str]) -> int:
    """Prints what is wrong, and how many programs the target's compiler refuses. Returns 1 if anything is wrong."""
    wrong, refused = 0, 0
    for name in names:
        print(f"compiling {name}", flush=True)  # the last line names the program that ended the process
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        try:
            executable = AssemblyCompiler(TARGETS[target]()).compile(_programs()[name]())
        except UnimplementedError:  # what the shared emitter and the decompositions don't have: LAPACK, collectives
            refused += 1
            continue
        for problem in problems(target, str(executable.artifacts()["asm"])):
            if problem != SPILLED_SCALARS or not re.match(SPILLS, name):
                print(f"WRONG: {name}: {problem}", flush=True)
                wrong += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{len(names)} programs, {refused} refused, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
