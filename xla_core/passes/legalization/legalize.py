"""legalize: rewrites the instructions that a target doesn't support.

An unsupported instruction is replaced with the same op in a wider type if the target supports that. Otherwise it is
replaced with a decomposition from the registry, whose instructions are legalized in turn. If some instructions cannot
be replaced, one error lists all of them with their locations.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from xla_core.analysis.control_flow import control_flow_callees, reachable_sequences
from xla_core.analysis.host_costs import trips
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.legalization.decompositions import decompositions_of, needs_of
from xla_core.passes.legalization.float_normalization import has_narrow_types, lacks_of, widen
from xla_core.passes.legalization.unmet import Unmet, refusal, unknown_calls
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import Rule, remove_dead, replace
from xla_core.target import Lack, LackKind, Ok, Support, Unsupported
from xla_core.traversal import reachable

_MOST_STEPS_DEEP = 24  # the deepest nesting of decompositions

Supports = Callable[[HloInstruction], Support]


class Legalization(HloPass):
    """Rewrites the module until the target supports every instruction.

    `decompositions` are the target's own, which are tried before the core's. If `refuse` is False, instructions that
    cannot be rewritten remain, for the host; otherwise `run` raises UnimplementedError. It always does so for custom
    calls that nobody has registered.
    """

    name = "legalize"

    def __init__(
        self,
        supports: Supports,
        decompositions: Mapping[Opcode, Sequence[Rule]] | None = None,
        *,
        refuse: bool = True,
    ) -> None:
        self._supports = supports
        self._decompositions = decompositions or {}
        self._refuse = refuse

    def run(self, module: HloModule) -> bool:
        return legalize(module, self._supports, self._decompositions, refuse=self._refuse)


class LegalityChecker(HloPass):
    """Checks that the target supports every instruction; `run` raises UnimplementedError if it doesn't."""

    name = "legality-checker"

    def __init__(self, supports: Supports) -> None:
        self._supports = supports

    def run(self, module: HloModule) -> bool:
        refused = [Unmet(i, answer) for i, answer in unsupported_instructions(module, self._supports)]
        if refused:
            raise refusal(refused)
        return False


def unsupported_instructions(module: HloModule, supports: Supports) -> list[tuple[HloInstruction, Unsupported]]:
    """The instructions that the target doesn't support, with its answers.

    Applied computations (of reduce, for example) are not searched: `supports` checks them with their users.
    """
    asked = ((i, supports(i)) for computation in reachable_sequences(module) for i in computation.instructions)
    return [(instruction, answer) for instruction, answer in asked if isinstance(answer, Unsupported)]


def legalize(
    module: HloModule,
    supports: Supports,
    decompositions: Mapping[Opcode, Sequence[Rule]] | None = None,
    *,
    refuse: bool = True,
) -> bool:
    """Legalizes a module in place; returns whether it changed. The arguments are those of `Legalization`.

    Raises:
        UnimplementedError: `refuse` is True and some instructions cannot be rewritten, or there are custom calls that
            the host doesn't know either; the error lists all of them.
    """
    if not refuse:
        supports = _without_partial_decompositions(module, supports, decompositions)
    changed, unmet = rewrite_unsupported(module, supports, decompositions)
    if not refuse:
        unmet = unknown_calls(unmet)  # the host can't run these either
    if unmet:
        raise refusal(unmet)
    module.remove_unreachable_computations()
    return changed


def rewrite_unsupported(
    module: HloModule, supports: Supports, decompositions: Mapping[Opcode, Sequence[Rule]] | None = None
) -> tuple[bool, list[Unmet]]:
    """Like `legalize`, but returns whether the module changed, and what cannot be rewritten."""
    legalizer = _Legalizer(module, supports, decompositions or {})
    sequences = set(reachable_sequences(module))
    for computation in module.post_order():
        if computation in sequences:  # those that an instruction applies are rewritten with it
            legalizer.rewrite(computation)
    reached = {i for c in reachable_sequences(module) for i in c.instructions}
    # Unsupported instructions of applied computations (reducers) are reported with the instructions that apply them.
    return legalizer.changed, [u for u in legalizer.unmet if u.instruction in reached]


def _without_partial_decompositions(
    module: HloModule, supports: Supports, decompositions: Mapping[Opcode, Sequence[Rule]] | None
) -> Supports:
    """Returns a `supports` that also accepts an instruction whose decomposition would leave parts on the host.

    It does so where running the whole instruction on the host moves fewer bytes than running those parts there.
    """
    trial = module.clone()
    pairs = zip(trial.computations, module.computations, strict=True)
    # A copy has its instructions in post-order.
    originals = {new: old for c, d in pairs for new, old in zip(c.instructions, d.post_order(), strict=True)}
    _, unmet = rewrite_unsupported(trial, supports, decompositions)
    pieces: dict[HloInstruction, float] = {}
    runs = _runs(trial)
    for one in unmet:
        first, last = one.path[0].instruction, one.instruction
        if first is not last and first in originals:
            count = runs.get(last.parent, 1.0) if last.parent is not None else 1.0
            pieces[first] = pieces.get(first, 0.0) + count * _bytes_crossed(last)
    whole = {originals[i] for i, size in pieces.items() if _bytes_crossed(originals[i]) <= size}
    return lambda i: Ok() if i in whole else supports(i)


_TRANSFER_BYTES = 1 << 16  # the bytes that could be transferred in the time that a transfer takes to start


def _bytes_crossed(i: HloInstruction) -> int:
    shapes = (i.shape, *(o.shape for o in i.operands if o.opcode != Opcode.CONSTANT))
    return sum(leaf.byte_size + _TRANSFER_BYTES for shape in shapes for leaf in shape.array_leaves())


def _runs(module: HloModule) -> dict[HloComputation, float]:
    """Estimates how often a run of the program runs each of its computations."""
    runs = {module.entry: 1.0}
    for computation in reachable_sequences(module):
        for i in computation.instructions:
            for callee in control_flow_callees(i):
                runs[callee] = runs.get(callee, 0.0) + runs.get(computation, 1.0) * trips(i)
    return runs


def _lacks_itself(i: HloInstruction, answer: Support) -> bool:
    """Whether the target lacks the op, whatever computation it applies."""
    lacks = answer.lacks if isinstance(answer, Unsupported) else ()
    return any(lack.kind is LackKind.OP and lack.opcode == i.opcode for lack in lacks)


class _Legalizer:
    """Legalizes computations, each once and callees first, including those that decompositions add."""

    def __init__(self, module: HloModule, supports: Supports, own: Mapping[Opcode, Sequence[Rule]]) -> None:
        self._of_program = frozenset(module.computations)
        self._supports = supports
        self._own = own
        self._seen: set[HloComputation] = set()
        self.unmet: list[Unmet] = []
        self._missing: list[Sequence[Lack]] = []  # the ops that the decompositions of the current instruction need
        self._within: dict[HloInstruction, Unmet] = {}  # added instruction -> what it decomposes
        self.changed = False

    def rewrite(self, computation: HloComputation) -> None:
        if computation in self._seen:
            return
        self._seen.add(computation)
        builder = Builder(computation)
        queue = deque((i, 0) for i in computation.post_order())
        while queue:
            instruction, depth = queue.popleft()
            if instruction.parent is not computation:
                continue
            answer = self._supports(instruction)
            called = instruction.called_computations
            if called and not _lacks_itself(instruction, answer):  # decompositions see the originals
                for applied in called:
                    self.rewrite(applied)
                answer = self._supports(instruction)
            if not isinstance(answer, Unsupported):
                continue
            if depth and not instruction.user_count and not instruction.is_root:
                remove_dead(instruction)  # a decomposition added it without using it
                continue
            unmet = Unmet(instruction, answer, self._within.get(instruction))
            self._missing = []
            if depth == _MOST_STEPS_DEEP or not self._replace(unmet, builder):
                self.unmet.append(dataclasses.replace(unmet, missing=tuple(self._missing)))
                continue
            queue.extendleft((i, depth + 1) for i in reversed(builder.added))

    def _replace(self, unmet: Unmet, builder: Builder) -> bool:
        """Replaces an instruction with the first usable decomposition; returns whether there is one."""
        instruction = unmet.instruction
        builder.metadata, builder.added = instruction.metadata, []
        new = widen(instruction, builder, self._supports, self._missing)
        for rule in self._rules(instruction.opcode):
            if new is None:
                new = self._tried(rule, instruction, builder)
        if new is None:
            return False
        self._within.update(dict.fromkeys(builder.added, unmet))
        added = (c for made in builder.added for c in made.called_computations)
        for computation in reachable(added, lambda c: [d for i in c.instructions for d in i.called_computations]):
            if computation not in self._of_program:
                self._within |= dict.fromkeys(computation.instructions, unmet)
        operands = list(instruction.operands)
        replace(instruction, new)
        for operand in operands:
            remove_dead(operand)
        self.changed = True
        return True

    def _rules(self, opcode: Opcode) -> Sequence[Rule]:
        return (*self._own.get(opcode, ()), *decompositions_of(opcode))

    def _tried(self, rule: Rule, instruction: HloInstruction, builder: Builder) -> HloInstruction | None:
        """Applies a rule; undoes it and returns None if it added an instruction that cannot be legalized."""
        new, needed = rule(instruction, builder), needs_of(rule)
        lacking = [] if new is None else [i for i in builder.added if not self._is_possible(i, needed)]
        if not lacking:
            return new
        self._missing.append(lacks_of(lacking, self._supports))
        builder.undo()
        return None

    def _is_possible(self, made: HloInstruction, needed: frozenset[Opcode]) -> bool:
        """Whether an instruction is supported or may be legalized; an applied computation may still be rewritten."""
        if not isinstance(self._supports(made), Unsupported):
            return True
        if made.opcode in needed:
            return False
        return bool(self._rules(made.opcode) or made.called_computations) or has_narrow_types(made)
