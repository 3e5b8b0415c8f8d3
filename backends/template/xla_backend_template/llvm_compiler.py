"""A compiler that emits the code of kernels with the shared LLVM emitter. The template simulates the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from xla_backend_template.compiler import TemplateCompiler
from xla_core.codegen.llvm import KernelEmitter, TargetAbi, compile_ir, emitter_capabilities
from xla_core.errors import UnimplementedError
from xla_core.hlo import OPS, ElementType, HloInstruction, Trait
from xla_core.target import FusionPreferences, TargetConfig

_BETWEEN_DEVICES = {Trait.COLLECTIVE, Trait.HOST_TRANSFER, Trait.PER_DEVICE, Trait.ASYNC}
_OPS_OF_THUNKS = frozenset(name for name, op in OPS.items() if not op.traits.isdisjoint(_BETWEEN_DEVICES))
"""Ops that need no kernel: the core's thunks run them, through the driver's copies."""


class LlvmCompiler(TemplateCompiler):
    """Makes a kernel for each instruction or fusion, in the order of the module's schedule.

    Attributes:
        abi: the target of the code.
    """

    abi: ClassVar[TargetAbi]

    @cached_property
    def target_config(self) -> TargetConfig:
        """Declares the ops for which the shared emitter has code, and those that the core runs between devices."""
        update = {
            "triple": self.abi.triple,
            "capabilities": emitter_capabilities().with_ops(_OPS_OF_THUNKS, [t for t in ElementType if t.is_array]),
            "parallel": self.abi.parallel,
            "fusion": FusionPreferences(),
        }
        return super().target_config.model_copy(update=update)

    def llvm(self, instruction: HloInstruction) -> str | None:
        """Returns the LLVM IR of a kernel, or None if the shared emitter has no code for the instruction."""
        made = self._emit(instruction)
        return None if made is None else made[0]

    def _emit(self, instruction: HloInstruction) -> tuple[str, str] | None:
        """The LLVM IR and the plan of a kernel."""
        emitter = KernelEmitter(self.abi)
        try:
            kernel = emitter.emit(instruction)
        except UnimplementedError:
            return None
        return emitter.module.to_text(), f"{kernel.name}: {kernel.plan}\n"

    def code_artifacts(self, instructions: Sequence[HloInstruction]) -> Mapping[str, str]:
        """Returns the plans, the LLVM IR and the assembly of the kernels."""
        made = [kernel for kernel in map(self._emit, instructions) if kernel is not None]
        code = [text for text, _ in made]
        return {
            "plan": "".join(plan for _, plan in made),
            "llvm": "\n".join(code),
            "asm": "\n".join(compile_ir(text, self.abi).assembly() for text in code),
        }
