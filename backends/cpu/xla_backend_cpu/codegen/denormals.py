"""Emits the switch of a processor's floating-point mode that makes it treat denormal numbers as zero.

Arithmetic on denormal numbers can take a hundred times as long as on others. XLA's CPU compiler flushes them in whole
programs; here, only products do, where they cost the most.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from xla_backend_cpu.host import architecture
from xla_core.codegen.llvm import IrBuilder, Value

_MXCSR_FLUSH = 0x8040  # flush to zero, and denormals are zeros
_FPCR_FLUSH = 1 << 24


@contextlib.contextmanager
def flushed_denormals(b: IrBuilder, triple: str) -> Iterator[None]:
    """Emits the code inside so that it reads and writes zeros in place of denormal numbers.

    The mode is a thread's, so the code after it restores the old one. On an architecture other than x86-64 and AArch64
    the mode stays as it is.
    """
    match architecture(triple):
        case "x86_64":
            place = b.alloca("i32", align=4)
            b.call("llvm.x86.sse.stmxcsr", "void", [place])
            saved = b.load("i32", place, align=4)
            _set_mxcsr(b, place, b.or_(saved, b.int_(_MXCSR_FLUSH, "i32")))
            yield
            _set_mxcsr(b, place, saved)
        case "aarch64":
            saved = b.call("llvm.aarch64.get.fpcr", "i64", [])
            b.call("llvm.aarch64.set.fpcr", "void", [b.or_(saved, b.int_(_FPCR_FLUSH))])
            yield
            b.call("llvm.aarch64.set.fpcr", "void", [saved])
        case _:
            yield


def _set_mxcsr(b: IrBuilder, place: Value, value: Value) -> None:
    b.store(value, place, align=4)
    b.call("llvm.x86.sse.ldmxcsr", "void", [place])
