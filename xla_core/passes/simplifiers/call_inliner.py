"""call_inliner: replaces calls with the instructions of their callees (XLA: xla/service/call_inliner.h)."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import inline_call
from xla_core.passes.pass_manager import InstructionPass


class CallInliner(InstructionPass):
    """Inlines every call, innermost first.

    Args:
        keep: whether a call is not inlined, for example a composite that the target has a kernel for.
    """

    opcodes = frozenset({Opcode.CALL})

    def __init__(self, keep: Callable[[HloInstruction], bool] | None = None) -> None:
        self._keep = keep

    def run(self, module: HloModule) -> bool:
        module.check_growth(lambda i: i.called_computations if self._inlines(i) else ())
        return super().run(module)

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        if not self._inlines(instruction):
            return False
        inline_call(instruction, instruction.attribute("to_apply"), instruction.operands)
        return True

    def _inlines(self, instruction: HloInstruction) -> bool:
        return instruction.opcode == Opcode.CALL and (self._keep is None or not self._keep(instruction))
