"""Copies from global to shared memory that go on while the thread computes: cp.async."""

from __future__ import annotations

from xla_backend_gpu.processors import processor_number
from xla_core.codegen.llvm import IrBuilder, Value

COPY_BYTES = (4, 8, 16)
"""The sizes of copies."""


def has_asynchronous_copies(processor: str) -> bool:
    return processor_number(processor) >= 80


def start_copy(builder: IrBuilder, target: Value, source: Value, size: int, holds: Value) -> None:
    """Emits cp.async. Copies of 16 bytes leave out the L1 cache, where nothing would read them again."""
    cache = "cg" if size == 16 else "ca"
    name = f"llvm.nvvm.cp.async.{cache}.shared.global.{size}"
    if holds.name == "true":
        builder.call(name, "void", [target, source])
        return
    given = builder.select(holds, builder.int_(size, "i32"), builder.int_(0, "i32"))
    builder.call(f"{name}.s", "void", [target, source, given])
