"""hlo_dce: removes what nothing needs. (XLA: xla/hlo/transforms/simplifiers/hlo_dce.h, hlo_module_dce.h.)"""

from __future__ import annotations

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import Trait
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.while_util import narrow_loop

__all__ = ["HloDce"]


class HloDce(HloPass):
    """Removes instructions without users, elements of loop states that only feed themselves, and computations that
    nothing calls. Parameters stay.
    """

    name = "hlo-dce"

    def run(self, module: HloModule) -> bool:
        changed = False
        effects: dict[HloComputation, bool] = {}
        for computation in module.post_order():
            changed |= _remove_dead(computation, effects)
        # Callers first: an element that dies outside may be one that kept another alive inside.
        for computation in reversed(module.post_order()):
            for instruction in computation.instructions:
                if instruction.opcode == "while" and instruction.parent is computation:
                    changed |= narrow_loop(instruction)
        if changed:
            for computation in module.post_order():
                _remove_dead(computation, effects)
        return module.remove_unreachable_computations() > 0 or changed


def _has_effect(instruction: HloInstruction, effects: dict[HloComputation, bool]) -> bool:
    """As `has_side_effect`, with what is known of called computations; callees were seen before their callers."""
    traits = instruction.op.traits
    if Trait.SIDE_EFFECT in traits or Trait.COLLECTIVE in traits:
        return True
    if instruction.attributes.get("custom_call_has_side_effect"):
        return True
    for callee in instruction.called_computations:
        known = effects.get(callee)
        if known is None:
            known = effects[callee] = any(_has_effect(i, effects) for i in callee.instructions)
        if known:
            return True
    return False


def _remove_dead(computation: HloComputation, effects: dict[HloComputation, bool]) -> bool:
    live: set[HloInstruction] = set()
    stack = [computation.root, *computation.parameters]
    stack += [i for i in computation.instructions if not i.user_count and _has_effect(i, effects)]
    stack += [i for i in computation.instructions if i.user_count and _has_effect(i, effects)]
    while stack:
        instruction = stack.pop()
        if instruction not in live:
            live.add(instruction)
            stack.extend(instruction.operands)
    effects.setdefault(computation, any(_has_effect(i, effects) for i in live))
    if len(live) == computation.instruction_count:
        return False
    for instruction in reversed(computation.post_order()):
        if instruction not in live:
            computation.remove(instruction)
    return True
