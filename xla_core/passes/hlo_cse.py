"""hlo_cse: one instruction for several that compute the same. (XLA: xla/service/hlo_cse.h.)"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.op_table import AttributeKind, Trait
from xla_core.passes.pass_manager import HloPass

__all__ = ["HloCse"]

_NEVER = frozenset({"parameter", "opt-barrier", "rng-get-and-update-state", "domain", "after-all", "add-dependency"})


class HloCse(HloPass):
    """Common subexpressions within each computation, after computations that are the same have become one.

    Ops with effects or chance, collectives and barriers are left alone. Operands of commutative ops may be swapped.
    """

    name = "hlo-cse"

    def run(self, module: HloModule) -> bool:
        changed = False
        known: dict[Hashable, HloComputation] = {}
        representatives: dict[HloComputation, HloComputation] = {}
        effects: dict[HloComputation, bool] = {}
        for computation in module.post_order():
            changed |= _merge_instructions(computation, representatives, effects)
            effects[computation] = any(
                _is_fixed(i, effects) and i.opcode != "parameter" for i in computation.instructions
            )
            key = _computation_key(computation, representatives)
            representatives[computation] = known.setdefault(key, computation)
        return changed


def _is_fixed(instruction: HloInstruction, effects: dict[HloComputation, bool]) -> bool:
    """Must stay where it is, as often as it is."""
    if instruction.opcode in _NEVER or instruction.control_predecessors or instruction.control_successors:
        return True
    if not instruction.op.traits.isdisjoint((Trait.SIDE_EFFECT, Trait.COLLECTIVE, Trait.NONDETERMINISTIC)):
        return True
    if instruction.attributes.get("custom_call_has_side_effect"):
        return True
    return any(effects.get(c, True) for c in instruction.called_computations)


def _merge_instructions(
    computation: HloComputation,
    representatives: dict[HloComputation, HloComputation],
    effects: dict[HloComputation, bool],
) -> bool:
    seen: dict[Hashable, HloInstruction] = {}
    changed = False
    for instruction in computation.post_order():
        if _is_fixed(instruction, effects):
            continue
        operands = [id(o) for o in instruction.operands]
        if Trait.COMMUTATIVE in instruction.op.traits:
            operands.sort()
        key = (tuple(operands), _own_key(instruction, representatives))
        first = seen.setdefault(key, instruction)
        if first is not instruction:
            computation.replace_with(instruction, first)
            changed = True
    return changed


def _own_key(instruction: HloInstruction, representatives: dict[HloComputation, HloComputation]) -> Hashable:
    """Everything of an instruction but its operands."""
    attributes = instruction.attributes
    if not attributes:
        return instruction.opcode, instruction.shape
    kinds = instruction.op.attributes
    values: list[Hashable] = []
    for name in sorted(attributes):
        kind = kinds[name].kind if name in kinds else None
        values.append((name, _attribute_key(kind, attributes[name], representatives)))
    return instruction.opcode, instruction.shape, tuple(values)


def _attribute_key(
    kind: AttributeKind | None, value: Any, representatives: dict[HloComputation, HloComputation]
) -> Hashable:
    if value is None:
        return None
    if kind is AttributeKind.COMPUTATION:
        return id(representatives.get(value, value))
    if kind is AttributeKind.COMPUTATIONS:
        return tuple(id(representatives.get(c, c)) for c in value)
    hashable: Hashable = value
    return hashable


def _computation_key(computation: HloComputation, representatives: dict[HloComputation, HloComputation]) -> Hashable:
    """The same for two computations that are the same but for names."""
    numbers: dict[HloInstruction, int] = {}
    parts: list[Hashable] = []
    for instruction in [*computation.parameters, *computation.post_order()]:
        if instruction in numbers:
            continue
        numbers[instruction] = len(numbers)
        operands = tuple(numbers[o] for o in instruction.operands)
        predecessors = tuple(numbers[p] for p in instruction.control_predecessors)
        parts.append((operands, predecessors, _own_key(instruction, representatives)))
    return numbers[computation.root], tuple(parts)
