"""The instructions that legalization could not rewrite, and the error that lists them by cause."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.checks import counted
from xla_core.errors import SourceLocation, UnimplementedError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ops.custom_calls import hint_for_unknown, is_custom_call_registered
from xla_core.hlo.table.opcode import Opcode
from xla_core.target import Lack, Unsupported

_MOST_CAUSES = 50
_MOST_PLACES = 3


WHAT_TO_ADD = "give the target these ops or a decomposition of them (`xla plan` lists the fewest)"
"""The first half of the hint; how to let the host run the instructions depends on who compiles."""


class NeedsFallbackError(UnimplementedError):
    """The target can't run some instructions; the host can, with `CompileOptions.fallback="host"`.

    Attributes:
        lacks: what the target would need for the first of the instructions.
    """

    lacks: Sequence[Lack] = ()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Unmet:
    """An instruction that the target doesn't support.

    Attributes:
        instruction: the instruction; if it was replaced, it is no longer in its computation.
        answer: why the target doesn't support it.
        within: the unsupported instruction whose decomposition has this one; None for an instruction of the program.
        missing: what the target would need for each decomposition that was tried.
    """

    instruction: HloInstruction
    answer: Unsupported
    within: Unmet | None = None
    missing: Sequence[Sequence[Lack]] = ()

    @property
    def path(self) -> Sequence[Unmet]:
        """The chain of decompositions from the instruction of the program down to this one."""
        return (self,) if self.within is None else (*self.within.path, self)

    @property
    def cause(self) -> str:
        """The same text for instructions that lack the same thing."""
        return ", ".join(map(str, self.answer.lacks)) or self.answer.reason


def unknown_calls(unmet: Sequence[Unmet]) -> list[Unmet]:
    """Those of the instructions that the host can't run either: custom calls without a meaning."""
    return [u for u in unmet if u.instruction.opcode == Opcode.CUSTOM_CALL and not _has_meaning(u.instruction)]


def refusal(unmet: Sequence[Unmet]) -> UnimplementedError:
    """The error that the target can't run a program, with one line for each cause."""
    causes: dict[str, dict[HloInstruction, Unmet]] = {}  # cause -> instruction of the program -> what it lacks
    for one in unmet:
        causes.setdefault(one.cause, {}).setdefault(one.path[0].instruction, one)
    count = len({i for instructions in causes.values() for i in instructions})
    lines = [_line(list(found.values())) for found in causes.values()]
    listed = lines[:_MOST_CAUSES]
    if len(lines) > _MOST_CAUSES:
        listed.append(f"  and {len(lines) - _MOST_CAUSES} more causes")
    text = f"the target cannot run {counted(count, 'instruction')}, and no decomposition helps:\n" + "\n".join(listed)
    first = unmet[0].instruction
    op, location = first.opcode, first.location
    if len(unknown_calls(unmet)) == len(unmet):
        hint = hint_for_unknown(first.attribute("custom_call_target"))
        return UnimplementedError(text, op=op, location=location, hint=hint)
    hint = f'{WHAT_TO_ADD}, or compile with fallback="host"'
    error = NeedsFallbackError(text, op=op, location=location, hint=hint)
    error.lacks = unmet[0].answer.lacks
    return error


def _line(unmet: Sequence[Unmet]) -> str:
    """The line of one cause."""
    first = unmet[0]
    origins = [u.path[0].instruction for u in unmet]
    which = f"{origins[0].name} = {origins[0].shape.without_layout()} {origins[0].opcode}"
    text = f"  {first.answer.reason}: "
    text += which if len(unmet) == 1 else f"{len(unmet)} instructions, first {which}"
    places = list(dict.fromkeys(str(o.location) for o in origins if o.location not in (None, SourceLocation())))
    if places:
        text += f" at {', '.join(places[:_MOST_PLACES])}"
    if len(places) > _MOST_PLACES:
        text += f" and {counted(len(places) - _MOST_PLACES, 'more place')}"
    needs = list(dict.fromkeys(filter(None, map(_what_is_enough, unmet))))
    return text + "".join(f"\n    {need}" for need in needs)


def _what_is_enough(unmet: Unmet) -> str:
    """The ways in which the target could run a decomposed instruction; "" if there is but one."""
    *above, last = unmet.path
    if not above and not unmet.missing:
        return ""
    needed = [_lacks(u.answer.lacks) for u in reversed(unmet.path[1:]) if u.answer.lacks]
    known = [set(u.answer.lacks) for u in unmet.path]  # the first one is the instruction itself
    needed += [_lacks(lacks) for lacks in unmet.missing if lacks and set(lacks) not in known]
    if not needed and not above:
        return ""
    choices = [*dict.fromkeys(needed), "itself"]
    if above and not last.answer.lacks:
        choices = [f"{last.instruction.opcode} ({last.answer.reason})", "itself"]
    return f"{unmet.path[0].instruction.opcode} needs {', or '.join(choices)}"


def _lacks(lacks: Sequence[Lack]) -> str:
    return " and ".join(map(str, lacks))


def _has_meaning(call: HloInstruction) -> bool:
    return is_custom_call_registered(call.attribute("custom_call_target"))
