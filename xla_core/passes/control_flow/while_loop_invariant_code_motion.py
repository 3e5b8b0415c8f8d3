"""while_loop_invariant_code_motion: hoists loop-invariant instructions.

(XLA: xla/service/while_loop_invariant_code_motion.h.)
"""

from __future__ import annotations

from xla_core.analysis.while_loop import Loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import PINNED, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.pass_manager import InstructionPass
from xla_core.passes.while_util import Extra, rebuild_loop
from xla_core.traversal import post_order, reachable

_MAX_BYTES = 1 << 28  # of a value that is hoisted although it is larger than its operands together


class WhileLoopInvariantCodeMotion(InstructionPass):
    """Hoists instructions that depend only on unchanged elements of the state; their values become elements of it.

    A cheap instruction is hoisted only if an expensive invariant instruction depends on it.
    """

    opcodes = frozenset({Opcode.WHILE})

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        loop = Loop.of(instruction)
        if loop is None:
            return False
        invariant = _invariant(loop)
        frontier: dict[HloInstruction, None] = {}
        for node in loop.body.post_order():
            if node not in invariant:
                for operand in node.operands:
                    self._collect(operand, invariant, frontier)
        if not frontier:
            return False
        outside: dict[HloInstruction, HloInstruction] = {}
        extra = [Extra(inside, _copy_out(computation, loop, inside, outside)) for inside in frontier]
        rebuild_loop(loop, range(loop.size), extra=extra)
        return True

    def _collect(
        self, node: HloInstruction, invariant: set[HloInstruction], frontier: dict[HloInstruction, None]
    ) -> None:
        """Adds to `frontier` the invariant values worth hoisting among `node` and the values that it depends on."""

        def stays(found: HloInstruction) -> bool:
            given = sum(o.shape.byte_size for o in found.operands)
            too_large = found.shape.byte_size > max(_MAX_BYTES, given)
            return Trait.CHEAP in found.op.traits or too_large or not found.shape.is_array

        for found in reachable([node], lambda i: i.operands if i in invariant and stays(i) else ()):
            if found in invariant and not stays(found) and _is_from_state(found):
                frontier[found] = None


def _is_from_state(node: HloInstruction) -> bool:
    """Whether an instruction depends on the state. Constant folding handles those that depend on constants only."""
    return any(i.opcode == Opcode.PARAMETER for i in reachable([node], lambda i: i.operands))


def _invariant(loop: Loop) -> set[HloInstruction]:
    parameter = loop.body.parameters[0]
    invariant: set[HloInstruction] = set()
    pinned = EffectAnalysis(PINNED)
    for node in loop.body.post_order():
        if node is parameter or node is loop.body.root:
            continue
        if node.opcode == Opcode.GET_TUPLE_ELEMENT and node.operands[0] is parameter:
            if loop.is_unchanged(node.tuple_index):
                invariant.add(node)
        elif all(o in invariant for o in node.operands) and _may_move(node, pinned):
            invariant.add(node)
    return invariant


def _may_move(node: HloInstruction, pinned: EffectAnalysis) -> bool:
    if node.opcode == Opcode.CUSTOM_CALL or pinned.of(node):
        return False
    return not (node.control_predecessors or node.control_successors)


def _copy_out(
    computation: HloComputation, loop: Loop, node: HloInstruction, outside: dict[HloInstruction, HloInstruction]
) -> HloInstruction:
    """Copies an invariant instruction and the instructions that it depends on to before the loop."""
    parameter, state = loop.body.parameters[0], loop.instruction.operands[0]
    needed = post_order([node], lambda i: [o for o in i.operands if o not in outside and o is not parameter])
    for inside in needed if node not in outside else ():
        if inside.opcode == Opcode.GET_TUPLE_ELEMENT and inside.operands[0] is parameter:
            outside[inside] = Builder(computation).element(state, inside.tuple_index)
        else:
            outside[inside] = computation.add_instruction(inside.clone([outside[o] for o in inside.operands]))
    return outside[node]
