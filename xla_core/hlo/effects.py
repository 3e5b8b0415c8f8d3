"""What instructions do besides giving a value: an answer about a whole call graph, each computation looked at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_core.hlo.call_graph import callees_first
from xla_core.hlo.op_table import Trait
from xla_core.hlo.opcode import Opcode

if TYPE_CHECKING:
    from xla_core.hlo.computation import HloComputation
    from xla_core.hlo.instruction import HloInstruction

__all__ = ["EFFECTS", "EffectAnalysis", "is_effect"]

EFFECTS = frozenset((Trait.SIDE_EFFECT, Trait.COLLECTIVE))
"""An op with one of these is kept whether or not anything uses it: other devices wait for a collective."""


class EffectAnalysis:
    """Which instructions have one of some traits, or opcodes, themselves or in what they call.

    It remembers what it found of a computation. A pass that takes from computations only what has no effect, and adds
    none, may keep it as long as it runs.

    Args:
        traits: what counts. A custom call that says it has a side effect has `Trait.SIDE_EFFECT`.
        opcodes: ops that count whatever their traits.
    """

    def __init__(self, traits: frozenset[Trait] = EFFECTS, opcodes: frozenset[Opcode] = frozenset()) -> None:
        self._traits = traits
        self._opcodes = opcodes
        self._known: dict[HloComputation, bool] = {}

    def of(self, instruction: HloInstruction) -> bool:
        """Whether the instruction, or anything that it calls, is one of these."""
        return self._is(instruction) or (
            bool(instruction.op.calls) and any(self.of_computation(c) for c in instruction.called_computations)
        )

    def of_computation(self, computation: HloComputation) -> bool:
        """Whether anything in the computation, or that it calls, is one of these."""
        known = self._known
        for each in callees_first(computation, known):
            called = any(known.get(c, False) for c in each.called_computations())
            known[each] = called or any(map(self._is, each.instructions))
        return known[computation]

    def _is(self, instruction: HloInstruction) -> bool:
        op = instruction.op
        if not self._traits.isdisjoint(op.traits) or op.opcode in self._opcodes:
            return True
        return Trait.SIDE_EFFECT in self._traits and bool(instruction.attributes.get("custom_call_has_side_effect"))


def is_effect(instruction: HloInstruction) -> bool:
    """Whether an instruction is kept when nothing uses it. Who asks about many instructions has an EffectAnalysis."""
    return EffectAnalysis().of(instruction)
