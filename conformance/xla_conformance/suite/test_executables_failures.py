"""Executables whose runs fail: what they say stays, and runs of other threads are their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.device.gates import fail
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure
from xla_conformance.family_program import FamilyProgram
from xla_conformance.other_process import reported
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY
from xla_core import Client, InvalidArgumentError, LoadedExecutable, ResourceExhaustedError, XlaError

SECONDS = 50.0 * FACTOR
BY_NAME = {program.name: program for program in FAMILY}
SAID = {
    "memory": "executable.immutable executable.memory-stats",
    "bytes": "executable.immutable executable.memory-stats",
    "costs": "executable.immutable executable.cost",
    "digest of the text": "executable.immutable executable.as-text",
}
"""By what an executable says of itself: the promises that it breaks if this changes."""
NAMES = ("donated_and_swapped", "temporaries", "loop", "branches", "several_results")


def out_of_memory(bench: ExecutableBench, arrays: list[np.ndarray]) -> None:
    """Lets an allocation of a run fail, last the first one."""
    for number in (2, 1, 0):
        arguments = bench.place(arrays)
        bench.allocator.fail_at = number
        try:
            bench.release(arguments, bench.run(arguments))
        except ResourceExhaustedError:
            bench.release(arguments)
        bench.allocator.fail_at = None


def behind_a_failure(bench: ExecutableBench, arrays: list[np.ndarray]) -> None:
    """Runs behind work that fails, and behind work that has failed, and recovers."""
    for has_failed in (False, True):
        arguments = bench.place(arrays)
        bench.stream.host_callback(fail("the test's failure"))
        if has_failed:
            bench.stream.synchronize()
        results = bench.run(arguments)
        bench.stream.recover()
        bench.stream.synchronize()
        bench.release(arguments, results)


FAILURES: Mapping[str, Callable[[ExecutableBench, list[np.ndarray]], None]] = {
    "out of memory": out_of_memory,
    "behind a failure": behind_a_failure,
}


def said(executable: LoadedExecutable) -> dict[str, object]:
    return {**reported(executable), "memory": executable.memory_stats()}


@pytest.mark.promise(
    "executable.immutable",
    "executable.memory-stats",
    "executable.cost",
    "executable.as-text",
    "executable.results-from-allocator",
)
@pytest.mark.parametrize("name", NAMES)
def test_failures_change_nothing_that_an_executable_says(
    client: Client, name: str, random: np.random.Generator
) -> None:
    program = BY_NAME[name]
    executable = client.deserialize(compiled(client, program).serialize())  # one that has not run yet
    before, arrays = said(executable), program.arguments(random)

    def require_same(when: str) -> None:
        for what, value in said(executable).items():
            if value != before[what]:
                raise Failure(
                    f"An executable is immutable, but {when} its {what} became {value}, which was {before[what]}.",
                    promise=SAID.get(what, "executable.immutable"),
                )

    for how, failure in FAILURES.items():
        with ExecutableBench(executable) as bench, ExecutableBench(executable) as other:
            failure(bench, arrays)
            require_same(f"after a run {how}")
            for each in (other, bench):
                got = each.results_of(arrays)
                program.require_results(f"A run after one {how} gives the results of the program.", got, arrays)
                require_own_memory(each)
        require_same(f"after a run {how} and one that was right")
    with pytest.raises(InvalidArgumentError):
        executable(*arrays, *arrays, np.float32(0))
    require_same("after arguments that were refused")
    results = executable.execute([client.error_buffer(XlaError("its failure"), s) for s in executable.parameter_shapes])
    for result in results:
        with pytest.raises(XlaError, match="its failure"):
            np.asarray(result)
    require_same("after arguments that failed")
    program.require_results("A run after failures gives the results of the program.", executable(*arrays), arrays)


@pytest.mark.promise("executable.many-threads", "executable.immutable", "executable.results-from-allocator")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("hasty")
def test_threads_run_one_executable_with_failures_in_between(
    client: Client, name: str, random: np.random.Generator
) -> None:
    """Two threads alternate between arguments of their own; after each second run, one fails."""
    program = BY_NAME[name]
    executable = compiled(client, program)
    cases = [[(v := program.arguments(random), program.results(v)) for _ in range(2)] for _ in range(2)]

    def run(number: int) -> None:
        require_own_results(executable, program, cases[number], number)

    run_at_once([functools.partial(run, number) for number in range(2)], SECONDS, "executable.many-threads")


def require_own_results(
    executable: LoadedExecutable,
    program: FamilyProgram,
    cases: list[tuple[list[np.ndarray], list[np.ndarray]]],
    number: int,
) -> None:
    failures = list(FAILURES.values())
    with ExecutableBench(executable) as bench:
        for turn in range(12):
            arrays, expected = cases[turn % 2]
            require_bits(
                "Each run has the results of its own arguments, whatever fails on other threads.",
                bench.results_of(arrays),
                expected,
                module=program.text,
                arguments=arrays,
                promise="executable.many-threads",
            )
            if turn % 2:
                failures[(turn // 2 + number) % 2](bench, arrays)
        require_own_memory(bench)


def require_own_memory(bench: ExecutableBench) -> None:
    if bench.allocator.strange:
        raise Failure(
            "An execution allocates from the allocator of its run.", promise="executable.results-from-allocator"
        )
