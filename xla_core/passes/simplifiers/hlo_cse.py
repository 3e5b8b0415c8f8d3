"""hlo_cse: merges instructions that compute the same value (XLA: xla/service/hlo_cse.h)."""

from __future__ import annotations

from collections.abc import Hashable

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.ir.structural_key import StructuralKeys
from xla_core.hlo.table.op_table import PINNED, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.pass_manager import HloPass

_FIXED = PINNED - {Trait.ASYNC, Trait.PER_DEVICE}  # async and per-device ops are repeatable


class HloCse(HloPass):
    """Eliminates common subexpressions within each computation; equal applied computations count as the same.

    Ops with effects, nondeterministic ops, collectives and barriers are not merged. The operands of commutative ops are
    compared in any order.
    """

    def run(self, module: HloModule) -> bool:
        changed = False
        keys = StructuralKeys()
        fixed = EffectAnalysis(_FIXED)
        for computation in module.post_order():
            changed |= _merge_instructions(computation, keys, fixed)
        return changed


def _merge_instructions(computation: HloComputation, keys: StructuralKeys, fixed: EffectAnalysis) -> bool:
    # (opcode, operands) -> the only such instruction, or a dictionary of them by their full keys, which are slow to
    # compute.
    seen: dict[Hashable, HloInstruction | dict[Hashable, HloInstruction]] = {}
    changed = False
    for instruction in computation.post_order():
        if instruction.opcode == Opcode.PARAMETER or fixed.of(instruction):
            continue
        if instruction.control_predecessors or instruction.control_successors:
            continue
        operands = [id(o) for o in instruction.operands]
        if Trait.COMMUTATIVE in instruction.op.traits:
            operands.sort()
        alike = seen.setdefault((instruction.opcode, *operands), instruction)
        if alike is instruction:
            continue
        if isinstance(alike, HloInstruction):
            alike = seen[instruction.opcode, *operands] = {keys.instruction(alike): alike}
        first = alike.setdefault(keys.instruction(instruction), instruction)
        if first is not instruction:
            computation.replace_with(instruction, first)
            changed = True
    return changed
