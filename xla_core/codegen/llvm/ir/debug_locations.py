"""Debug locations: the instruction of a fusion that each instruction of its kernel computes.

LLVM passes on lines of source text. Here the source file is the fusion, by its name, and a line is the number of an
instruction in the fusion's computation, from 1. So kernels that are alike have the same locations whatever their
instructions are called.
"""

from __future__ import annotations

from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.hlo.ir.fused import fused_instructions
from xla_core.hlo.ir.instruction import HloInstruction


def add_debug_locations(b: IrBuilder, fusion: HloInstruction) -> None:
    """Adds debug locations to the builder's function: one for each instruction of the fusion, in `b.locations`.

    Code that belongs to no instruction has the root's location.
    """
    module = b.module
    file = module.metadata(f'!DIFile(filename: "{_quoted(fusion.name)}", directory: "")')
    if not module.debug_unit:
        module.debug_unit = module.metadata(
            f"!DICompileUnit(language: DW_LANG_C, file: {file}, isOptimized: true, emissionKind: DebugDirectivesOnly)",
            distinct=True,
        )
    nothing = module.metadata("!DISubroutineType(types: !{null})")
    what = f'name: "{b.function.name}", file: {file}, type: {nothing}, unit: {module.debug_unit}'
    scope = module.metadata(f"!DISubprogram({what}, spFlags: DISPFlagDefinition)", distinct=True)
    b.function.subprogram = scope
    members = fused_instructions(fusion)
    b.locations = {
        instruction: f", !dbg {module.metadata(f'!DILocation(line: {line}, scope: {scope})')}"
        for line, instruction in enumerate(members, 1)
    }
    b.root_location = b.location = b.locations[members[-1]]


def instruction_at_line(fusion: HloInstruction, line: int) -> HloInstruction:
    """Returns the instruction that a line of a kernel's debug locations names. Without such a line, or if the kernel
    is not that of a fusion, it is the kernel's own instruction.
    """
    members = fused_instructions(fusion)
    return members[line - 1] if 0 < line <= len(members) else fusion


def _quoted(name: str) -> str:
    return name.replace("\\", "\\5C").replace('"', "\\22")
