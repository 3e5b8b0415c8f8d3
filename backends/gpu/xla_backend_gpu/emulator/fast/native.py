"""Compiles kernels to native code, and runs the blocks of a launch on the host's cores."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from xla_backend_gpu.emulator.counters import Counters
from xla_backend_gpu.emulator.fast.driver import emit_driver
from xla_backend_gpu.emulator.fast.layout import Context, Faults, StateLayout
from xla_backend_gpu.emulator.fast.thread_function import emit_report, emit_thread_function
from xla_backend_gpu.emulator.faults import FaultKind
from xla_backend_gpu.emulator.launch import Launch
from xla_backend_gpu.emulator.ptx.program import Kernel, Symbol
from xla_core.codegen.llvm import IrModule, LoopAbi, compile_ir

__all__ = ["kernel_ir", "run_fast"]

_INLINE_WORK = 1 << 18
"""Instructions of all threads, each counted once, below which a launch stays on the calling thread."""

_OPT_LEVEL = 1
"""LLVM's, for kernels that run for long. The vectorizer of higher levels costs time, and calls functions of 128-bit
integers that are not linked."""

_OPTIMIZATION_COST = 10
"""How much longer a compilation takes with optimization. A kernel that has run for so long is compiled again."""

_WAVES = 8
"""Parts of a launch for each core, so that the cores end at about the same time, and change to optimized code soon."""


class _Native:
    """A kernel's code for the host."""

    def __init__(self, text: str, name: str, opt_level: int) -> None:
        import llvmlite.binding as llvm

        what = f"kernel {name} in the emulator"
        compiled = compile_ir(text, _host(), opt_level, jit=True, what=what, optimized=not opt_level)
        self._compiled = compiled
        self._engine = llvm.create_mcjit_compiler(compiled.module, compiled.machine)
        self._engine.finalize_object()
        signature = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.run = signature(self._engine.get_function_address("run"))


class _Code:
    """A kernel's code. It is compiled without optimization first, which takes a tenth of the time and gives code that
    takes twice the time: most kernels of tests run for less than a millisecond.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._name = kernel.name
        started = time.thread_time()
        self._text, self.layout = kernel_ir(kernel)
        self._native = _Native(self._text, kernel.name, 0)
        self._seconds_to_optimize = _OPTIMIZATION_COST * (time.thread_time() - started)
        self._seconds = 0.0
        self._is_optimized = False
        self._lock = threading.Lock()

    def run(self, context: int, scratch: int, first: int, last: int) -> None:
        """Runs blocks. Several threads may call it."""
        native = self._current()
        started = time.thread_time()
        native.run(context, scratch, first, last)
        self._seconds += time.thread_time() - started

    def _current(self) -> _Native:
        if self._seconds > self._seconds_to_optimize and not self._is_optimized:
            with self._lock:
                if not self._is_optimized:
                    self._native = _Native(self._text, self._name, _OPT_LEVEL)
                    self._is_optimized = True
        return self._native


def kernel_ir(kernel: Kernel) -> tuple[str, StateLayout]:
    """Translates a kernel to LLVM IR.

    Raises:
        UnimplementedError: the kernel has an instruction that the engine doesn't run.
    """
    layout = StateLayout.of(kernel)
    module = IrModule(kernel.name)
    emit_report(module)
    emit_thread_function(module, kernel, layout)
    emit_driver(module, kernel, layout)
    return module.to_text(), layout


_compiling = threading.Lock()
_codes: weakref.WeakKeyDictionary[Kernel, _Code] = weakref.WeakKeyDictionary()


def _code_of(kernel: Kernel) -> _Code:
    """Returns the kernel's code, which lives as long as the kernel."""
    with _compiling:
        if kernel not in _codes:
            _codes[kernel] = _Code(kernel)
        return _codes[kernel]


@functools.cache
def _host() -> LoopAbi:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return LoopAbi(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="xla-gpu-emulator")


@functools.cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_fast(launch: Launch) -> Counters:
    """Runs all blocks. Raises EmulatorFault for the first fault that a thread reported."""
    code = _code_of(launch.kernel)
    launch.memory.tracks_initialization = False
    context = _context(launch)
    blocks = launch.blocks
    scratch = -(-launch.shared_bytes // 64) * 64 + -(-launch.threads // 32) * 32 * code.layout.stride + 128
    work = blocks * launch.threads * len(launch.kernel.instructions)
    parts = 1 if work < _INLINE_WORK else min(blocks, _cores() * _WAVES)

    def run(part: int) -> None:
        memory = np.empty(scratch, np.uint8)
        start = memory.ctypes.data + -memory.ctypes.data % 64
        code.run(context.ctypes.data, start, blocks * part // parts, blocks * (part + 1) // parts)

    if parts == 1 or _cores() == 1:
        for part in range(parts):
            run(part)
    else:
        list(_pool().map(run, range(parts)))
    _raise_fault(launch, context)
    return Counters(launches=1, blocks=blocks, threads=blocks * launch.threads)


def _context(launch: Launch) -> np.ndarray[Any, np.dtype[np.int64]]:
    memory, kernel = launch.memory, launch.kernel
    parameters = np.zeros(max(1, -(-len(launch.parameters) // 8)), np.int64)
    parameters.view(np.uint8)[: len(launch.parameters)] = np.frombuffer(launch.parameters, np.uint8)
    words = {
        Context.MEMORY_BASE: memory.base,
        Context.MEMORY_SIZE: memory.size,
        Context.MEMORY: memory.data.ctypes.data,
        Context.SHARED_BYTES: launch.shared_bytes,
        Context.FUEL: launch.limit,
        **dict(zip((Context.GRID_X, Context.GRID_Y, Context.GRID_Z), launch.grid, strict=True)),
        **dict(zip((Context.BLOCK_X, Context.BLOCK_Y, Context.BLOCK_Z), launch.block, strict=True)),
    }
    head = Context.GLOBALS + len(kernel.globals)
    context = np.zeros(head + parameters.size, np.int64)
    for place, word in words.items():
        context[place] = word
    for number, variable in enumerate(kernel.globals):
        context[Context.GLOBALS + number] = launch.address(Symbol(variable))
    context[head:] = parameters
    context[Context.PARAMETERS] = context.ctypes.data + 8 * head
    return context


_KINDS = {
    Faults.OUT_OF_BOUNDS: FaultKind.OUT_OF_BOUNDS,
    Faults.MISALIGNED: FaultKind.MISALIGNED,
    Faults.ENDLESS: FaultKind.ENDLESS,
    Faults.TRAP: FaultKind.TRAP,
    Faults.BARRIER_DIVERGENCE: FaultKind.BARRIER_DIVERGENCE,
}


def _raise_fault(launch: Launch, context: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    found = Faults(int(context[Context.FAULT]))
    if found is Faults.NONE:
        return
    address = int(context[Context.FAULT_ADDRESS]) & (1 << 64) - 1
    details = {
        Faults.OUT_OF_BOUNDS: f"address {address:#x} lies outside of the memory",
        Faults.MISALIGNED: f"address {address:#x} is not a multiple of the access's size",
        Faults.ENDLESS: f"the thread executed more than {launch.limit} instructions",
        Faults.TRAP: "the kernel trapped",
        Faults.BARRIER_DIVERGENCE: "the thread waits for threads that never arrive",
    }
    instruction = launch.kernel.instructions[int(context[Context.FAULT_INSTRUCTION])]
    x, y, z = (int(context[place]) for place in range(Context.FAULT_BLOCK_X, Context.FAULT_BLOCK_Z + 1))
    block = x + launch.grid[0] * (y + launch.grid[1] * z)
    thread = block * launch.threads + int(context[Context.FAULT_THREAD])
    raise launch.fault(_KINDS[found], details[found], thread, instruction)
