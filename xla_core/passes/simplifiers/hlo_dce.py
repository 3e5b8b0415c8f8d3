"""hlo_dce: eliminates dead code (XLA: xla/hlo/transforms/simplifiers/hlo_dce.h, hlo_module_dce.h)."""

from __future__ import annotations

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.while_util import narrow_loop
from xla_core.traversal import reachable


class HloDce(HloPass):
    """Removes unused instructions, elements of loop states that only they themselves use, and uncalled computations.

    Parameters are kept.
    """

    def run(self, module: HloModule) -> bool:
        changed = False
        effects = EffectAnalysis()
        for computation in module.post_order():
            changed |= _remove_dead(computation, effects)
        # Visit callers first, because an element that dies outside may have kept another alive inside.
        for computation in reversed(module.post_order()):
            for instruction in computation.instructions:
                if instruction.opcode == Opcode.WHILE and instruction.parent is computation:
                    changed |= narrow_loop(instruction, effects)
        if changed:
            for computation in module.post_order():
                _remove_dead(computation, effects)
        return module.remove_unreachable_computations() > 0 or changed


def _remove_dead(computation: HloComputation, effects: EffectAnalysis) -> bool:
    kept = (computation.root, *computation.parameters, *(i for i in computation.instructions if effects.of(i)))
    live = reachable(kept, lambda i: i.operands)
    if len(live) == computation.instruction_count:
        return False
    for instruction in reversed(computation.post_order()):
        if instruction not in live:
            computation.remove(instruction)
    return True
