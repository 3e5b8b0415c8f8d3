"""Runs cases in batches, each one program, and finds the cases to blame where a program fails."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from xla_conformance.ahead_of_time.machine import Machine, NoProgramError
from xla_conformance.failures import Failure
from xla_conformance.ops import OpCase
from xla_conformance.ops.comparison import check
from xla_conformance.ops.contexts import Context, Placed, place
from xla_conformance.ops.joint import join
from xla_core.errors import UnimplementedError, XlaError
from xla_core.hlo import HloModule

__all__ = ["Batch", "Outcome", "State", "batches_of", "run_batch"]

TOGETHER = 48
"""The most cases in one program. Level 2 is for one program of four, as it takes longer to compile."""


class State(enum.Enum):
    PASSED = "passed"
    WRONG = "wrong"
    NOT_SUPPORTED = "not supported"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a case, and in one sentence what is wrong or not supported."""

    case: OpCase
    state: State
    sentence: str = ""


@dataclasses.dataclass(frozen=True)
class Batch:
    """Cases of one program, and its optimization level."""

    cases: Sequence[OpCase]
    level: int


def batches_of(cases: Iterable[OpCase]) -> Iterator[Batch]:
    """Divides cases among programs. Those whose arrays are dynamic or aliased have programs of their own."""
    plain: list[OpCase] = []
    alone: list[OpCase] = []
    for case in cases:
        (plain if _may_be_joined(case.module()) else alone).append(case)
    for number, start in enumerate(range(0, len(plain), TOGETHER)):
        yield Batch(plain[start : start + TOGETHER], 0 if number % 4 else 2)
    for case in alone:
        yield Batch([case], 2)


def _may_be_joined(module: HloModule) -> bool:
    shapes = [*module.parameter_shapes, *module.result_shape.leaves()]
    return all(s.is_array and not s.is_dynamic for s in shapes) and not module.input_output_aliases


def run_batch(machine: Machine, batch: Batch) -> list[Outcome]:
    """Runs the program of a batch. Where it can't be compiled or fails, runs its halves."""
    cases = batch.cases
    try:
        placed = [place(case.module(), Context(level=0 if batch.level == 0 else 2), case.arguments()) for case in cases]
        joined = join(placed) if len(placed) > 1 else Placed(placed[0].module.clone(), placed[0].arguments, Context())
        results = machine.run(joined.module, joined.arguments, batch.level)
    except NoProgramError:
        raise
    except XlaError as error:
        if len(cases) == 1:
            state = State.NOT_SUPPORTED if isinstance(error, UnimplementedError) else State.WRONG
            return [Outcome(cases[0], state, error.message)]
        half = len(cases) // 2
        parts = (Batch(cases[:half], batch.level), Batch(cases[half:], batch.level))
        return [outcome for part in parts for outcome in run_batch(machine, part)]
    outcomes = []
    for case, one in zip(cases, placed, strict=True):
        count = sum(1 for leaf in one.module.result_shape.leaves() if leaf.is_array)
        outcomes.append(_compared(case, one, results[:count]))
        results = results[count:]
    return outcomes


def _compared(case: OpCase, placed: Placed, results: Sequence[np.ndarray]) -> Outcome:
    sentence = f"{case.opcode} of {case.element_type} must be the reference evaluator's result by the rule {case.rule}:"
    try:
        check(sentence, results, case.expected(), module=placed.module, arguments=placed.arguments)
    except Failure as failure:
        return Outcome(case, State.WRONG, failure.sentence)
    return Outcome(case, State.PASSED)
