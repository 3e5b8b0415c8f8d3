"""May an instruction write its result over an operand? (XLA: HloDataflowAnalysis::CanShareOperandBufferWithUser.)

The answer is a contract with those who emit kernels. Where an operand and a result share:

- an elementwise op, and a loop fusion, reads the operand's element i, for all its results, before it writes their
  element i, and reads it never again: one loop computes all results of such a fusion;
- dynamic-update-slice and scatter write the updated elements only;
- sort sorts in place;
- a custom call writes over what its output_to_operand_aliasing names.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.op_table import Trait

__all__ = ["CanShare", "can_share_buffer", "in_place_operands", "output_aliasing"]

CanShare = Callable[[HloInstruction, int, int], bool]
"""(instruction, operand number, result leaf) -> may that leaf lie where the operand, an array, lies?"""


def in_place_operands(instruction: HloInstruction) -> list[int]:
    """Operands that the op updates: result leaf k begins as the k-th of them."""
    match instruction.opcode:
        case "dynamic-update-slice":
            return [0]
        case "scatter":
            return list(range((len(instruction.operands) - 1) // 2))
    return []


_ALIASING = re.compile(r"\{([\d,\s]*)\}:\s*\((\d+),\s*\{([\d,\s]*)\}")


def output_aliasing(call: HloInstruction) -> list[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    """(output index, operand, index in the operand) for each pair of a custom call's output_to_operand_aliasing,
    `{{0}: (1, {}), ...}`.
    """
    text = call.attributes.get("output_to_operand_aliasing") or ""
    return [(_ints(output), int(operand), _ints(index)) for output, operand, index in _ALIASING.findall(text)]


def _ints(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


def can_share_buffer(instruction: HloInstruction, operand: int, leaf: int) -> bool:
    """The default CanShare. Sizes are the caller's to compare; here it is access order alone."""
    source = instruction.operands[operand].shape
    result = instruction.shape.tuple_shapes[leaf] if instruction.shape.is_tuple else instruction.shape
    if not source.is_array or not result.is_array or result.is_tuple:
        return False
    if source.element_type.byte_width != result.element_type.byte_width or source.dimensions != result.dimensions:
        return False
    if source.minor_to_major() != result.minor_to_major():
        return False
    match instruction.opcode:
        case "fusion":
            return _fusion_can_share(instruction, operand, leaf)
        case "sort":
            return operand == leaf
        case "dynamic-update-slice" | "scatter":
            places = in_place_operands(instruction)
            return leaf < len(places) and places[leaf] == operand
        case "custom-call":
            return any(
                o == operand and i == ((leaf,) if instruction.shape.is_tuple else ()) and not inner
                for i, o, inner in output_aliasing(instruction)
            )
        case "copy":
            return True
    return instruction.is_elementwise and Trait.NONDETERMINISTIC not in instruction.op.traits


def _fusion_can_share(fusion: HloInstruction, operand: int, leaf: int) -> bool:
    computation = fusion.attributes["calls"]
    root = computation.root
    if fusion.shape.is_tuple and root.opcode != "tuple":
        return False
    results = list(root.operands) if root.opcode == "tuple" else [root]
    result = results[leaf]
    parameter = computation.parameters[operand]
    if result.opcode in ("dynamic-update-slice", "scatter"):
        return len(results) == 1 and _updates_only(result, parameter)
    if any(
        r.shape.dimensions != result.shape.dimensions or r.shape.minor_to_major() != result.shape.minor_to_major()
        for r in results
    ):
        return False
    return _read_at_result_index_only(parameter)


def _updates_only(update: HloInstruction, parameter: HloInstruction) -> bool:
    """`parameter` is what `update` updates, and nothing else reads it but at the very place that is updated."""
    target = update.operand(0)
    while target.opcode in ("bitcast", "copy") and target.user_count == 1:
        target = target.operand(0)
    if target is not parameter:
        return False
    for user in parameter.users:
        if user is update or (user.opcode in ("bitcast", "copy") and user.user_count == 1 and update in user.users):
            if list(update.operands).count(parameter) > 1:
                return False
            continue
        if (
            update.opcode == "dynamic-update-slice"
            and user.opcode == "dynamic-slice"
            and user.shape.dimensions == update.operand(1).shape.dimensions
            and list(user.operands[1:]) == list(update.operands[2:])
            and _reaches_elementwise(user, update)
        ):
            continue
        return False
    return True


def _reaches_elementwise(source: HloInstruction, update: HloInstruction) -> bool:
    """All that depends on `source` reads it at the index that it writes, up to the updated slice of `update`."""
    todo, seen = [source], {source}
    while todo:
        node = todo.pop()
        for user in node.users:
            if user is update:
                if update.operand(1) is not node or list(update.operands).count(node) > 1:
                    return False
            elif not user.is_elementwise or user.shape.dimensions != source.shape.dimensions:
                return False
            elif user not in seen:
                seen.add(user)
                todo.append(user)
    return True


def _read_at_result_index_only(parameter: HloInstruction) -> bool:
    """Everything that depends on `parameter` is elementwise: result element i needs element i of it only."""
    todo, seen = [parameter], {parameter}
    while todo:
        node = todo.pop()
        for user in node.users:
            if user in seen or (user.opcode == "tuple" and user.is_root):
                continue
            if not (user.is_elementwise or user.opcode == "copy"):
                return False
            if user.shape.minor_to_major() != node.shape.minor_to_major():
                return False
            seen.add(user)
            todo.append(user)
    return True
