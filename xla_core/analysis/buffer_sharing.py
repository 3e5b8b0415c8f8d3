"""Decides whether an instruction may overwrite an operand (XLA: HloDataflowAnalysis::CanShareOperandBufferWithUser).

The decision is a contract with the kernel emitters. Where an operand and a result share a buffer, the kernel must do
the following:

- An elementwise op or a loop fusion reads element i of the operand before it writes element i of any result, and does
  not read that element later. One loop therefore computes all results of such a fusion.
- dynamic-update-slice and scatter write the updated elements only. Element i of an update may be computed from the
  element that it replaces.
- sort sorts in place.
- A custom call overwrites the operands that its output_to_operand_aliasing names.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.ir.fused import fused_parameters, fused_root, fused_roots
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.attributes import OutputToOperandAlias
from xla_core.hlo.table.op_table import Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.traversal import reachable

CanShare = Callable[[HloInstruction, int, int], bool]
"""(instruction, operand number, result leaf) -> whether that leaf may share the buffer of the operand, an array."""


def can_share_buffer(instruction: HloInstruction, operand: int, leaf: int) -> bool:
    """The default `CanShare`: the rules in the module's docstring."""
    source = instruction.operands[operand].shape
    result = instruction.shape.tuple_shapes[leaf] if instruction.shape.is_tuple else instruction.shape
    if not _same_places(source, result):
        return False
    match instruction.opcode:
        case Opcode.FUSION:
            return _fusion_can_share(instruction, operand, leaf)
        case Opcode.SORT:
            return operand == leaf
        case Opcode.CUSTOM_CALL:
            return any(
                alias == OutputToOperandAlias((leaf,) if instruction.shape.is_tuple else (), operand)
                for alias in instruction.attribute("output_to_operand_aliasing")
            )
        case Opcode.COPY:
            return True
    places = instruction.op.in_place_operands(len(instruction.operands))
    if places:
        alone = list(instruction.operands).count(instruction.operands[operand]) == 1
        return alone and leaf < len(places) and places[leaf] == operand
    return instruction.is_elementwise and Trait.NONDETERMINISTIC not in instruction.op.traits


def _same_places(a: Shape, b: Shape) -> bool:
    """Whether element i has the same offset and width in arrays of both shapes."""
    return (
        a.is_array
        and b.is_array
        and a.dimensions == b.dimensions
        and a.minor_to_major() == b.minor_to_major()
        and a.element_type.byte_width == b.element_type.byte_width
        and (a.layout.element_size_in_bits if a.layout else 0) == (b.layout.element_size_in_bits if b.layout else 0)
    )


def _fusion_can_share(fusion: HloInstruction, operand: int, leaf: int) -> bool:
    if fusion.shape.is_tuple and fused_root(fusion).opcode != Opcode.TUPLE:
        return False
    results = fused_roots(fusion)
    result = results[leaf]
    shared = fusion.operands[operand]
    targets = {p for p, o in zip(fused_parameters(fusion), fusion.operands, strict=True) if o is shared}
    places = result.op.in_place_operands(len(result.operands))
    others = [r for r in results if r is not result]
    if places and (not others or result.opcode == Opcode.SCATTER):
        return _updates_only(result, result.operand(places[0]), targets) and not any(_reads(r, targets) for r in others)
    same_loop = all(
        r.shape.dimensions == result.shape.dimensions and r.shape.minor_to_major() == result.shape.minor_to_major()
        for r in results
    )
    return same_loop and all(_reads_in_step(r, targets) for r in results)


def _updates_only(update: HloInstruction, updated: HloInstruction, targets: set[HloInstruction]) -> bool:
    """Whether `update` updates one of the targets, and reads the targets only at the elements that it replaces."""
    if updated not in targets or list(update.operands).count(updated) > 1:
        return False
    others = [o for o in update.operands if o is not updated]
    if update.opcode == Opcode.DYNAMIC_UPDATE_SLICE:
        value, *starts = others
        return not any(_reads(o, targets) for o in starts) and _reads_in_step(value, targets, update)
    return not any(_reads(o, targets) for o in others)


def _reads(instruction: HloInstruction, targets: set[HloInstruction]) -> bool:
    """Whether an instruction is one of the targets or depends on one."""
    return any(i in targets for i in reachable([instruction], lambda i: i.operands))


def _reads_in_step(root: HloInstruction, targets: set[HloInstruction], update: HloInstruction | None = None) -> bool:
    """Whether element i of the root depends on no element of the targets except element i.

    If `update` is given, it is a dynamic-update-slice whose update operand is `root`. Then the only element that
    element i may depend on is the one that it replaces.
    """
    seen: set[tuple[HloInstruction, bool]] = set()
    stack = [(root, True)]
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        instruction, in_step = state
        if instruction in targets:
            if not in_step or update is not None:
                return False
            continue
        if update is not None and in_step and _is_slice_of(instruction, targets, update):
            continue
        keeps_order = instruction.opcode in (Opcode.RESHAPE, Opcode.BITCAST) and all(
            s.layout is None or s.layout.is_row_major for s in (instruction.shape, root.shape)
        )
        for operand in instruction.operands:
            if keeps_order:
                same = operand.shape.element_type is instruction.shape.element_type
            else:
                same = instruction.is_elementwise and operand.shape.dimensions == instruction.shape.dimensions
            stack.append((operand, in_step and same))
    return True


def _is_slice_of(instruction: HloInstruction, targets: set[HloInstruction], update: HloInstruction) -> bool:
    """Whether the instruction reads exactly the slice of a target that the dynamic-update-slice replaces."""
    return (
        instruction.opcode == Opcode.DYNAMIC_SLICE
        and instruction.operand(0) in targets
        and list(instruction.operands[1:]) == list(update.operands[2:])
        and instruction.shape.dimensions == update.operand(1).shape.dimensions
    )
