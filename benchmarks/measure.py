"""Times both sides in turns in one process, takes medians, and compares the results."""

from __future__ import annotations

import dataclasses
import gc
import math
import statistics
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.contenders import Contender, Prepared
from benchmarks.suite import Array, Benchmark
from xla_core.errors import XlaError

# Relative to the largest magnitude in a result: for sums of a million terms in another order, and bfloat16's 8 bits.
TOLERANCE = {"float32": 2e-4, "bfloat16": 2e-2}
SETTLE_SECONDS = 5e-4  # lets the other side's worker threads go to sleep


@dataclasses.dataclass
class Measurement:
    """The figures of a program. Seconds are medians over runs, and None for a side that didn't run."""

    name: str
    group: str
    ours_seconds: float | None = None
    jax_seconds: float | None = None
    ours_compile_seconds: float | None = None
    jax_compile_seconds: float | None = None
    repetitions: int = 0
    difference: float | None = None
    correct: bool | None = None
    error: str | None = None

    @property
    def ratio(self) -> float | None:
        """Our speed divided by JAX's, or None if our results are wrong."""
        if self.ours_seconds is None or self.jax_seconds is None or not self.correct:
            return None
        return self.jax_seconds / self.ours_seconds


def measure(benchmark: Benchmark, ours: Contender | None, jax: Contender | None, seconds: float) -> Measurement:
    """Compiles, compares and times a program, for about `seconds` on each side. Records an error on our side."""
    result = Measurement(benchmark.name, benchmark.group)
    sides: list[Prepared] = []
    theirs = mine = None
    try:
        inputs = benchmark.inputs()
        if jax is not None:
            theirs = jax.prepare(benchmark.text, inputs)
    except XlaError as error:  # the program has errors, or JAX has too few devices
        result.error = str(error)
        return result
    if theirs is not None:
        result.jax_compile_seconds = theirs.compile_seconds
        sides.append(theirs)
    if ours is not None:
        try:
            mine = ours.prepare(benchmark.text, inputs)
            outputs = mine.fetch(mine.call())
        except Exception as error:  # the run continues with the next program, and its exit code is 1
            result.error = f"{type(error).__name__}: {error}".splitlines()[0]
            mine = None
        else:
            result.ours_compile_seconds = mine.compile_seconds
            if theirs is not None:
                result.difference, result.correct = largest_difference(outputs, theirs.fetch(theirs.call()))
            sides.append(mine)
    if not sides:
        return result
    times = interleave(sides, seconds)
    result.repetitions = len(times[0])
    for side, samples in zip(sides, times, strict=True):
        median = statistics.median(samples)
        if side is theirs:
            result.jax_seconds = median
        else:
            result.ours_seconds = median
    return result


def interleave(sides: Sequence[Prepared], seconds: float) -> list[list[float]]:
    """Times all sides in turns, each for about `seconds`. Returns the seconds of one call in each turn, for each side.

    Short programs are called several times a turn, so that a sample is at least 2 ms. The order of the sides
    changes from turn to turn.
    """
    calls = []
    for side in sides:
        side.call()
        start = time.perf_counter()
        side.call()
        calls.append(max(1, math.ceil(2e-3 / max(time.perf_counter() - start, 1e-7))))
    samples: list[list[float]] = [[] for _ in sides]
    deadline = time.perf_counter() + seconds * len(sides)
    turn = 0
    while turn < 5 or (time.perf_counter() < deadline and turn < 1000):
        for index in range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides))):
            time.sleep(SETTLE_SECONDS)
            gc.collect(0)  # so that this call doesn't pay for collecting the garbage of the last one
            call = sides[index].call
            start = time.perf_counter()
            for _ in range(calls[index]):
                call()
            samples[index].append((time.perf_counter() - start) / calls[index])
        turn += 1
    return samples


def largest_difference(got: Sequence[Array], want: Sequence[Array]) -> tuple[float, bool]:
    """Returns the largest difference, relative to the largest magnitude of the result, and whether all are allowed.

    Integers, the numbers of results, dtypes and shapes must be equal.
    """
    if [(a.dtype, a.shape) for a in got] != [(a.dtype, a.shape) for a in want]:
        return math.inf, False
    worst, correct = 0.0, True
    for a, b in zip(got, want, strict=True):
        x, y = a.astype(np.float64), b.astype(np.float64)
        if not np.array_equal(np.isfinite(x), np.isfinite(y)):
            return math.inf, False
        scale = float(np.max(np.abs(y), initial=0.0)) or 1.0
        difference = float(np.max(np.abs(x - y), initial=0.0)) / scale
        worst = max(worst, difference)
        correct = correct and difference <= TOLERANCE.get(b.dtype.name, 0.0)
    return worst, correct


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the geometric mean, or NaN if there are no values."""
    return math.exp(statistics.fmean(math.log(value) for value in values)) if values else math.nan
