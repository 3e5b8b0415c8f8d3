"""Which operand may share a result's buffer: what buffer assignment must know of how kernels are emitted.

(XLA: xla/service/hlo_dataflow_analysis.h, CanShareOperandBufferWithUser.)
"""

from __future__ import annotations

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait
from xla_core.hlo.shape import Shape

__all__ = ["may_share_buffer"]

_IN_PLACE = {"dynamic-update-slice": 1, "scatter": -1}
"""Ops that update operands in place, and how many they update (-1: as many as the result has leaves)."""


def may_share_buffer(instruction: HloInstruction, result_leaf: int, operand_leaf: int) -> bool:
    """Whether a kernel of `instruction` is right when this operand's and this result's buffers are one.

    Leaves are counted over all operands, and over the result, as in `Kernel.parameters`.
    """
    results = [s for s in instruction.shape.leaves() if s.is_array]
    operands = [(o, s) for o in instruction.operands for s in o.shape.leaves() if s.is_array]
    if result_leaf >= len(results) or operand_leaf >= len(operands):
        return False
    operand, shape = operands[operand_leaf]
    result = results[result_leaf]
    if operand.shape.is_tuple or not _same_places(shape, result):
        return False
    if instruction.opcode != "fusion":
        if instruction.operands.count(operand) != 1:
            return instruction.opcode in _ELEMENTWISE_TWICE or Trait.ELEMENTWISE in instruction.op.traits
        position = list(instruction.operands).index(operand)
        updates = _IN_PLACE.get(instruction.opcode)
        if updates is not None:
            return position == result_leaf and (updates < 0 or position < updates)
        return Trait.ELEMENTWISE in instruction.op.traits and instruction.opcode != "bitcast-convert"
    computation = instruction.attribute("calls")
    targets = {computation.parameters[i] for i, o in enumerate(instruction.operands) if o is operand}
    roots = list(computation.root.operands) if computation.root.opcode == "tuple" else [computation.root]
    root = roots[result_leaf] if len(roots) == len(results) else None
    if root is not None and root.opcode in _IN_PLACE and len(roots) == 1:
        updates = _IN_PLACE[root.opcode]
        count = len(results) if updates < 0 else updates
        own = root.operands[result_leaf] if result_leaf < count else None
        if own not in targets:
            return False
        others = [o for o in root.operands if o is not own]
        if root.opcode == "dynamic-update-slice" and not any(_reads(o, targets) for o in others[1:]):
            return _reads_in_step(others[0], targets, root)
        return not any(_reads(o, targets) for o in others)
    if any(not _same_places(r.shape, result) for r in roots):
        return False
    return all(_reads_in_step(r, targets) for r in roots)


_ELEMENTWISE_TWICE = frozenset({"copy"})


def _same_places(a: Shape, b: Shape) -> bool:
    """Element i of both lies in the same bytes."""
    return (
        a.is_array
        and b.is_array
        and a.dimensions == b.dimensions
        and a.minor_to_major() == b.minor_to_major()
        and a.element_type.byte_width == b.element_type.byte_width
        and (a.layout.element_size_in_bits if a.layout else 0) == (b.layout.element_size_in_bits if b.layout else 0)
    )


def _reads(instruction: HloInstruction, targets: set[HloInstruction]) -> bool:
    """Whether any of the targets is among an instruction and what it is computed from."""
    seen: set[HloInstruction] = set()
    stack = [instruction]
    while stack:
        top = stack.pop()
        if top in targets:
            return True
        if top not in seen:
            seen.add(top)
            stack.extend(top.operands)
    return False


def _reads_in_step(root: HloInstruction, targets: set[HloInstruction], update: HloInstruction | None = None) -> bool:
    """Whether element i of the root needs no other element of the targets than i.

    With a dynamic-update-slice whose update is `root`: than the one that element i of the update replaces.
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
        row_major = all(s.layout is None or s.layout.is_row_major for s in (instruction.shape, root.shape))
        for operand in instruction.operands:
            if instruction.opcode in ("reshape", "bitcast"):
                same = row_major and operand.shape.element_type is instruction.shape.element_type
            else:
                same = Trait.ELEMENTWISE in instruction.op.traits and instruction.opcode != "bitcast-convert"
                same = same and operand.shape.dimensions == instruction.shape.dimensions
            stack.append((operand, in_step and same))
    return True


def _is_slice_of(instruction: HloInstruction, targets: set[HloInstruction], update: HloInstruction) -> bool:
    """Whether this is what a dynamic-update-slice will replace."""
    return (
        instruction.opcode == "dynamic-slice"
        and instruction.operand(0) in targets
        and list(instruction.operands[1:]) == list(update.operands[2:])
        and instruction.shape.dimensions == update.operand(1).shape.dimensions
    )
