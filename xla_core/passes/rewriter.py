"""RewritePass: the base of passes that apply local rewrite rules until none matches.

A rule examines one instruction and returns its replacement, or None. The rewriter replaces all uses, removes dead
instructions, and queues the instructions that may match now: new ones, users, and operands that lost a user.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from xla_core.hlo.builder import Builder
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.effects import is_effect
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.patterns import is_dynamic

Rule = Callable[[HloInstruction, Builder], "HloInstruction | None"]
"""(instruction, builder) -> its replacement, or None if the rule doesn't apply.

The replacement is a new instruction, an existing one, or the instruction itself if the rule changed it in place. A rule
that returns None adds no instructions.
"""


class RewritePass(HloPass):
    """Applies `rules` to every computation.

    Args:
        accept: whether an instruction that a rule added may stay; if one may not, the rewrite is undone. None accepts
            all.
    """

    rules: Mapping[Opcode | None, Sequence[Rule]]
    """Opcode -> its rules, in the order in which they are tried. Rules under None are tried last, for all opcodes."""

    def __init__(self, accept: Callable[[HloInstruction], bool] | None = None) -> None:
        self.accept = accept

    def skips(self, instruction: HloInstruction) -> bool:
        """Whether rules ignore an instruction; most rules don't support dynamic dimensions."""
        return is_dynamic(instruction)

    def run(self, module: HloModule) -> bool:
        changed = False
        for computation in module.post_order():
            changed |= _Rewriter(self, computation).run()
        return changed


class _Rewriter:
    """Applies the rules of a pass to one computation."""

    _STEPS_PER_INSTRUCTION = 40

    def __init__(self, owner: RewritePass, computation: HloComputation) -> None:
        self.owner = owner
        self.computation = computation
        self.builder = Builder(computation)
        self.queue: deque[HloInstruction] = deque()
        self.queued: set[HloInstruction] = set()

    def run(self) -> bool:
        """Applies the rules; returns whether the computation changed."""
        for instruction in self.computation.post_order():
            self._push(instruction)
        changed = False
        rules, skips = self.owner.rules, self.owner.skips
        everywhere = rules.get(None, ())
        # The limit ends the loop if two rules undo each other.
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
            tried = (*rules.get(instruction.opcode, ()), *everywhere)
            if not tried or skips(instruction):
                continue
            for rule in tried:
                if self._apply(rule, instruction):
                    changed = True
                    break
        return changed

    def _apply(self, rule: Rule, instruction: HloInstruction) -> bool:
        builder = self.builder
        builder.metadata, builder.added = instruction.metadata, []
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
        return self.owner.accept is None or all(map(self.owner.accept, added))

    def _push(self, instruction: HloInstruction) -> None:
        if instruction not in self.queued:
            self.queued.add(instruction)
            self.queue.append(instruction)

    def _remove(self, instruction: HloInstruction) -> None:
        for operand in remove_dead(instruction):
            self._push(operand)


def replace(old: HloInstruction, new: HloInstruction) -> HloInstruction:
    """Replaces all uses of `old` with `new`, and removes `old`. The layout of the entry's result is kept."""
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
    """Removes an instruction if it is dead, then operands that are dead without it; returns operands that remain."""
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
