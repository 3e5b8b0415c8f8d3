"""Compiles kernels to native code, and runs the blocks of a launch on the host's cores."""

from __future__ import annotations

import array
import contextlib
import ctypes
import functools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from xla_backend_gpu.emulator.counters import Counters
from xla_backend_gpu.emulator.fast.driver import RUN_ROUNDS, RUN_THREADS, emit_driver
from xla_backend_gpu.emulator.fast.fault_reports import CODE_BITS, KIND_BITS, REPORT, emit_report
from xla_backend_gpu.emulator.fast.layout import Context, Faults, StateLayout
from xla_backend_gpu.emulator.fast.releases import emit_warp_release
from xla_backend_gpu.emulator.fast.thread_function import emit_thread_function
from xla_backend_gpu.emulator.faults import EmulatorFault, FaultKind
from xla_backend_gpu.emulator.launch import Launch
from xla_backend_gpu.emulator.ptx.program import Kernel, Symbol
from xla_core.codegen import LinkedCode, link_objects
from xla_core.codegen.llvm import IrFunction, IrModule, LoopAbi, compile_ir
from xla_core.errors import UnimplementedError

_PART_WORK = 1 << 18
"""The least instructions of the threads of a part, each counted once: starting a thread takes as long as these."""

_OPT_LEVEL = 1
"""LLVM's, for kernels that run for long. The vectorizer of higher levels costs time, and calls functions of 128-bit
integers that are not linked."""

_PASSES = ("sroa", "instruction_combine", "simplify_cfg")
"""The passes on the IR of such kernels. All of the level's take four times as long, and make few kernels faster."""

_PATIENCE = 20
"""A kernel is compiled again when it has run this many times as long as its first compilation took. The second
compilation takes four times as long and makes kernels up to twice as fast, but few of them run much longer."""

_WAVES = 8
"""The most parts of a launch for each core: the cores end at about the same time, and change to optimized code soon."""


def _link(module: IrModule, opt_level: int, what: str, passes: Sequence[str] = ()) -> LinkedCode:
    """Compiles a module, without optimization at level 0, and links its functions that are not internal.

    `passes` are instead of the level's.
    """
    text = module.to_text()
    compiled = compile_ir(text, _host(), opt_level, jit=True, what=what, optimized=not opt_level, passes=passes)
    exported = [name for name, function in module.functions.items() if not function.is_internal]
    return link_objects([compiled.object()], exported)


_Driver = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2, *[ctypes.c_void_p] * 2, ctypes.c_int64)


class _Native(NamedTuple):
    """The native code of a launch.

    Attributes:
        driver: the function that runs blocks.
        thread, release_warp: the addresses of the kernel's functions; 0 for one that it doesn't have.
        stride: the size of a thread's state in bytes.
        library: has the kernel's functions.
    """

    driver: Callable[..., None]
    thread: int
    release_warp: int
    stride: int
    library: LinkedCode


@functools.cache
def _shared() -> LinkedCode:
    """Compiles the code that all kernels share: the drivers, and the function that reports faults."""
    module = IrModule("drivers")
    emit_report(module)
    for name in (RUN_THREADS, RUN_ROUNDS):
        emit_driver(module, name)
    return _link(module, _OPT_LEVEL, "the emulator's drivers")


@functools.cache
def _drivers() -> Mapping[str, Callable[..., None]]:
    return {name: _Driver(_shared().addresses[name]) for name in (RUN_THREADS, RUN_ROUNDS)}


class _Code:
    """A kernel's code. It is first compiled without optimization, because most kernels of tests run for less than a
    millisecond: compiling then takes a quarter of the time, and running up to twice the time.

    Attributes:
        seconds_to_optimize: how long the kernel must have run before it is compiled with optimization.
    """

    def __init__(self, kernel: Kernel, layout: StateLayout, native: _Native, seconds_to_compile: float) -> None:
        self._kernel = weakref.ref(kernel)  # the thread keeps this object alive
        self.layout = layout
        self._native = native
        self.seconds_to_optimize = _PATIENCE * seconds_to_compile
        self._seconds = 0.0
        self._is_optimized = False
        self._lock = threading.Lock()

    def run(self, context: int, scratch: int, first: int, last: int) -> None:
        """Runs blocks. Several threads may call it."""
        native = self._current()
        started = time.perf_counter()  # the thread's own time takes the system 20 times as long to tell
        native.driver(context, scratch, first, last, native.thread, native.release_warp, native.stride)
        self._seconds += time.perf_counter() - started

    def _current(self) -> _Native:
        if self._seconds > self.seconds_to_optimize and not self._is_optimized:
            with self._lock:
                kernel = self._kernel()
                if not self._is_optimized and kernel is not None:
                    self._native = _optimized(kernel)
                    self._is_optimized = True
        return self._native


def _optimized(kernel: Kernel) -> _Native:
    """Compiles a kernel with optimization. Registers on the stack become LLVM values."""
    module = IrModule(kernel.name)
    layout = StateLayout.of(kernel, resident=False)
    thread = emit_thread_function(module, kernel, layout, "thread")
    release_warp = emit_warp_release(module, kernel, layout, "release_warp")
    library = _link(module, _OPT_LEVEL, f"kernel {kernel.name} in the emulator", _PASSES)
    return _native(layout, library, thread, release_warp)


def _native(layout: StateLayout, library: LinkedCode, thread: IrFunction, release_warp: IrFunction | None) -> _Native:
    release = library.addresses[release_warp.name] if release_warp is not None else 0
    return _Native(_drivers()[_driver_of(layout)], library.addresses[thread.name], release, layout.stride, library)


def _driver_of(layout: StateLayout) -> str:
    return RUN_ROUNDS if layout.sites else RUN_THREADS


_compiling = threading.Lock()


def _after_fork() -> None:
    """Replaces the lock, which another thread of the parent may have held."""
    global _compiling
    _compiling = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
_codes: weakref.WeakKeyDictionary[Kernel, _Code] = weakref.WeakKeyDictionary()


def compile_kernel(kernel: Kernel, siblings: Collection[Kernel]) -> _Code:
    """Returns the kernel's code, which lives as long as the kernel.

    The kernels of a module are compiled together, which takes half of the time of compiling each alone.

    Raises:
        UnimplementedError: the kernel has an instruction that the engine doesn't run.
    """
    code = _codes.get(kernel)
    if code is None:
        with _compiling:
            if kernel not in _codes:
                _compile([k for k in siblings if k is not kernel and k not in _codes], kernel)
            code = _codes[kernel]
    return code


def _compile(others: Sequence[Kernel], kernel: Kernel) -> None:
    """Compiles kernels as one module, without optimization. Those of `others` that can't be translated are left out."""
    _drivers()  # whose compilation is not to count
    started = time.thread_time()
    module = IrModule(kernel.name)
    emitted = [(kernel, *_emit(module, kernel, 0))]
    for number, other in enumerate(others, 1):
        with contextlib.suppress(UnimplementedError):  # the kernel's own launch raises the error
            emitted.append((other, *_emit(module, other, number)))
    library = _link(module, 0, f"kernel {kernel.name} and those beside it in the emulator")
    of_instruction = (time.thread_time() - started) / sum(len(one.instructions) for one, *_ in emitted)
    for one, layout, thread, release_warp in emitted:
        native = _native(layout, library, thread, release_warp)
        _codes[one] = _Code(one, layout, native, of_instruction * len(one.instructions))


def _emit(module: IrModule, kernel: Kernel, number: int) -> tuple[StateLayout, IrFunction, IrFunction | None]:
    """Emits a kernel's functions, as those of this number in the module."""
    layout = StateLayout.of(kernel, resident=True)
    thread = emit_thread_function(module, kernel, layout, f"thread{number}")
    return layout, thread, emit_warp_release(module, kernel, layout, f"release_warp{number}")


@functools.cache
def _host() -> LoopAbi:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return LoopAbi(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


@functools.cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class FastLaunch:
    """A launch that is ready to run, any number of times until it has a fault: the device is lost then.

    Args:
        launch: the launch.
        siblings: the kernels of the module, which are compiled with the one that is launched.

    Raises:
        UnimplementedError: the kernel has an instruction that the engine doesn't run.
    """

    def __init__(self, launch: Launch, siblings: Collection[Kernel] = ()) -> None:
        self._launch = launch
        self._code = compile_kernel(launch.kernel, siblings)
        self._context = _context(launch)
        self._place, _ = self._context.buffer_info()
        states = -(-launch.threads // 32) * 32 * self._code.layout.stride
        self._scratch = -(-launch.shared_bytes // 64) * 64 + states + 128
        self._blocks = launch.blocks
        work = self._blocks * launch.threads * len(launch.kernel.instructions)
        self._parts = max(1, min(self._blocks, work // _PART_WORK, _cores() * _WAVES))
        self._counters = Counters(launches=1, blocks=self._blocks, threads=self._blocks * launch.threads)
        launch.memory.tracks_initialization = False

    def run(self) -> Counters:
        """Runs all blocks.

        Raises:
            EmulatorFault: the first fault that a thread reported.
        """
        run_on_cores(self._run_part, self._parts)
        if self._context[Context.FAULT]:
            raise _fault(self._launch, self._context, self._code.layout)
        return self._counters

    def _run_part(self, part: int) -> None:
        memory = np.empty(self._scratch, np.uint8)
        start = memory.ctypes.data
        start += -start % 64
        blocks, parts = self._blocks, self._parts
        self._code.run(self._place, start, blocks * part // parts, blocks * (part + 1) // parts)


def run_on_cores(run: Callable[[int], None], parts: int) -> None:
    """Calls `run` for the number of each part, in this thread and in others where the process can have them.

    After an error of one part no further part is run, and the error is raised. These are plain threads, because
    executors of `concurrent.futures` refuse work once the main thread has ended.
    """
    if parts == 1:
        run(0)
        return
    rest = iter(range(parts))
    errors: list[BaseException] = []

    def run_rest() -> None:
        try:
            for part in rest:
                if errors:
                    return
                run(part)
        except BaseException as error:
            errors.append(error)

    threads: list[threading.Thread] = []
    with contextlib.suppress(RuntimeError):  # no more threads; this one does the work
        for _ in range(0 if sys.is_finalizing() else min(parts, _cores()) - 1):
            thread = threading.Thread(target=run_rest, name="xla-gpu-emulator", daemon=True)
            thread.start()
            threads.append(thread)
    run_rest()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _context(launch: Launch) -> array.array[int]:
    memory, kernel = launch.memory, launch.kernel
    words = [0] * Context.GLOBALS
    words[Context.MEMORY_BASE] = memory.base
    words[Context.MEMORY_SIZE] = memory.size
    words[Context.MEMORY] = memory.host_address
    words[Context.GRID_X : Context.GRID_Z + 1] = launch.grid
    words[Context.BLOCK_X : Context.BLOCK_Z + 1] = launch.block
    words[Context.SHARED_BYTES] = launch.shared_bytes
    words[Context.FUEL] = launch.limit
    words[Context.REPORT] = _shared().addresses[REPORT]
    words += [launch.address(Symbol(variable)) for variable in kernel.globals]
    head = len(words)
    parameters = launch.parameters.ljust(-(-len(launch.parameters) // 8) * 8, b"\0")
    context = array.array("q", words)
    context.frombytes(parameters)
    context.append(0)
    context[Context.PARAMETERS] = context.buffer_info()[0] + 8 * head
    return context


_KINDS = {
    Faults.OUT_OF_BOUNDS: FaultKind.OUT_OF_BOUNDS,
    Faults.MISALIGNED: FaultKind.MISALIGNED,
    Faults.ENDLESS: FaultKind.ENDLESS,
    Faults.TRAP: FaultKind.TRAP,
    Faults.BARRIER_DIVERGENCE: FaultKind.BARRIER_DIVERGENCE,
}


def _fault(launch: Launch, context: array.array[int], layout: StateLayout) -> EmulatorFault:
    """Returns the fault that the context has."""
    code = context[Context.FAULT]
    position, low = code >> CODE_BITS, code & (1 << CODE_BITS) - 1
    found, align = Faults(low & (1 << KIND_BITS) - 1), low >> KIND_BITS
    address = context[Context.FAULT_ADDRESS] & (1 << 64) - 1
    kind = _KINDS[found]
    if kind is FaultKind.OUT_OF_BOUNDS and address % align:
        kind = FaultKind.MISALIGNED
    details = {
        FaultKind.OUT_OF_BOUNDS: f"address {address:#x} lies outside of the memory",
        FaultKind.MISALIGNED: f"address {address:#x} is not a multiple of the access's size",
        FaultKind.ENDLESS: f"the thread executed more than {launch.limit} instructions",
        FaultKind.TRAP: "the kernel trapped",
        FaultKind.BARRIER_DIVERGENCE: "the thread waits for threads that never arrive",
    }
    if found is Faults.BARRIER_DIVERGENCE:  # the driver knows the number of the site
        position = layout.sites[position - 1]
    instruction = launch.kernel.instructions[position]
    x, y, z = context[Context.FAULT_BLOCK_X : Context.FAULT_BLOCK_Z + 1]
    block = x + launch.grid[0] * (y + launch.grid[1] * z)
    thread = block * launch.threads + context[Context.FAULT_THREAD]
    return launch.fault(kind, details[kind], thread, instruction)
