"""Runs a program on all its devices with the same arguments, and compares the results with the reference evaluator."""

from __future__ import annotations

import bisect
import statistics
import time
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from xla_core.cli import comparison, infeed_outfeed

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    import xla_core as xla
    from xla_core.profiler import Span


def run_on_all_devices(
    client: xla.Client, executable: xla.LoadedExecutable, arguments: Sequence[np.ndarray], repeat: int = 1
) -> tuple[list[list[np.ndarray]], list[float]]:
    """The results of each device, as host arrays, and the seconds from each call until its last result was ready."""
    import numpy as np

    devices = executable.devices
    rows: list[list[Any]] = [list(arguments) for _ in devices]
    if repeat > 1:
        rows = [[client.buffer_from_host(a, device) for a in arguments] for device in devices]
        for buffer in chain(*executable.execute_sharded(rows)):  # the first run warms up
            buffer.block_until_ready()
    seconds = []
    for _ in range(repeat):
        infeed_outfeed.read_outfeed(executable)  # drops the values that the previous run wrote
        start = time.perf_counter()
        results = executable.execute_sharded(rows)
        for buffer in chain(*results):
            buffer.block_until_ready()
        seconds.append(time.perf_counter() - start)
    return [[np.asarray(r) for r in row] for row in results], seconds


def host_seconds(spans: Sequence[Span]) -> dict[str, float]:
    """The seconds that the host took for each part that it runs, with its transfers: medians of the runs."""
    starts = sorted(span.start for span in spans if span.category == "execute")
    runs: list[dict[str, float]] = [{} for _ in starts]
    for span in spans:
        if span.category == "host" and (run := bisect.bisect_right(starts, span.start)):
            found = runs[run - 1]
            found[span.name] = found.get(span.name, 0.0) + (span.end - span.start) * 1e-9
    names = {name for run in runs for name in run}
    return {name: statistics.median([run[name] for run in runs if name in run]) for name in names}


def check_on_all_devices(
    console: Console,
    module: xla.HloModule,
    executable: xla.LoadedExecutable,
    arguments: Sequence[np.ndarray],
    results: Sequence[Sequence[np.ndarray]],
    written: Sequence[Mapping[str, np.ndarray]],
    infeed: Sequence[Any] = (),
) -> bool:
    """Compares the results of each device with the reference evaluator's for the same number of devices, prints the
    differences, and returns whether all are right. Results that depend on random numbers are not comparable.

    Args:
        results: the results of each device.
        written: the values that each device wrote to its outfeed, which are compared too.
        infeed: the values that each device read from its infeed.
    """
    import xla_core as xla
    from xla_core.analysis.nondeterminism import find_free_signs, find_inexact, find_nondeterminism
    from xla_core.hlo import Environment, evaluate_replicas
    from xla_core.hlo.evaluation.environment import Alone

    alone = Alone(module.name, 1, 1)  # `evaluate_replicas` makes its own rendezvous for several devices
    surroundings = [Environment(infeed=deque(infeed), rendezvous=alone) for _ in results]
    if len(results) == 1:
        expected = [xla.evaluate(module, *arguments, environment=surroundings[0])]
    else:
        rows = [arguments] * len(results)
        expected = evaluate_replicas(module, rows, num_partitions=executable.num_partitions, environments=surroundings)
    nondeterminism, free, inexact = find_nondeterminism(module), find_free_signs(module), find_inexact(module)
    actual: list[np.ndarray] = []
    right: list[np.ndarray] = []
    places: list[str] = []
    random: list[int] = []
    vectors: list[int] = []
    exact: list[bool] = []
    for device, (have, want) in enumerate(zip(results, expected, strict=True)):
        drawn = [*nondeterminism.results, *(nondeterminism.outfeed for _ in written[device])]
        random += [len(actual) + number for number, draws in enumerate(drawn) if draws]
        vectors += [len(actual) + number for number, depends in enumerate(free.results) if depends]
        exact += [not i for i in (*inexact.results, *(inexact.outfeed for _ in written[device]))]
        actual += [*have, *written[device].values()]
        right += [*want, *infeed_outfeed.named_arrays(surroundings[device].outfeed).values()]
        where = f"device {device}, " if len(results) > 1 else ""
        places += [
            f"{where}{name}" for name in (*map(str, range(len(have))), *(f"outfeed {name}" for name in written[device]))
        ]
    return comparison.check_results(console, actual, right, places, random, vectors, exact)
