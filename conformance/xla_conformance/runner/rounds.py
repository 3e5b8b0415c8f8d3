"""Rounds of a run: all tests again with other seeds, until the time is over."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from xla_conformance.results import Run
from xla_conformance.runner.limits import Limits


def run_rounds(run: Callable[[int, Limits], Run], seed: int, limits: Limits) -> Run:
    """Runs the tests with one seed after the other, from `seed` up, until the total time is over.

    The result has all tests of the first round. A later round adds those that were wrong, with its seed as a property.

    Args:
        run: runs a round with a seed, within limits.
    """
    end = time.monotonic() + limits.total
    whole = run(seed, limits)
    whole.seeds = [seed]
    while whole.results and not whole.problem and (left := end - time.monotonic()) > 0:
        later = run(whole.seeds[-1] + 1, dataclasses.replace(limits, total=left))
        _add(whole, later)
        if later.timed_out:
            break
    return whole


def _add(whole: Run, later: Run) -> None:
    whole.seeds.append(later.seed)
    whole.seconds += later.seconds
    if not later.timed_out:
        whole.problem, whole.not_run = later.problem, later.not_run
    places = {result.id: number for number, result in enumerate(whole.results)}
    for result in later.wrong:
        marked = dataclasses.replace(result, properties={**result.properties, "seed": later.seed})
        if result.id not in places:
            whole.results.append(marked)
        elif not whole.results[places[result.id]].state.is_wrong:
            whole.results[places[result.id]] = marked
