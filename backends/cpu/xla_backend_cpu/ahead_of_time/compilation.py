"""Compiles a program to the files that a C program is built with."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xla_backend_cpu import code_generation
from xla_backend_cpu.ahead_of_time.c_source import c_source
from xla_backend_cpu.ahead_of_time.entry import Places, emit_entry
from xla_backend_cpu.ahead_of_time.header import example_text, header_text
from xla_backend_cpu.ahead_of_time.interface import Interface
from xla_backend_cpu.ahead_of_time.target import AheadOfTimeTarget
from xla_backend_cpu.codegen.module_emitter import ModuleEmitter
from xla_backend_cpu.executor import ALIGNMENT
from xla_core.analysis import assign_buffers
from xla_core.backend import AheadOfTimeOptions, CompileOptions
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import HloModule, flatten_entry
from xla_core.passes import run_hlo_passes

if TYPE_CHECKING:
    from xla_backend_cpu.compiler import CpuCompiler


_FILES = ("xla_aot.h", "xla_aot.c", "CMakeLists.txt")
"""Files that are the same for every program."""


def compile_files(
    compiler: CpuCompiler, module: HloModule, options: AheadOfTimeOptions, compile_options: CompileOptions
) -> Mapping[str, str | bytes]:
    """The files of a program, by name. Its code is an object file or a C file.

    It takes over `module`; see `Compiler.ahead_of_time_files`.

    Raises:
        InvalidArgumentError: LLVM knows no such target, or the name is that of the files that all models share.
        UnimplementedError: instructions need Python, such as custom calls and collectives.
    """
    if f"{options.name}.h" in _FILES:
        raise InvalidArgumentError(
            f"{options.name}.h and {options.name}.c are files that all models share", hint="choose another name"
        )
    own = (compiler.triple, compiler.cpu, ",".join(f"+{name}" for name in sorted(compiler.features)))
    target = AheadOfTimeTarget.of(options, own)
    flatten_entry(module)
    module.input_output_aliases = []  # every result is written to memory that the caller gives
    module.buffer_donors = []
    stages = code_generation.hlo_stages(target.config, target.processor, False)
    try:
        module = run_hlo_passes(module, target.config, compile_options, stages)
    except UnimplementedError as error:
        error.hint = "compute this outside of the model, and pass it as an argument"
        raise
    assignment = assign_buffers(module, alignment=ALIGNMENT, can_share=code_generation.can_share)
    abi = target.abi()
    emitter = ModuleEmitter(module, assignment, abi, target.processor, options.threads, False)
    ir = emitter.emit()
    places = Places(assignment, ir)
    interface = Interface(
        options.name,
        target.description,
        [p.shape for p in module.entry.parameters],
        list(module.result_shape.array_leaves()),
        places.arena_bytes,
        places.constant_bytes,
        options.threads,
    )
    entry = interface.entry if options.emit == "object" else f"{options.name}_entry"
    emit_entry(ir, places, entry, abi.pointer_bytes)
    ir.internalize({entry}, target.function_attributes)
    level = 2 if compile_options.optimization_level else 0
    if options.emit == "c":
        code: Mapping[str, str | bytes] = {f"{options.name}.c": c_source(ir, interface, entry, abi, level, module.name)}
    else:
        generator = compiler.code_generator
        code = {f"{options.name}.o": generator.object_file(ir.to_text(), abi, level, what=module.name)}
    shared = importlib.resources.files("xla_backend_cpu.ahead_of_time").joinpath("files")
    return {
        **code,
        f"{options.name}.h": header_text(interface),
        f"{options.name}_example.c": example_text(interface),
        **{name: shared.joinpath(name).read_text() for name in _FILES},
    }
