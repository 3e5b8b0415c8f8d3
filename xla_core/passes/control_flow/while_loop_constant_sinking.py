"""while_loop_constant_sinking: moves constants from a loop's state into its body and condition.

(XLA: xla/service/while_loop_constant_sinking.h.)
"""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.while_util import Loop, rebuild_loop

__all__ = ["WhileLoopConstantSinking"]


class WhileLoopConstantSinking(HloPass):
    """Removes elements of the state that start as a constant (or a broadcast of one, or an iota) and never change."""

    name = "while-loop-constant-sinking"

    def run(self, module: HloModule) -> bool:
        changed = False
        # Outer loops first, so that a constant sinks through all of them at once.
        for computation in reversed(module.post_order()):
            for instruction in computation.instructions:
                if instruction.opcode != Opcode.WHILE or instruction.parent is not computation:
                    continue
                loop = Loop.of(instruction)
                if loop is None:
                    continue
                constants = {
                    index: initial
                    for index in range(loop.size)
                    if (initial := loop.initial(index)) is not None
                    and _is_constant(initial)
                    and loop.is_unchanged(index)
                }
                if constants:
                    keep = [index for index in range(loop.size) if index not in constants]
                    rebuild_loop(loop, keep, constants)
                    changed = True
        if changed:
            module.remove_unreachable_computations()
        return changed


def _is_constant(instruction: HloInstruction) -> bool:
    while instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operands[0]
    return instruction.opcode in (Opcode.CONSTANT, Opcode.IOTA) and instruction.shape.is_array
