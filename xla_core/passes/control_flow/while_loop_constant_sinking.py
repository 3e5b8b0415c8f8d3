"""while_loop_constant_sinking: moves constants from a loop's state into its body and condition.

(XLA: xla/service/while_loop_constant_sinking.h.)
"""

from __future__ import annotations

from xla_core.analysis.while_loop import Loop
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.pass_manager import InstructionPass
from xla_core.passes.while_util import rebuild_loop


class WhileLoopConstantSinking(InstructionPass):
    """Removes elements of the state that start as a constant (or a broadcast of one, or an iota) and never change."""

    opcodes = frozenset({Opcode.WHILE})
    callers_first = True  # a constant sinks through all loops of a nest at once

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        loop = Loop.of(instruction)
        if loop is None:
            return False
        constants = {
            index: initial
            for index in range(loop.size)
            if (initial := loop.initial(index)) is not None and _is_constant(initial) and loop.is_unchanged(index)
        }
        if constants:
            rebuild_loop(loop, [index for index in range(loop.size) if index not in constants], constants)
        return bool(constants)


def _is_constant(instruction: HloInstruction) -> bool:
    while instruction.opcode == Opcode.BROADCAST:
        instruction = instruction.operands[0]
    return instruction.opcode in (Opcode.CONSTANT, Opcode.IOTA) and instruction.shape.is_array
