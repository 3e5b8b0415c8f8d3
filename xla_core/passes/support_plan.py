"""plan_support: which ops and element types a target needs in order to run given programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from xla_core.hlo.ir.entry import flatten_entry
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.op_table import OPS, Trait
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.passes.legalization import Unmet, rewrite_unsupported, unsupported_instructions
from xla_core.passes.legalization.carriers import carrier_passes
from xla_core.passes.legalization.float_normalization import wider_type
from xla_core.passes.pass_manager import HloPass, HloPassPipeline, PassContext
from xla_core.passes.pipeline import STAGES, default_pipeline, lapack_expansion
from xla_core.target import Lack, LackKind, Support, TargetConfig, Unsupported

_Choice = frozenset[Lack]
"""A set of lacks. A program runs if the target gets all of them."""

_MOST_CHOICES = 24  # how many choices of a program are kept, the smallest first

_PRIMITIVES = frozenset(
    Lack(opcode, element_type)
    for opcode, op in OPS.items()
    if Trait.PRIMITIVE in op.traits
    for element_type in (ElementType.F32, ElementType.S32, ElementType.PRED)
)
"""The lacks of a target that has no primitive op. A program needs some of these ops, and most need no others."""


@dataclasses.dataclass(frozen=True, slots=True)
class PlanStep:
    """The features to add next.

    Attributes:
        lacks: what to add.
        serves: the ops of the programs that need each of them, which may be the op itself.
        unlocks: the programs that run with this step and the ones before it.
    """

    lacks: tuple[Lack, ...]
    serves: Mapping[Lack, tuple[Opcode, ...]]
    unlocks: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class SupportPlan:
    """The features that a target needs in order to run programs.

    Attributes:
        runs: the programs that run already.
        steps: what to add, in the order that unlocks most programs for the fewest additions.
    """

    runs: tuple[str, ...]
    steps: tuple[PlanStep, ...]


def plan_support(
    target: TargetConfig, programs: Mapping[str, HloModule], stages: Mapping[str, HloPass] | None = None
) -> SupportPlan:
    """Plans the fewest additions to a target's capabilities with which it runs all programs without a fallback.

    An op that the target lacks runs if the op is added to the target, or the ops of its decomposition by the core. The
    plan is checked by legalizing the programs with it. It is the smallest one for most programs. For programs with very
    many alternatives the search is cut short, and the plan is at most as long as that of the primitive ops that the
    programs use.

    Args:
        target: the target as it is.
        programs: name -> program, which is not changed.
        stages: the stages of the core's pipeline that the backend replaces (`Compiler.hlo_stages`).
    """
    prepared = {name: _prepared(module, target, stages or {}) for name, module in programs.items()}
    studies = {name: _Study(module, target) for name, module in prepared.items()}
    runs = tuple(name for name, study in studies.items() if frozenset() in study.choices)
    chosen = _fewest(studies.values())
    while [study for study in studies.values() if not study.check(chosen)]:
        chosen = _fewest(studies.values())
    for lack in sorted(chosen, key=str):
        # With everything in `chosen`, another decomposition may make a lack unnecessary.
        rest = chosen - {lack}
        users = [study for study in studies.values() if not _is_within(study.needed(chosen), rest)]
        if all(study.runs_with(study.needed(chosen) - {lack}) for study in users):
            for study in users:
                study.choices.insert(0, study.needed(chosen) - {lack})
                rest |= study.choices[0]  # memory of a type that the op implied
            chosen = _without_implied(rest)
    return SupportPlan(runs, tuple(_ordered(studies, chosen, runs)))


def _prepared(module: HloModule, target: TargetConfig, stages: Mapping[str, HloPass]) -> HloModule:
    """A copy of the program as legalization gets it."""
    module = module.clone()
    flatten_entry(module)
    before = list(STAGES)[: list(STAGES).index("legalization")]
    passes = default_pipeline(target, stages=stages).passes[: len(before)]
    PassContext.default().run(HloPassPipeline("optimization", passes), module, ())
    return module


class _Study:
    """The features that a target lacks for one program.

    Attributes:
        choices: sets of lacks, each of which is enough for the program as far as is known. A program that runs has the
            empty set.
        by_primitives: the lacks that are enough if the program is decomposed into primitive ops.
        serves: for each lack, the ops of the program that need it.
    """

    def __init__(self, module: HloModule, target: TargetConfig) -> None:
        self._module = module
        self._target = target
        self.serves: dict[Lack, dict[Opcode, None]] = {}
        self.choices = self._find(target)
        added = frozenset(self._conversions())
        if added:  # with conversions alone, ops may run in wider types
            wider = self._find(_with_lacks(target, added))
            self.choices = _smallest([*(added | choice for choice in wider), *self.choices])
        self.by_primitives = self._used_of_primitives() if frozenset() not in self.choices else frozenset[Lack]()

    def _used_of_primitives(self) -> _Choice:
        """The primitive ops that the legalized program uses, and the features that it lacks besides them."""
        target = _with_lacks(self._target, _PRIMITIVES)
        target = _with_lacks(target, self._find(target)[0])
        module = self._module.clone()
        PassContext.default().run(lapack_expansion(target), module, ())
        _legalize(module, target, target.supports)
        used = unsupported_instructions(module, lambda i: _all_that_lacks(self._target, i))
        return _without_implied(lack for _, answer in used for lack in answer.lacks)

    def _conversions(self) -> Iterable[Lack]:
        """The conversions that are lacking between narrow types that the program lacks and wider ones."""
        have = self._target.capabilities.ops.get(Opcode.CONVERT, frozenset())
        for kind in {lack.element_type for choice in self.choices for lack in choice}:
            wide = None if kind is None else wider_type(kind)
            if wide is not None:
                yield from (Lack(Opcode.CONVERT, t) for t in (kind, wide) if t not in have)

    def check(self, chosen: _Choice) -> bool:
        """Whether the program runs with `chosen`; otherwise its choices become those that are enough then."""
        own = self.needed(chosen)
        more = self._find(_with_lacks(self._target, own))
        if any(_is_within(choice, own) for choice in more):
            return True
        others = [choice for choice in self.choices if choice != own]
        self.choices = _smallest([*(own | choice for choice in more), *others])
        if own == self.by_primitives:
            self.by_primitives = own | more[0]
        return False

    def runs_with(self, lacks: _Choice) -> bool:
        """Whether the program runs if the target gets `lacks`."""
        return frozenset() in self._find(_with_lacks(self._target, lacks))

    def needed(self, chosen: _Choice) -> _Choice:
        """The smallest choice that is part of `chosen`."""
        return next(choice for choice in (*self.choices, self.by_primitives) if _is_within(choice, chosen))

    def _find(self, target: TargetConfig) -> list[_Choice]:
        """Returns the sets of lacks of `target` that are enough for the program, the smallest first."""
        module = self._module.clone()
        expanded = PassContext.default().run(lapack_expansion(target), module, ())
        choices = self._find_in(module, target)
        if not expanded or frozenset() in choices:
            return choices
        return _smallest([*choices, *self._find_in(self._module.clone(), target)])  # the calls may be added instead

    def _find_in(self, module: HloModule, target: TargetConfig) -> list[_Choice]:
        """Like `_find`, for a module without further preparation. The module is changed."""

        def supports(instruction: HloInstruction) -> Support:
            return _all_that_lacks(target, instruction)

        unmet = _legalize(module, target, supports)
        parts: dict[Unmet | None, dict[Unmet, None]] = {}  # instruction -> those of its decomposition that are unmet
        for one in unmet:
            for step in one.path:
                parts.setdefault(step.within, {})[step] = None
                for lack in step.answer.lacks:
                    self.serves.setdefault(lack, {})[one.path[0].instruction.opcode] = None

        def choices(one: Unmet | None) -> list[_Choice]:
            by_parts = _combined(map(choices, parts[one])) if one in parts else []
            own = [frozenset(one.answer.lacks)] if one is not None and one.answer.lacks else []
            return _smallest([*by_parts, *own])

        return choices(None) if unmet else [frozenset()]


def _legalize(
    module: HloModule, target: TargetConfig, supports: Callable[[HloInstruction], Support]
) -> Sequence[Unmet]:
    """Rewrites a module for a target; returns what remains that it doesn't support."""
    PassContext.default().run(HloPassPipeline("carriers", carrier_passes(target)), module, ())
    return rewrite_unsupported(module, supports)[1]


def _with_lacks(target: TargetConfig, lacks: Iterable[Lack]) -> TargetConfig:
    return target.model_copy(update={"capabilities": target.capabilities.with_lacks(lacks)})


def _all_that_lacks(target: TargetConfig, instruction: HloInstruction) -> Support:
    """Like `TargetConfig.supports`, but returns all lacks of the instruction, not only the first ones."""
    answer = first = target.supports(instruction)
    found: dict[Lack, None] = {}
    while isinstance(answer, Unsupported) and not found.keys() >= set(answer.lacks):
        found.update(dict.fromkeys(answer.lacks))
        target = _with_lacks(target, answer.lacks)
        answer = target.supports(instruction)
    return Unsupported(first.reason, tuple(_without_implied(found))) if isinstance(first, Unsupported) else first


def _implied(lacks: _Choice) -> _Choice:
    """The element types in memory that a target gets with ops of these types."""
    return frozenset(Lack(None, one.element_type, LackKind.MEMORY) for one in lacks if one.kind is LackKind.OP)


def _without_implied(lacks: Iterable[Lack]) -> _Choice:
    whole = frozenset(lacks)
    return whole - _implied(whole)


def _is_within(part: _Choice, whole: _Choice) -> bool:
    """Whether a target that gets `whole` has `part`."""
    return part <= whole | _implied(whole)


def _fewest(studies: Iterable[_Study]) -> _Choice:
    """The smallest set that is known to be enough for all programs."""
    listed = list(studies)
    primitives = _without_implied(lack for study in listed for lack in study.by_primitives)
    return min(_combined(study.choices for study in listed)[0], primitives, key=len)


def _combined(several: Iterable[Sequence[_Choice]]) -> list[_Choice]:
    """Returns the smallest sets that contain a choice of each sequence. There is none if a sequence is empty."""
    found: list[_Choice] = [frozenset()]
    for choices in dict.fromkeys(tuple(choices) for choices in several):
        found = _smallest([a | b for b in choices for a in found])
    return found


def _smallest(choices: Iterable[_Choice]) -> list[_Choice]:
    """Leaves out the choices that contain another one, and returns the rest, the smallest first."""
    kept: list[_Choice] = []
    for choice in sorted(dict.fromkeys(map(_without_implied, choices)), key=len):
        if len(kept) < _MOST_CHOICES and not any(_is_within(other, choice) for other in kept):
            kept.append(choice)
    return kept


def _ordered(studies: Mapping[str, _Study], chosen: _Choice, runs: Sequence[str]) -> Iterable[PlanStep]:
    """Yields the steps to `chosen`. Each step unlocks the most programs for each of its additions."""
    waiting = {name: study.needed(chosen) for name, study in studies.items() if name not in runs}
    have: _Choice = frozenset()
    while waiting:
        added = _next(list(waiting.values()), have)
        have |= added
        unlocked = tuple(name for name, needed in waiting.items() if _is_within(needed, have))
        waiting = {name: needed for name, needed in waiting.items() if name not in unlocked}
        lacks = tuple(sorted(added, key=str))
        served = {lack: {o: None for s in studies.values() for o in s.serves.get(lack, ())} for lack in lacks}
        yield PlanStep(lacks, {lack: tuple(opcodes) for lack, opcodes in served.items()}, unlocked)


def _next(waiting: Sequence[_Choice], have: _Choice) -> _Choice:
    """Returns the additions to `have` that unlock most programs for each addition.

    `waiting` has the needs of each program.
    """

    def gain(added: _Choice) -> float:
        return sum(_is_within(needed, have | added) for needed in waiting) / len(added)

    return max((needed - have - _implied(have) for needed in waiting), key=gain)
