"""Rebuilds while loops whose state is a tuple, with other elements."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from xla_core.analysis.while_loop import Loop
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import EffectAnalysis
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape
from xla_core.traversal import reachable


@dataclasses.dataclass(frozen=True, slots=True)
class Extra:
    """A new element of a loop's state: `outside` is its value, which replaces the instruction `inside` of the body."""

    inside: HloInstruction
    outside: HloInstruction


def narrow_loop(instruction: HloInstruction, analysis: EffectAnalysis) -> bool:
    """Removes elements of a loop's state that the condition, effects and users of the result do not depend on.

    Returns whether it removed any.
    """
    loop = Loop.of(instruction)
    if loop is None or instruction.is_root or any(u.opcode != Opcode.GET_TUPLE_ELEMENT for u in instruction.users):
        return False
    needs, effects = loop.dependencies(analysis)
    live = {u.tuple_index for u in instruction.users if u.user_count or u.is_root}
    live |= effects
    # Every use in the condition counts, because dead instructions have been removed.
    live |= set(loop.elements(loop.condition))
    live = set(reachable(live, needs.__getitem__))
    if len(live) == loop.size:
        return False
    rebuild_loop(loop, sorted(live))
    return True


def rebuild_loop(
    loop: Loop,
    keep: Sequence[int],
    replaced: Mapping[int, HloInstruction] | None = None,
    extra: Sequence[Extra] = (),
    same: Mapping[int, int] | None = None,
) -> HloInstruction:
    """Replaces a loop with one that has another state; returns the new while.

    Args:
        loop: the loop, whose while instruction is removed.
        keep: the elements of the state that the new loop has, in this order.
        replaced: element -> constant, for dropped elements that are constant. The constant is copied into body and
            condition, and replaces uses of the element after the loop.
        extra: new elements of the state, which follow those of `keep`.
        same: dropped element -> element of `keep` that always has the same value.

    A dropped element that is neither in `replaced` nor in `same` must not be used.
    """
    old = loop.instruction
    computation, module = old.parent, loop.body.module
    assert computation is not None
    assert module is not None
    replaced = replaced or {}
    numbers = {index: number for number, index in enumerate(keep)}
    numbers |= {index: numbers[kept] for index, kept in (same or {}).items()}
    state = Shape.tuple([old.shape.tuple_shapes[i] for i in keep] + [e.outside.shape for e in extra])
    joined = {e.inside: len(keep) + n for n, e in enumerate(extra)}
    body = _rebuild(loop.body, state, numbers, replaced, joined, [loop.results[i] for i in keep])
    condition = _rebuild(loop.condition, state, numbers, replaced, {}, None)
    module.add_computation(body)
    module.add_computation(condition)

    b = Builder(computation, old.metadata)
    initial = [b.element(old.operands[0], i) for i in keep] + [e.outside for e in extra]
    start = b.tuple(initial)
    new = computation.add_instruction(old.clone([start], shape=state, body=body, condition=condition))
    new.control_predecessors = old.control_predecessors
    for successor in old.control_successors:
        successor.control_predecessors = [new if p is old else p for p in successor.control_predecessors]
    _replace_uses(loop, new, numbers, replaced, b)
    return new


def _replace_uses(
    loop: Loop, new: HloInstruction, numbers: Mapping[int, int], replaced: Mapping[int, HloInstruction], b: Builder
) -> None:
    """Replaces the old while by the new one, in which element `numbers[i]` of the state is the old element i."""
    old, computation = loop.instruction, b.computation
    for user in old.users:
        if user.opcode == Opcode.GET_TUPLE_ELEMENT and not user.is_root:
            if user.tuple_index in replaced:
                computation.replace_with(user, _copy_constant(computation, replaced[user.tuple_index]))
            elif user.tuple_index in numbers:
                moved = computation.add(Opcode.GET_TUPLE_ELEMENT, new, index=numbers[user.tuple_index])
                moved.metadata = user.metadata
                computation.replace_with(user, moved)
            elif not user.user_count:
                computation.remove(user)
    if old.user_count or old.is_root:
        # The whole state is used: build it from its elements. Dropped elements have their initial values.
        parts = [
            computation.add(Opcode.GET_TUPLE_ELEMENT, new, index=numbers[i])
            if i in numbers
            else _copy_constant(computation, replaced[i])
            if i in replaced
            else b.element(old.operands[0], i)
            for i in range(loop.size)
        ]
        computation.replace_with(old, computation.add(Opcode.TUPLE, *parts))
    else:
        computation.remove(old)


def _copy_constant(computation: HloComputation, constant: HloInstruction) -> HloInstruction:
    """A copy of a constant, or of a broadcast of one."""
    operands = [_copy_constant(computation, o) for o in constant.operands]
    return computation.add_instruction(constant.clone(operands))


def _rebuild(
    old: HloComputation,
    state: Shape,
    numbers: Mapping[int, int],
    replaced: Mapping[int, HloInstruction],
    joined: Mapping[HloInstruction, int],
    results: Sequence[HloInstruction] | None,
) -> HloComputation:
    """Copies a body (if `results` is given) or a condition for another state.

    `joined` maps instructions of the body that become elements of the state to their indices.
    """
    new = HloComputation(old.name)
    old_parameter = old.parameters[0]
    parameter = new.parameter(0, state, old_parameter.name)
    copies: dict[HloInstruction, HloInstruction] = {
        inside: new.add(Opcode.GET_TUPLE_ELEMENT, parameter, index=number) for inside, number in joined.items()
    }
    handed_on = list(copies.values())
    effects = EffectAnalysis()
    seeds = [old.root] if results is None else list(results)
    seeds += [i for i in old.instructions if i is not old.root and effects.of(i)]
    needed = reachable(seeds, lambda i: () if i in copies else (*i.operands, *i.control_predecessors))
    for instruction in old.post_order():
        if instruction not in needed or instruction is old_parameter or instruction in copies:
            continue
        if instruction.opcode == Opcode.GET_TUPLE_ELEMENT and instruction.operands[0] is old_parameter:
            index = instruction.tuple_index
            if index in replaced:
                copies[instruction] = _copy_constant(new, replaced[index])
                continue
            copy = instruction.clone([parameter], index=numbers[index])
        else:
            copy = instruction.clone([copies[o] for o in instruction.operands])
        copies[instruction] = new.add_instruction(copy)
        if instruction.control_predecessors:
            copy.control_predecessors = [copies[p] for p in instruction.control_predecessors if p in copies]
    if results is None:
        new.set_root(copies[old.root])
    else:
        new.set_root(new.add(Opcode.TUPLE, *[copies[r] for r in results], *handed_on, metadata=old.root.metadata))
    return new
