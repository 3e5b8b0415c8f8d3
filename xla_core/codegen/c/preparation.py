"""Runs those of LLVM's passes that don't depend on the processor."""

from __future__ import annotations

from xla_core.codegen.c.source import PORTABLE, CTarget
from xla_core.codegen.llvm import LoopAbi, compile_ir

_STAND_INS = {
    (8, False): "riscv64-unknown-elf",
    (4, False): "riscv32-unknown-elf",
    (8, True): "s390x-unknown-linux-gnu",
    (4, True): "powerpc-unknown-elf",
}
"""Processors whose data layouts LLVM's passes take, by the size of an address and the order of bytes."""


def prepare_ir(ir_text: str, target: CTarget = PORTABLE, *, level: int = 2, what: str = "") -> str:
    """Returns optimized LLVM IR, without vectors that weren't there before: C compilers know the processor's.

    Level 0 leaves the IR as it is. `what` names the module in errors.

    Raises:
        InternalError: LLVM refuses the module.
    """
    abi = LoopAbi(_STAND_INS[target.pointer_bytes, target.big_endian])
    return compile_ir(ir_text, abi, level, what=what, optimized=level == 0, vectorize=False).ir()
