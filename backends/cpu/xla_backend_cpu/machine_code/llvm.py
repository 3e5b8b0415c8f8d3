"""LlvmCodeGenerator: LLVM's target machines, and its linker in the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xla_backend_cpu.machine_code.generator import CodeGenerator

if TYPE_CHECKING:
    from xla_core.codegen import LinkedCode
    from xla_core.codegen.llvm import IrPart, LoopAbi


class LlvmCodeGenerator(CodeGenerator):
    """Compiles for every target that LLVM has."""

    def compile(
        self, parts: Sequence[IrPart], abi: LoopAbi, level: int, *, what: str, threads: int
    ) -> tuple[bytes, ...]:
        from xla_core.codegen.llvm import compile_objects

        return compile_objects(parts, abi, level, jit=True, what=what, threads=threads)

    def compile_with_artifacts(
        self, ir_text: str, abi: LoopAbi, level: int, *, what: str
    ) -> tuple[tuple[bytes, ...], Mapping[str, str | bytes]]:
        from xla_core.codegen.llvm import compile_ir

        compiled = compile_ir(ir_text, abi, level, jit=True, what=what)
        return (compiled.object(),), {"llvm": compiled.ir(), "asm": compiled.assembly()}

    def object_file(self, ir_text: str, abi: LoopAbi, level: int, *, what: str) -> bytes:
        from xla_backend_cpu.ahead_of_time.object_code import object_code

        return object_code(ir_text, abi, level, what)

    def load(self, code: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]) -> LinkedCode:
        from xla_core.codegen import link_objects

        return link_objects(code, exports, imports)
