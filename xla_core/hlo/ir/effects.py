"""Finds the instructions that have side effects, themselves or in computations that they call. Each computation is
analyzed once.
"""

from __future__ import annotations

import functools

from xla_core.hlo.ir.call_graph import callees_first
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.table.opcode import Opcode

EFFECTS = frozenset((Trait.SIDE_EFFECT, Trait.COLLECTIVE))
"""An op with one of these traits is kept even without users: a collective, for example, has other devices waiting."""

_SIDE_EFFECT = frozenset((Trait.SIDE_EFFECT,))


class EffectAnalysis:
    """Finds instructions that have given traits or opcodes, themselves or in computations that they call.

    Results are cached for each computation. A pass may keep the analysis while it runs if it removes only instructions
    without effects and adds none with effects.

    Args:
        traits: the traits to look for. A custom call that declares a side effect has `Trait.SIDE_EFFECT`.
        opcodes: opcodes to look for, whatever their traits.
    """

    def __init__(self, traits: frozenset[Trait] = EFFECTS, opcodes: frozenset[Opcode] = frozenset()) -> None:
        self._opcodes = opcodes | _with_traits(traits)
        self._declared = Trait.SIDE_EFFECT in traits
        self._known: dict[HloComputation, bool] = {}

    def of(self, instruction: HloInstruction) -> bool:
        """Whether the instruction, or anything that it calls, has an effect."""
        return self._is(instruction) or (
            bool(instruction.op.calls) and any(self.of_computation(c) for c in instruction.called_computations)
        )

    def of_computation(self, computation: HloComputation) -> bool:
        """Whether any instruction of the computation, or anything that it calls, has an effect."""
        known = self._known
        for each in callees_first(computation, known):
            called = any(known.get(c, False) for c in each.called_computations())
            known[each] = called or any(map(self._is, each.instructions))
        return known[computation]

    def _is(self, instruction: HloInstruction) -> bool:
        return instruction.opcode in self._opcodes or (
            self._declared and bool(instruction.attributes.get("custom_call_has_side_effect"))
        )


@functools.cache
def _with_traits(traits: frozenset[Trait]) -> frozenset[Opcode]:
    return frozenset(op.opcode for op in OPS.values() if not traits.isdisjoint(op.traits))


def is_effect(instruction: HloInstruction) -> bool:
    """Whether an instruction is kept without users. For many instructions, use one EffectAnalysis instead."""
    return EffectAnalysis().of(instruction)


def has_side_effect(instruction: HloInstruction) -> bool:
    """Whether the instruction, or anything that it calls, has a side effect."""
    return EffectAnalysis(_SIDE_EFFECT).of(instruction)
