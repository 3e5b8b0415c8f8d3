"""The executions of a case's program: with the case's own values, and before that in another arrangement of them.

The earlier execution is what a kernel that keeps data of its first launch would be wrong after. As its results are
compared too, each choice of type, attributes and sizes meets two kinds of values for the price of one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.cases import OpCase
from xla_conformance.ops.contexts import Context, Placed, place
from xla_conformance.ops.executions import Before, moved_arguments
from xla_core.hlo import OPS, Trait
from xla_core.target import LayoutRules

_MOST = 1 << 12
"""The most elements of arguments that are arranged in another way. Kinds of values need no more."""


def cases_run(case: OpCase, context: Context, before: Before) -> list[OpCase]:
    """Returns the cases that one program runs, one after the other: the last is the case itself."""
    if before != "other" or context.operands not in ("arguments", "kernels"):
        return [case]
    elements = sum(shape.num_elements for shape in case.program.module.parameter_shapes if shape.is_array)
    if elements > _MOST or Trait.NONDETERMINISTIC in OPS[case.opcode].traits:
        return [case]
    other = case.rearranged()
    return [case] if other is None else [other, case]


def placed_runs(cases: Sequence[OpCase], context: Context, layouts: LayoutRules) -> list[Placed]:
    """Puts the cases' program into a context. Returns it with the arguments of each case."""
    runs = [case.arguments() for case in cases]
    return place(cases[-1].program.module, context, runs[-1], layouts=layouts).with_each(runs)


def results_of_each(
    results: Sequence[list[np.ndarray]], parts: Sequence[Sequence[Placed]]
) -> list[list[list[np.ndarray]]]:
    """Returns for each case its part of the results of a program of several cases, for each of its own executions.

    Args:
        results: of each execution of the program.
        parts: the executions of each case. Those of a case with fewer are the last ones.
    """
    found, end = [], 0
    for runs in parts:
        start, end = end, end + sum(1 for _ in runs[-1].module.result_shape.leaves())
        found.append([made[start:end] for made in results[-len(runs) :]])
    return found


def joined_runs(joined: Placed, parts: Sequence[Sequence[Placed]]) -> list[Placed]:
    """Returns the executions of a program of several cases: with earlier arguments, if any case has such, and then
    their own. The earlier arguments of a case that has none have its elements at other places.
    """
    own = [argument for runs in parts for argument in runs[-1].arguments]
    if all(len(runs) == 1 for runs in parts):
        return joined.with_each([own])
    earlier = [runs[0].arguments if len(runs) > 1 else moved_arguments(runs[0]) for runs in parts]
    return joined.with_each([[argument for some in earlier for argument in some], own])
