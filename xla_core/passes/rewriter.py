"""The worklist that applies local rules to a fixed point.

A rule looks at one instruction and returns what may stand for it, or None. The rewriter gives the replacement all
uses, removes what died, and looks again at what could now match: new instructions, users, operands that lost a user.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.decompositions.builder import Builder
from xla_core.hlo.effects import is_effect
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.opcode import Opcode

__all__ = ["Builder", "Rewriter", "Rule", "remove_dead", "replace"]


Rule = Callable[[HloInstruction, Builder], "HloInstruction | None"]
"""What may stand for the instruction: a new one, one that is there, the instruction itself when it was changed in
place, or None. A rule adds instructions only when it returns one."""


class Rewriter:
    """Applies rules, keyed by opcode, to one computation until none matches.

    Args:
        rules: for each opcode its rules, tried in order; those of None are tried for every opcode, last.
        accept: whether an instruction that a rule made may stay; a rule whose instructions may not is undone.
        skip: instructions that rules don't look at.
        layout_sensitive: a replacement must have the very layout; otherwise layouts are still free.
    """

    _STEPS_PER_INSTRUCTION = 40

    def __init__(
        self,
        computation: HloComputation,
        rules: Mapping[Opcode | None, Sequence[Rule]],
        *,
        accept: Callable[[HloInstruction], bool] | None = None,
        skip: Callable[[HloInstruction], bool] | None = None,
        layout_sensitive: bool = False,
    ) -> None:
        self.computation = computation
        self.rules = rules
        self.accept = accept
        self.skip = skip
        self.layout_sensitive = layout_sensitive
        self.builder = Builder(computation)
        self.queue: deque[HloInstruction] = deque()
        self.queued: set[HloInstruction] = set()

    def run(self) -> bool:
        """Returns whether anything changed."""
        for instruction in self.computation.post_order():
            self._push(instruction)
        changed = False
        everywhere = self.rules.get(None, ())
        # A pair of rules that undo each other must not hang the compiler.
        steps = self._STEPS_PER_INSTRUCTION * len(self.queue) + 1000
        while self.queue and steps:
            steps -= 1
            instruction = self.queue.popleft()
            self.queued.discard(instruction)
            if instruction.parent is not self.computation:
                continue
            if _is_dead(instruction):
                self._remove(instruction)
                changed = True
                continue
            if self.skip is not None and self.skip(instruction):
                continue
            for rule in (*self.rules.get(instruction.opcode, ()), *everywhere):
                if self._apply(rule, instruction):
                    changed = True
                    break
        return changed

    def _apply(self, rule: Rule, instruction: HloInstruction) -> bool:
        builder = self.builder
        builder.source, builder.added = instruction, []
        new = rule(instruction, builder)
        if new is None:
            return False
        if not self._acceptable(instruction, new, builder.added):
            builder.undo()
            return False
        for added in builder.added:
            self._push(added)
        operands = list(instruction.operands)
        if new is not instruction:
            new = replace(instruction, new)
        self._push(new)
        for user in new.users:
            self._push(user)
        for operand in operands:
            if operand.parent is self.computation:
                self._push(operand)
        return True

    def _acceptable(self, old: HloInstruction, new: HloInstruction, added: list[HloInstruction]) -> bool:
        if new is not old and not new.shape.compatible(old.shape):
            return False
        if self.layout_sensitive and new is not old and new.shape != old.shape:
            return False
        return self.accept is None or all(map(self.accept, added))

    def _push(self, instruction: HloInstruction) -> None:
        if instruction not in self.queued:
            self.queued.add(instruction)
            self.queue.append(instruction)

    def _remove(self, instruction: HloInstruction) -> None:
        for operand in remove_dead(instruction):
            self._push(operand)


def replace(old: HloInstruction, new: HloInstruction) -> HloInstruction:
    """Gives `new` all of `old`'s uses, and removes `old`. The entry's result keeps the layout that it has."""
    computation = old.parent
    assert computation is not None
    wanted = old.shape.layout
    if wanted is not None and computation.is_entry and old is computation.root and new.shape.layout != wanted:
        if new.shape.layout is None and not new.user_count and new.opcode != Opcode.PARAMETER:
            new.shape = old.shape
        else:
            new = computation.add(Opcode.COPY, new, shape=old.shape)
    return computation.replace_with(old, new)


def _is_dead(instruction: HloInstruction) -> bool:
    return (
        not instruction.user_count
        and not instruction.is_root
        and instruction.opcode != Opcode.PARAMETER
        and not is_effect(instruction)
    )


def remove_dead(instruction: HloInstruction) -> list[HloInstruction]:
    """Removes a dead instruction and what dies with it; returns the operands that stay."""
    kept: dict[HloInstruction, None] = {}
    stack = [instruction]
    while stack:
        dead = stack.pop()
        computation = dead.parent
        if computation is None or not _is_dead(dead):
            continue
        operands = list(dict.fromkeys(dead.operands))
        computation.remove(dead)
        kept.pop(dead, None)
        for operand in operands:
            if _is_dead(operand):
                stack.append(operand)
            else:
                kept[operand] = None
    return [k for k in kept if k.parent is not None]
