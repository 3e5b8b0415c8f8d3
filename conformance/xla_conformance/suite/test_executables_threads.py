"""Executables on several threads and devices, with programs that differ, while others are compiled."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.claims import NotSupported, require_devices
from xla_conformance.device.threads import run_at_once
from xla_conformance.family_program import FamilyProgram
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY, siblings
from xla_core import Client, CompileOptions

SECONDS = 50.0 * FACTOR
ROUNDS = 6


def check(client: Client, program: FamilyProgram, values: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    require_bits(
        "A program gives its own results, whatever other threads run and compile.",
        [np.asarray(r) for r in compiled(client, program)(*values)],
        expected,
        module=program.text,
        arguments=values,
        promise="executable.many-threads",
    )


@pytest.mark.promise("executable.many-threads", "executable.immutable", "compiler.thread-safe", "executor.thread-safe")
@pytest.mark.usefixtures("hasty")
def test_threads_run_programs_that_differ_while_others_compile(client: Client, random: np.random.Generator) -> None:
    brothers = siblings()
    for program in brothers:
        compiled(client, program)  # threads can't end the test with NOT_SUPPORTED
    programs = [*brothers, *(p for p in FAMILY if p.name in _claimed(client))]
    cases = []
    for program in programs:
        values = program.arguments(random)
        cases.append((program, values, program.results(values)))
    orders = [random.permutation(len(cases)) for _ in range(3)]
    runners_left = threading.Semaphore(0)

    def run(order: np.ndarray) -> None:
        try:
            for _, index in itertools.product(range(ROUNDS), order):
                check(client, *cases[index])
        finally:
            runners_left.release()

    def compile_others() -> None:
        for number in itertools.count():
            program, values, expected = cases[number % len(brothers)]
            made = client.compile(program.module)
            got = [np.asarray(r) for r in made(*values)]
            require_bits(
                "A program that is compiled while others run gives its own results.",
                got,
                expected,
                promise="compiler.thread-safe",
            )
            if runners_left.acquire(blocking=False):
                runners_left.release()
                return

    run_at_once(
        [*(functools.partial(run, order) for order in orders), compile_others], SECONDS, "executable.many-threads"
    )


def _claimed(client: Client) -> set[str]:
    """The names of the programs that compile. The quickest are enough beside the siblings."""
    names = set()
    for program in FAMILY:
        if program.name in ("elementwise", "loop", "temporaries", "donated_and_swapped", "constant_results", "calls"):
            try:
                compiled(client, program)
            except NotSupported:
                continue
            names.add(program.name)
    return names


@pytest.mark.promise("compiler.thread-safe")
@pytest.mark.usefixtures("hasty")
def test_threads_compile_programs_that_differ(client: Client, random: np.random.Generator) -> None:
    """All have one name, and the same names inside."""
    programs = siblings(8)
    compiled(client, programs[0])
    values = programs[0].arguments(random)
    expected = [program.results(values) for program in programs]

    def compile_some(first: int) -> None:
        for step in range(4):
            index = (first + 2 * step) % len(programs)
            executable = client.compile(programs[index].module)
            require_bits(
                "Threads that compile at the same time get the programs that they asked for.",
                [np.asarray(r) for r in executable(*values)],
                expected[index],
                module=programs[index].text,
                promise="compiler.thread-safe",
            )
            again = client.deserialize(executable.serialize())
            require_bits(
                "Threads that deserialize at the same time get the programs that they asked for.",
                [np.asarray(r) for r in again(*values)],
                expected[index],
                module=programs[index].text,
                promise="compiler.thread-safe",
            )

    run_at_once([functools.partial(compile_some, i) for i in range(4)], SECONDS, "executable.many-threads")


@pytest.mark.promise("executable.many-threads", "executable.immutable")
@pytest.mark.parametrize("name", ["elementwise", "temporaries", "loop", "branches", "random_bits", "updated_in_place"])
@pytest.mark.usefixtures("hasty")
def test_threads_share_an_executable(client: Client, name: str, random: np.random.Generator) -> None:
    """Each thread has a stream, an allocator and arguments of its own."""
    program = next(p for p in FAMILY if p.name == name)
    executable = compiled(client, program)
    cases = [[(v := program.arguments(random), program.results(v)) for _ in range(4)] for _ in range(4)]

    def run(own: list[tuple[list[np.ndarray], list[np.ndarray]]]) -> None:
        with ExecutableBench(executable) as bench:
            for values, expected in own * 2:
                require_bits(
                    "An executable runs on several threads at once.",
                    bench.results_of(values),
                    expected,
                    module=program.text,
                    arguments=values,
                    promise="executable.many-threads",
                )

    run_at_once([functools.partial(run, own) for own in cases], SECONDS, "executable.many-threads")


@pytest.mark.promise("executable.many-devices", "platform.ordinals", "executable.immutable")
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_on_each_device(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """One executable, on each device by the contract alone, then on all of them at the same time."""
    require_devices(client, 2)
    executable = compiled(client, program)
    for device in client.devices[1:]:
        values = program.arguments(random)
        with ExecutableBench(executable, device) as bench:
            for _ in range(2):
                require_bits(
                    f"An executable runs on every device; on {device} it doesn't.",
                    bench.results_of(values),
                    program.results(values),
                    module=program.text,
                    arguments=values,
                    promise="executable.many-devices",
                )


@pytest.mark.promise("executable.many-devices", "platform.ordinals")
@pytest.mark.parametrize("name", ["large_constants", "temporaries", "donated_and_swapped", "loop"])
def test_an_assignment_chooses_the_device(client: Client, name: str, random: np.random.Generator) -> None:
    require_devices(client, 2)
    program = next(p for p in FAMILY if p.name == name)
    compiled(client, program)
    for index, device in enumerate(client.devices):
        executable = client.compile(program.module, CompileOptions(device_assignment=((index,),)))
        assert executable.devices == (device,), "A program runs on the devices of its assignment."
        values = program.arguments(random)
        results = executable(*values)
        assert all(r.device is device for r in results), "Results are on the device that computed them."
        program.require_results(f"A program gives its results on {device}.", results, values, "executable.many-devices")


@pytest.mark.promise("executable.many-devices")
@pytest.mark.usefixtures("hasty")
def test_devices_run_at_the_same_time(client: Client, random: np.random.Generator) -> None:
    require_devices(client, 2)
    programs = [p for p in FAMILY if p.name in _claimed(client)]
    cases = []
    for program in programs:
        values = program.arguments(random)
        cases.append((program, compiled(client, program), values, program.results(values)))

    def run(index: int) -> None:
        for program, executable, values, expected in cases * 2:
            with ExecutableBench(executable, client.devices[index]) as bench:
                require_bits(
                    "An executable runs on several devices at once.",
                    bench.results_of(values),
                    expected,
                    module=program.text,
                    arguments=values,
                    promise="executable.many-devices",
                )

    run_at_once([functools.partial(run, i % len(client.devices)) for i in range(4)], SECONDS, "executable.many-threads")
