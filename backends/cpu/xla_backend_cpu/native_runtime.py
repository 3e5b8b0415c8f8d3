"""The native runtime of the process, which compiled programs call: a thread pool and conversions."""

from __future__ import annotations

import ctypes
import importlib.resources
import os
from typing import TYPE_CHECKING

from xla_backend_cpu.host import host_triple, locked
from xla_backend_cpu.machine_code import CodeGenerator

if TYPE_CHECKING:
    from xla_core.codegen import LinkedCode


_CALLED = ("xla_cpu_parallel_for", "__truncdfhf2", "__truncdfbf2")
_FUNCTIONS = (*_CALLED, "xla_cpu_start_workers", "xla_cpu_forget_workers")
_made: list[LinkedCode] = []


def _runtime(generator: CodeGenerator) -> LinkedCode:
    """The runtime, which the first generator that needs it compiles: all programs of the process share its threads."""
    if not _made:
        with locked():
            if not _made:
                _made.append(_compiled(generator))
    return _made[0]


def _compiled(generator: CodeGenerator) -> LinkedCode:
    from xla_core.codegen.llvm import IrPart, LoopAbi

    native = importlib.resources.files("xla_backend_cpu").joinpath("native")
    parts = [IrPart(native.joinpath(name).read_text()) for name in ("thread_pool.ll", "conversions.ll")]
    code = generator.compile(parts, LoopAbi(host_triple()), 2, what="the CPU's runtime", threads=1)
    library = generator.load(code, _FUNCTIONS, {})
    os.register_at_fork(after_in_child=library.function("xla_cpu_forget_workers", None))
    return library


def runtime_symbols(generator: CodeGenerator) -> dict[str, int]:
    """The addresses of the native runtime's functions that compiled programs call."""
    library = _runtime(generator)
    return {name: library.addresses[name] for name in _CALLED}


def start_workers(threads: int, generator: CodeGenerator) -> int:
    """Grows the process's thread pool to `threads` threads, including the caller. Returns the number it has."""
    start = _runtime(generator).function("xla_cpu_start_workers", ctypes.c_int32, ctypes.c_int32)
    with locked():
        return 1 + int(start(threads - 1))
