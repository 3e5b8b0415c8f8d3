"""Compiles LLVM IR text to optimized IR, assembly or object code. Safe to call from several threads."""

from __future__ import annotations

import copy
import ctypes
import functools
import re
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any

from xla_core.codegen.llvm.address_space import has_address_space, require_address_space
from xla_core.codegen.llvm.intrinsics import require_known_intrinsics
from xla_core.codegen.llvm.ir.parts import IrPart
from xla_core.codegen.llvm.processors import check_processor
from xla_core.codegen.llvm.target_abi import TargetAbi
from xla_core.codegen.object_linker import llvm_initialization
from xla_core.errors import InternalError, InvalidArgumentError

_MOST_IDLE = 8
_idle_machines: dict[tuple[object, ...], list[Any]] = {}
"""Target machines by the arguments that they were made with. A machine keeps the tables of its subtarget, which take 2
ms to make.
"""


_ADDRESS_SPACE = 32 << 20
_ADDRESS_SPACE_OF_CHARACTER = 400
"""The address space in bytes that must be free to compile a module: a base, and more for each character of its text.

LLVM was seen to take about 300 bytes a character.
"""

_MOST_SHARED = 64
_shared_objects: dict[tuple[object, ...], bytes] = {}
"""The object files of shared parts by the arguments that they were made with, the oldest first."""


@functools.cache
def _initialize() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()


@functools.cache
def _concurrent(name: str) -> Any:
    """Returns a function of llvmlite's library without the lock that llvmlite holds around every call.

    The lock protects LLVM's global context. Each compilation here has a context, a target machine and a pass manager
    of its own, so passes and code generation of several modules may run at the same time.
    """
    from llvmlite.binding import ffi

    locked = getattr(ffi.lib, name)
    function = getattr(ctypes.CDLL(ffi.lib._name), name)
    function.argtypes, function.restype = locked.argtypes, locked.restype
    return function


def target_machine(abi: TargetAbi, *, opt_level: int = 2, jit: bool = False) -> Any:
    """Returns the TargetMachine of llvmlite for a target.

    Raises:
        InternalError: this LLVM has no such target.
        InvalidArgumentError: the target has no such processor or feature.
    """
    import llvmlite.binding as llvm

    with llvm_initialization:
        _initialize()
    if abi.cpu != llvm.get_host_cpu_name():
        check_processor(abi.triple or llvm.get_process_triple(), abi.cpu, abi.features)
    try:
        target = llvm.Target.from_triple(abi.triple or llvm.get_process_triple())
        return target.create_target_machine(
            cpu=abi.cpu,
            features=abi.features,
            opt=opt_level,
            reloc="static" if jit else abi.relocation,
            codemodel="large" if jit else "default",  # a process's code and constants may lie 2 GiB apart
            jit=jit,
            abiname=abi.abi_name,
        )
    except RuntimeError as error:
        raise InternalError(
            f"LLVM has no target machine for {abi.triple!r}: {error}",
            hint="a triple is ARCHITECTURE-VENDOR-SYSTEM, such as riscv64-unknown-elf",
        ) from error


def _machine_key(abi: TargetAbi, opt_level: int, jit: bool) -> tuple[object, ...]:
    return (abi.triple, abi.cpu, abi.features, abi.relocation, abi.abi_name, opt_level, jit)


def _idle_machine(abi: TargetAbi, opt_level: int, jit: bool) -> tuple[Any, list[Any]]:
    """Returns a target machine that no other compilation uses, and the list of idle ones to which it returns."""
    made_for = _machine_key(abi, opt_level, jit)
    idle = _idle_machines.setdefault(made_for, [])
    try:
        return idle.pop(), idle
    except IndexError:
        return target_machine(abi, opt_level=opt_level, jit=jit), idle


class CompiledModule:
    """An optimized module (llvmlite's ModuleRef), the target machine that emits its code, and the module's own context.

    This object frees the module before its context, which the garbage collector would not always do, and then gives
    the machine to `idle_machines`.
    """

    def __init__(self, module: Any, machine: Any, context: Any, idle_machines: list[Any]) -> None:
        self.module = module
        self.machine = machine
        self._context = context
        self._idle_machines = idle_machines

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing() and not self.module._owned:  # an execution engine that owns it keeps the context
            self.module.close()
            _dispose_context(self._context)
            if len(self._idle_machines) < _MOST_IDLE and not self.machine.closed:
                # The garbage collector closes the machine's own object too where an error's traceback refers to both.
                pointer = self.machine._ptr
                self.machine.detach()
                self._idle_machines.append(type(self.machine)(pointer))

    def ir(self) -> str:
        """Returns the optimized LLVM IR."""
        return str(self.module)

    def assembly(self) -> str:
        """Returns the target's assembly."""
        text: str = self.machine.emit_assembly(self.module)
        return text

    def object(self) -> bytes:
        """Returns a relocatable object file. Other threads may compile other modules meanwhile."""
        from llvmlite.binding import ffi

        with ffi.OutputString() as message:
            buffer = _concurrent("LLVMPY_TargetMachineEmitToMemory")(self.machine, self.module, 1, message)
            if not buffer:
                raise InternalError(f"LLVM emits no code for {self.module.name}: {message}")
        try:
            return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
        finally:
            ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def compile_ir(
    ir_text: str,
    abi: TargetAbi,
    opt_level: int = 2,
    *,
    jit: bool = False,
    what: str = "",
    optimized: bool = False,
    passes: Sequence[str] = (),
    vectorize: bool = True,
    features: Collection[str] = (),
) -> CompiledModule:
    """Parses, verifies and optimizes LLVM IR text.

    Args:
        ir_text: the module (`IrModule.to_text()`).
        abi: the target.
        opt_level: 0 to 3; 3 costs more time and has gained nothing on kernels.
        jit: code for this process's memory, not for a linker.
        what: names the kernels, and may show their HLO text, in the error.
        optimized: leave out the passes on IR; `opt_level` is that of the code generator.
        passes: run these instead of the level's passes on IR, by llvmlite's names, such as "sroa".
        vectorize: let LLVM make vectors of loops and of sequences, from level 2 on.
        features: those that the code needs besides the target's (`IrModule.features`).

    Raises:
        InternalError: LLVM refused the module, or lacks an intrinsic that it calls: a defect of the emitter or of the
            ABI; the message has the offending lines.
        InvalidArgumentError: llvmlite has no pass of a name in `passes`.
        ResourceExhaustedError: the process's limit on its address space leaves too little to compile the module.
    """
    import llvmlite.binding as llvm

    require_address_space(_ADDRESS_SPACE + _ADDRESS_SPACE_OF_CHARACTER * len(ir_text), what)
    if features:
        abi = copy.copy(abi)
        abi.features = ",".join(filter(None, (abi.features, *sorted(features))))
    machine, idle_machines = _idle_machine(abi, opt_level, jit)
    owner = llvm.create_context()
    context = owner._ptr
    owner.detach()
    try:
        module = llvm.parse_assembly(ir_text, context)
    except RuntimeError as error:
        _dispose_context(context)
        raise _refusal(error, what, ir_text) from error
    compiled = CompiledModule(module, machine, context, idle_machines)
    try:
        module.verify()
    except RuntimeError as error:
        raise _refusal(error, what, ir_text) from error
    require_known_intrinsics(ir_text, module, what)
    if not abi.data_layout:
        module.data_layout = str(machine.target_data)
    module.triple = machine.triple
    if optimized:
        return compiled
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = options.slp_vectorization = vectorize and opt_level >= 2
    options.loop_interleaving = vectorize and opt_level >= 2
    options.loop_unrolling = False  # doubles the code and the time to compile it, and gains nothing on vectors
    _run_passes(llvm.create_pass_builder(machine, options), module, passes)
    return compiled


def _dispose_context(context: Any) -> None:
    from llvmlite.binding import ffi

    ffi.lib.LLVMPY_ContextDispose(context)


def _run_passes(builder: Any, module: Any, names: Sequence[str]) -> None:
    """Runs the passes of these names, or those of the builder's level if there are none."""
    from llvmlite.binding.newpassmanagers import ModulePassManager, NewPassManager

    passes = ModulePassManager() if names else builder.getModulePassManager()
    try:
        for name in names:
            add = getattr(passes, f"add_{name}_pass", None)
            if add is None:
                raise InvalidArgumentError(f"llvmlite has no pass {name!r}")
            add()
        _concurrent("LLVMPY_RunNewModulePassManager")(passes, module, builder)
    finally:
        # passes.close() would call ObjectRef's empty _dispose instead of NewPassManager's, and leak 70 kB.
        NewPassManager._dispose(passes)
        passes.detach()


def compile_objects(
    parts: Sequence[IrPart], abi: TargetAbi, opt_level: int = 2, *, jit: bool = False, what: str = "", threads: int = 1
) -> tuple[bytes, ...]:
    """Compiles modules that will be linked together (`IrModule.split()`) on up to `threads` threads.

    Returns their object files; those of shared parts are kept for the next programs. See `compile_ir` for the other
    arguments.
    """
    waiting = list(enumerate(parts))[::-1]
    objects: dict[int, bytes] = {}
    failures: list[Exception] = []

    def work() -> None:
        while waiting and not failures:
            try:
                number, part = waiting.pop()
            except IndexError:  # another thread took the last one
                return
            try:
                objects[number] = _object(part, abi, opt_level, jit, what)
            except Exception as error:
                failures.append(error)

    others = parts[1:threads] if has_address_space(_ADDRESS_SPACE) else ()  # a thread that lacks memory never starts
    helpers = [threading.Thread(target=work, name="xla-llvm", daemon=True) for _ in others]
    started = []
    for helper in helpers:
        try:
            helper.start()
        except RuntimeError:  # the system has no more threads, or the interpreter ends: this thread does the work
            break
        started.append(helper)
    work()
    for helper in started:
        helper.join()
    if failures:
        raise failures.pop()  # its traceback refers to `failures`, which therefore must not refer to it
    return tuple(objects[number] for number in range(len(parts)))


def _object(part: IrPart, abi: TargetAbi, opt_level: int, jit: bool, what: str) -> bytes:
    opt_level = 0 if part.plain else opt_level
    key = (part, *_machine_key(abi, opt_level, jit))
    code = _shared_objects.get(key)
    if code is None:
        code = compile_ir(part.text, abi, opt_level, jit=jit, what=what, optimized=part.optimized).object()
        if part.shared:
            while len(_shared_objects) >= _MOST_SHARED:
                _shared_objects.pop(next(iter(_shared_objects)), None)
            _shared_objects[key] = code
    return code


def _refusal(error: RuntimeError, what: str, ir_text: str) -> InternalError:
    """Returns the error for IR that LLVM refuses, with the line of the text that LLVM's message names."""
    message = str(error)
    place = re.search(r"<string>:(\d+):", message)
    lines = ir_text.splitlines()
    said = message.strip()
    if place is not None and 0 < int(place[1]) <= len(lines):
        said += f"\n  {lines[int(place[1]) - 1].strip()}"
    return InternalError(
        f"LLVM refuses the IR of {what or 'a module'}: {said}",
        hint="this is a defect of the emitter or of the target's ABI, not of the program",
    )
