"""Finds the first pass after which the reference evaluator computes other results."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Sequence

import numpy as np

from xla_conformance.bisect.comparison import first_difference
from xla_conformance.bisect.device_process import DeviceProcess
from xla_core import evaluate
from xla_core.errors import InternalError
from xla_core.hlo import HloModule, Opcode, is_custom_call_registered

_MOST_CHANGES = 30  # lines that `changed_lines` returns


@dataclasses.dataclass(frozen=True)
class PassStep:
    """A pass that changed the module, and the module after it."""

    pipeline: str
    name: str
    module: HloModule

    def __str__(self) -> str:
        return f"{self.pipeline}/{self.name}"


def compile_in_steps(device: DeviceProcess, module: HloModule) -> tuple[InternalError | None, list[PassStep]]:
    """Compiles a module and keeps the result of each pass.

    Returns:
        The InternalError of a compilation that failed or ended the process; and a step for each pass that changed the
        module.

    Raises:
        XlaError: any other error, such as UnimplementedError for ops that the target doesn't support.
    """
    steps: list[PassStep] = []

    def record(pipeline: str, name: str, changed: HloModule) -> None:
        steps.append(PassStep(pipeline, name, changed))

    try:
        device.compile(module, record)
    except InternalError as error:
        return error, steps
    return None, steps


def find_wrong_pass(
    steps: Sequence[PassStep], arguments: Sequence[np.ndarray], expected: Sequence[np.ndarray], exact: Sequence[bool]
) -> tuple[int, str] | None:
    """Returns the number of the first step whose module computes other results, and the difference; None if none does.

    The evaluator must know all custom calls of the steps. The search halves the steps, so that few modules are
    evaluated. It finds a step that turns right results into wrong ones even if a later step happens to make them
    right again, as long as the last module's results are wrong. Results that are `exact` must be equal.
    """
    difference = _difference(steps[-1].module, arguments, expected, exact) if steps else ""
    if not difference:
        return None
    right, wrong = -1, len(steps) - 1
    while wrong - right > 1:
        middle = (right + wrong) // 2
        found = _difference(steps[middle].module, arguments, expected, exact)
        if found:
            wrong, difference = middle, found
        else:
            right = middle
    return wrong, difference


def changed_lines(before: str, after: str) -> list[str]:
    """Returns the lines that two programs don't share: "-" and those of the first, "+" and those of the second."""
    differences = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    lines = [d for d in differences if d[1:].strip() and not d.startswith(("---", "+++", "@@"))]
    more = len(lines) - _MOST_CHANGES
    return lines if more <= 0 else [*lines[:_MOST_CHANGES], f"... and {more} more"]


def unknown_custom_call(module: HloModule) -> str:
    """Returns the target of a custom call that the evaluator can't evaluate, or ""."""
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.opcode == Opcode.CUSTOM_CALL:
                target: str = instruction.attribute("custom_call_target")
                if not is_custom_call_registered(target):
                    return target
    return ""


def _difference(
    module: HloModule, arguments: Sequence[np.ndarray], expected: Sequence[np.ndarray], exact: Sequence[bool]
) -> str:
    return first_difference(evaluate(module, *arguments), expected, exact)
