"""map_inliner: replaces map with the ops of its computation, on arrays (XLA: xla/service/map_inliner.h)."""

from __future__ import annotations

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import apply_to_arrays, is_elementwise_of_scalars
from xla_core.passes.pass_manager import InstructionPass


class MapInliner(InstructionPass):
    """Inlines each map whose computation has only elementwise ops, parameters and constants."""

    opcodes = frozenset({Opcode.MAP})

    def run(self, module: HloModule) -> bool:
        module.check_growth(lambda i: i.called_computations if i.opcode == Opcode.MAP else ())
        return super().run(module)

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        body: HloComputation = instruction.attribute("to_apply")
        if not is_elementwise_of_scalars(body):
            return False
        (result,) = apply_to_arrays(body, instruction.operands, Builder(computation))
        computation.replace_with(instruction, result)
        return True
