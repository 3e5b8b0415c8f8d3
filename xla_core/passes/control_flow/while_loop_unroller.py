"""while_loop_unroller: replaces short loops with copies of their bodies (XLA: xla/service/while_loop_unroller.h).

Where the host starts each kernel of a loop, a body of small arrays takes longer to start than to compute. Kernels are
fused across the iterations of an unrolled loop, and values that depend on the iteration number become constant.
"""

from __future__ import annotations

from xla_core.analysis.while_loop import Loop, trip_count
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import copy_into
from xla_core.passes.pass_manager import InstructionPass

_MOST_TRIPS = 8
_MOST_INSTRUCTIONS = 512  # of all copies of a body


class WhileLoopUnroller(InstructionPass):
    """Unrolls loops whose trip count is known, unless the body has effects, collectives or control flow of its own."""

    opcodes = frozenset({Opcode.WHILE})

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        loop = Loop.of(instruction)
        count = trip_count(loop) if loop is not None else None
        if loop is None or count is None or not self._is_short(loop, count):
            return False
        state = instruction.operand(0)
        for _ in range(count):
            state, _ = copy_into(computation, loop.body, [state])
        computation.replace_with(instruction, state)
        return True

    def _is_short(self, loop: Loop, count: int) -> bool:
        if count > _MOST_TRIPS or count * len(loop.body.instructions) > _MOST_INSTRUCTIONS:
            return False
        if loop.instruction.control_predecessors or loop.instruction.control_successors:
            return False
        if self.effects.of_computation(loop.body) or self.effects.of_computation(loop.condition):
            return False
        kept = {Trait.CONTROL_FLOW, Trait.COLLECTIVE}
        return all(kept.isdisjoint(i.op.traits) for i in loop.body.instructions)
