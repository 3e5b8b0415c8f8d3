"""legalize: rewrites what a target can't run into what it can.

For each instruction that `supports` refuses: the same op in a wider type, if the target has that; else a decomposition
from the registry, whose instructions are looked at in turn. What is left is one error that lists all of it with places.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from xla_core.analysis.control_flow import reachable_sequences
from xla_core.errors import UnimplementedError
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.module import HloModule
from xla_core.hlo.ops.custom_calls import HINT as UNKNOWN_TARGET_HINT
from xla_core.hlo.ops.custom_calls import is_custom_call_registered
from xla_core.passes.legalization.float_normalization import widen
from xla_core.passes.legalization.registry import DECOMPOSITIONS
from xla_core.passes.pass_manager import HloPass
from xla_core.passes.rewriter import Builder, Rule, remove_dead, replace
from xla_core.target import Support, Unsupported

__all__ = ["LegalityChecker", "Legalization", "legalize", "unsupported_instructions"]

_MOST_STEPS_DEEP = 24  # decompositions of decompositions
_MOST_LISTED = 50


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Origin:
    """An instruction of the program, as errors name it, and why the target doesn't run it."""

    text: str
    reason: str

    @classmethod
    def of(cls, instruction: HloInstruction, reason: str) -> _Origin:
        place = f" at {instruction.location}" if instruction.location is not None else ""
        shape = instruction.shape.without_layout()
        return cls(f"  {instruction.name} = {shape} {instruction.opcode}{place}", reason)

    def __str__(self) -> str:
        return f"{self.text}: {self.reason}"


Supports = Callable[[HloInstruction], Support]


class Legalization(HloPass):
    """Makes every instruction one that the target runs; raises UnimplementedError where that is not possible.

    `decompositions` are the target's own, tried before the core's. Without `refuse`, what can't be rewritten stays.
    """

    name = "legalize"

    def __init__(
        self,
        supports: Supports,
        decompositions: Mapping[str, Sequence[Rule]] | None = None,
        *,
        refuse: bool = True,
    ) -> None:
        self._supports = supports
        self._decompositions = decompositions or {}
        self._refuse = refuse

    def run(self, module: HloModule) -> bool:
        return legalize(module, self._supports, self._decompositions, refuse=self._refuse)


class LegalityChecker(HloPass):
    """Changes nothing; raises UnimplementedError when something isn't supported."""

    name = "legality-checker"

    def __init__(self, supports: Supports) -> None:
        self._supports = supports

    def run(self, module: HloModule) -> bool:
        refused = unsupported_instructions(module, self._supports)
        if refused:
            raise _error(refused)
        return False


def unsupported_instructions(module: HloModule, supports: Supports) -> list[tuple[HloInstruction, str]]:
    """What the target doesn't run of a module, and why. Computations that are applied are their users' matter."""
    found = []
    for computation in reachable_sequences(module):
        for instruction in computation.instructions:
            answer = supports(instruction)
            if isinstance(answer, Unsupported):
                found.append((instruction, answer.reason))
    return found


def legalize(
    module: HloModule,
    supports: Supports,
    decompositions: Mapping[str, Sequence[Rule]] | None = None,
    *,
    refuse: bool = True,
) -> bool:
    """Rewrites to a fixed point; returns whether anything changed.

    Raises UnimplementedError that names every instruction for which nothing is left to try, if `refuse`.
    """
    own = decompositions or {}
    refused: list[tuple[HloInstruction, str]] = []
    origins: dict[HloInstruction, _Origin] = {}  # of what a decomposition made
    changed = False
    for computation in _with_new_ones(module):
        builder = Builder(computation)
        queue = deque((i, 0) for i in computation.post_order())
        while queue:
            instruction, depth = queue.popleft()
            if instruction.parent is not computation:
                continue
            answer = supports(instruction)
            if not isinstance(answer, Unsupported):
                continue
            if depth and not instruction.user_count and not instruction.is_root:
                remove_dead(instruction)  # a decomposition made it in vain
                continue
            new = None
            if depth < _MOST_STEPS_DEEP:
                builder.source, builder.added = instruction, []
                rules = (*own.get(instruction.opcode, ()), *DECOMPOSITIONS.get(instruction.opcode, ()))
                new = _first(instruction, builder, rules, supports)
            if new is None:
                refused.append((instruction, answer.reason))
                continue
            origin = origins.get(instruction) or _Origin.of(instruction, answer.reason)
            origins.update(dict.fromkeys(builder.added, origin))
            operands = list(instruction.operands)
            replace(instruction, new)
            for operand in operands:
                remove_dead(operand)
            queue.extendleft((i, depth + 1) for i in reversed(builder.added))
            changed = True
    reached = {i for c in reachable_sequences(module) for i in c.instructions}
    # What an applied computation (a reducer) has that isn't supported shows in those that apply it, if any are left.
    refused = [r for r in refused if r[0] in reached]
    if refused and refuse:
        raise _error(refused, origins)
    if changed:
        module.remove_unreachable_computations()
    return changed


def _with_new_ones(module: HloModule) -> Iterator[HloComputation]:
    """The computations, then those that rewriting them added, until it adds none: bodies of loops."""
    seen: set[HloComputation] = set()
    while new := [c for c in module.post_order() if c not in seen]:
        seen.update(new)
        yield from new


def _first(i: HloInstruction, b: Builder, rules: Sequence[Rule], supports: Supports) -> HloInstruction | None:
    new = widen(i, b, supports)
    for rule in rules:
        if new is None:
            new = rule(i, b)
    return new


def _error(
    refused: Sequence[tuple[HloInstruction, str]], origins: Mapping[HloInstruction, _Origin] | None = None
) -> UnimplementedError:
    """One line for each instruction of the program, with the first of what its decomposition lacks."""
    lines: dict[_Origin, str] = {}
    for instruction, reason in refused:
        origin = (origins or {}).get(instruction)
        if origin is None:
            origin = _Origin.of(instruction, reason)
            lines[origin] = str(origin)
        elif origin not in lines:
            lines[origin] = f"{origin}, and of what it is made of, {instruction.opcode}: {reason}"
    listed = list(lines.values())[:_MOST_LISTED]
    if len(lines) > _MOST_LISTED:
        listed.append(f"  and {len(lines) - _MOST_LISTED} more")
    first = refused[0][0]
    hint = 'give the target these ops or a decomposition of them, or compile with fallback="host"'
    if all(i.opcode == "custom-call" and not _has_meaning(i) for i, _ in refused):
        hint = f"{UNKNOWN_TARGET_HINT} (docs/custom-calls.md)"
    return UnimplementedError(
        f"the target cannot run {len(lines)} instruction{'s' if len(lines) > 1 else ''}, and no decomposition "
        "helps:\n" + "\n".join(listed),
        op=first.opcode,
        location=first.location,
        hint=hint,
    )


def _has_meaning(call: HloInstruction) -> bool:
    return is_custom_call_registered(call.attribute("custom_call_target"))
