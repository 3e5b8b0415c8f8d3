"""Compiles LLVM IR to an object file in a process of its own.

LLVM ends the process where one of its assertions fails, such as those of its loop vectorizer. The code is then compiled
again without the passes whose assertions are known to fail.
"""

from __future__ import annotations

import json
import subprocess
import sys

from xla_core.codegen.llvm import LoopAbi, compile_ir
from xla_core.errors import InternalError

_LEVELS = {2: (2, 1), 0: (0,)}
"""LLVM's optimization levels to try, in order. Level 1 has no vectorization of loops."""

_FIELDS = ("triple", "cpu", "features", "relocation", "abi_name")


def object_code(ir_text: str, abi: LoopAbi, level: int, what: str) -> bytes:
    """Compiles a module for a linker.

    Raises:
        InternalError: LLVM refuses the module, or fails.
    """
    header = {name: getattr(abi, name) for name in _FIELDS}
    for attempt in _LEVELS[level]:
        request = json.dumps({**header, "level": attempt, "what": what}).encode() + b"\n" + ir_text.encode()
        command = [sys.executable, "-m", __name__]
        done = subprocess.run(command, input=request, capture_output=True)
        if done.returncode == 0:
            return done.stdout
    said = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    raise InternalError(
        f"LLVM failed on {what} for {abi.triple} {abi.cpu}: {said[-1][:500]}",
        hint="this is a defect of LLVM or of the emitter; another --cpu, --features or --optimize-for-size may work",
    )


def _main() -> None:
    header, _, text = sys.stdin.buffer.read().partition(b"\n")
    fields = json.loads(header)
    level, what = fields.pop("level"), fields.pop("what")
    if fields["triple"].startswith("hexagon"):
        import llvmlite.binding as llvm

        llvm.set_option("", "-hexagon-autohvx")  # as Qualcomm's compilers do
    abi = LoopAbi()
    for name, value in fields.items():
        setattr(abi, name, value)
    sys.stdout.buffer.write(compile_ir(text.decode(), abi, level, what=what).object())


if __name__ == "__main__":
    _main()
