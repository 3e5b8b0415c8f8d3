"""while_loop_simplifier: removes loops that run once or never, and unneeded elements of loop states.

(XLA: xla/service/while_loop_simplifier.h.)
"""

from __future__ import annotations

from xla_core.analysis.while_loop import Loop, trip_count
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.inlining import inline_call
from xla_core.passes.pass_manager import InstructionPass
from xla_core.passes.while_util import narrow_loop, rebuild_loop


class WhileLoopSimplifier(InstructionPass):
    """Simplifies while loops.

    - A loop that never runs is replaced with its initial state, and a loop that runs once with its body.
    - Users of an element that the loop doesn't change use its initial value.
    - Unchanged elements with the same initial value are merged, and unused elements are removed.
    """

    opcodes = frozenset({Opcode.WHILE})

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        loop = Loop.of(instruction)
        if loop is None or self.effects.of_computation(loop.condition):
            return False
        count = trip_count(loop)
        if count == 0:
            computation.replace_with(instruction, instruction.operands[0])
            return True
        if count == 1:
            inline_call(instruction, loop.body, instruction.operands)
            return True
        changed = _take_unchanged_from_start(computation, loop)
        merged = _merge_equal_elements(loop)
        return narrow_loop(merged or instruction, self.effects) or changed or merged is not None


def _take_unchanged_from_start(computation: HloComputation, loop: Loop) -> bool:
    changed = False
    for user in loop.instruction.users:
        if user.opcode != Opcode.GET_TUPLE_ELEMENT or user.is_root or not user.user_count:
            continue
        initial = loop.initial(user.tuple_index)
        if initial is not None and loop.is_unchanged(user.tuple_index):
            computation.replace_with(user, initial)
            changed = True
    return changed


def _merge_equal_elements(loop: Loop) -> HloInstruction | None:
    """Merges unchanged elements with the same initial value; returns the new while, or None if there are none."""
    first: dict[HloInstruction, int] = {}
    same: dict[int, int] = {}
    for index in range(loop.size):
        initial = loop.initial(index)
        if initial is not None and loop.is_unchanged(index):
            kept = first.setdefault(initial, index)
            if kept != index:
                same[index] = kept
    if not same:
        return None
    return rebuild_loop(loop, [index for index in range(loop.size) if index not in same], same=same)
