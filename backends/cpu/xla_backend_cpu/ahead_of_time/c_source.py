"""Writes a program as a C file, which any C compiler takes."""

from __future__ import annotations

from xla_backend_cpu.ahead_of_time.arena_abi import ArenaAbi
from xla_backend_cpu.ahead_of_time.interface import Interface
from xla_core.codegen.c import CTarget, prepare_ir, translate
from xla_core.codegen.llvm import IrModule

_PROLOGUE = """/* The model {name}, for {target}. Made by `xla aot --emit c`. */
#include "{name}.h"

#define xla_cpu_parallel_for(kernel, buffers, size, chunk) \\
  xla_cpu_parallel_for((xla_aot_kernel)(void *)(kernel), (void *const *)(buffers), (int64_t)(size), (int64_t)(chunk))
"""

_EPILOGUE = """
int32_t {name}_run(const {name}_arguments *arguments, const {name}_results *results, void *arena) {{
  return (int32_t){entry}((char *)arguments, (char *)results, (char *)arena);
}}
"""


def c_source(module: IrModule, interface: Interface, entry: str, abi: ArenaAbi, level: int, what: str) -> str:
    """The text of the file. `entry` is the function of the module that takes pointers to the structures of the header.

    Raises:
        UnimplementedError: the translation to C doesn't know something in the module.
    """
    target = CTarget(abi.pointer_bytes, abi.big_endian)
    source = translate(
        prepare_ir(module.to_text(), target, level=level, what=what),
        target,
        prologue=_PROLOGUE.format(name=interface.name, target=interface.target),
        provided={"xla_cpu_parallel_for"},
        hidden={entry},
    )
    return source.text + _EPILOGUE.format(name=interface.name, entry=entry)
