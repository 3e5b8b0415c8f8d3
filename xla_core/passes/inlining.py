"""Copies a computation's instructions into another one, with operands in the place of its parameters."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis, has_side_effect
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.traversal import reachable


def copy_into(
    target: HloComputation, source: HloComputation, operands: Sequence[HloInstruction]
) -> tuple[HloInstruction, list[HloInstruction]]:
    """Copies the instructions of `source` that its root depends on or that have effects.

    Returns the copy of the root, and all copies.
    """
    copies: dict[HloInstruction, HloInstruction] = dict(zip(source.parameters, operands, strict=True))
    made: list[HloInstruction] = []
    for old in _live(source):
        if old in copies:
            continue
        new = target.add_instruction(old.clone([copies[o] for o in old.operands]))
        if old.control_predecessors:
            new.control_predecessors = [copies[p] for p in old.control_predecessors if p in copies]
        copies[old] = new
        made.append(new)
    return copies[source.root], made


def _live(computation: HloComputation) -> list[HloInstruction]:
    effects = EffectAnalysis()
    seeds = [computation.root, *(i for i in computation.instructions if effects.of(i))]
    needed = reachable(seeds, lambda i: (*i.operands, *i.control_predecessors))
    return [i for i in computation.post_order() if i in needed]


def inline_call(
    instruction: HloInstruction, callee: HloComputation, operands: Sequence[HloInstruction]
) -> HloInstruction:
    """Replaces an instruction that runs `callee` once on `operands` with copies of the callee's instructions.

    Returns the copy of the callee's root.
    """
    computation = instruction.parent
    assert computation is not None
    root, made = copy_into(computation, callee, operands)
    if instruction.control_predecessors:
        for new in made:
            new.control_predecessors = [*new.control_predecessors, *instruction.control_predecessors]
    for successor in instruction.control_successors:
        effects = [i for i in made if has_side_effect(i)]
        successor.control_predecessors = [*successor.control_predecessors, *effects]
    if root.shape.layout is None and root in made and not instruction.shape.is_tuple:
        root.shape = instruction.shape
    return computation.replace_with(instruction, root)


def is_elementwise_of_scalars(computation: HloComputation) -> bool:
    """Whether `apply_to_arrays` accepts a computation: it is elementwise on scalars, and its root may be a tuple."""
    return all(
        (i.opcode == Opcode.TUPLE and i.is_root)
        or (
            i.shape.is_array
            and not i.shape.rank
            and (Trait.GIVEN in i.op.traits or (i.is_elementwise and not i.op.calls))
        )
        for i in computation.instructions
    )


def apply_to_arrays(
    computation: HloComputation, operands: Sequence[HloInstruction], b: Builder
) -> list[HloInstruction]:
    """Applies a computation that is elementwise on scalars to whole arrays; returns the results."""
    dimensions = operands[0].shape.dimensions
    values = dict(zip(computation.parameters, operands, strict=True))
    for i in computation.post_order():
        if i.opcode == Opcode.CONSTANT:
            values[i] = b.constant(i.literal.array, i.shape.with_dimensions(dimensions))
        elif i.opcode != Opcode.TUPLE and i not in values:
            values[i] = b.clone(i, [values[o] for o in i.operands], shape=i.shape.with_dimensions(dimensions))
    root = computation.root
    return [values[o] for o in (root.operands if root.opcode == Opcode.TUPLE else (root,))]
