"""RewritePass: the base of passes that apply local rewrite rules until none matches.

A rule examines one instruction and returns its replacement, or None. The rewriter replaces all uses, removes dead
instructions, and queues the instructions that may match now: new ones, users, and operands that lost a user.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.effects import is_effect
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
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
        accept: whether an instruction that a rule added may stay; otherwise the rewrite is undone. None accepts all.
    """

    rules: Mapping[Opcode, Sequence[Rule]]
    """Opcode -> its rules, in the order in which they are tried."""

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
        order = self.computation.post_order()
        for instruction in order:
            self._push(instruction)
        changed = False
        queue, rules, skips, builder = self.queue, self.owner.rules, self.owner.skips, self.builder
        # The limit ends the loop if two rules undo each other.
        steps = self._STEPS_PER_INSTRUCTION * len(order) + 1000
        while queue and steps:
            steps -= 1
            instruction = queue.popleft()
            self.queued.discard(instruction)
            if instruction.parent is not self.computation:
                continue
            if not instruction.user_count and _is_dead(instruction):
                for operand in remove_dead(instruction):
                    self._push(operand)
                changed = True
                continue
            tried = rules.get(instruction.opcode)
            if not tried or skips(instruction):
                continue
            builder.metadata = instruction.metadata
            for rule in tried:
                new = rule(instruction, builder)
                if new is not None and self._accept(instruction, new):
                    changed = True
                    break
        return changed

    def _accept(self, old: HloInstruction, new: HloInstruction) -> bool:
        """Replaces an instruction, and queues those that may match now. Returns False if it undid the rule."""
        added, accept = self.builder.added, self.owner.accept
        if (new is not old and not new.shape.compatible(old.shape)) or not (accept is None or all(map(accept, added))):
            self.builder.undo()
            return False
        self.builder.added = []
        operands = list(old.operands)
        if new is not old:
            new = replace(old, new)
        for instruction in (*added, new, *new.users, *operands):
            if instruction.parent is self.computation:
                self._push(instruction)
        return True

    def _push(self, instruction: HloInstruction) -> None:
        if instruction not in self.queued and (instruction.opcode in self.owner.rules or not instruction.user_count):
            self.queued.add(instruction)
            self.queue.append(instruction)


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
