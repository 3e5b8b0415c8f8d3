"""Executables run by the contract alone: memory, donation, running out of it, closing, and few features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.failures import Failure
from xla_conformance.family_program import FamilyProgram
from xla_conformance.programs.family import FAMILY
from xla_core import CancelledError, Client, FailedPreconditionError, InternalError, ResourceExhaustedError
from xla_core.backend import BackendSpec, DeviceFeatures, DeviceMemory

BY_NAME = {program.name: program for program in FAMILY}


@pytest.mark.promise(
    "executable.run",
    "executable.result-order",
    "executable.results-from-allocator",
    "executable.results-distinct",
    "executable.arguments-kept",
    "executable.donated-reuse",
    "executable.donation",
    "executable.flat-entry",
    "executable.tokens",
    "executable.immutable",
    "kernel.launch",
    "kernel.arguments",
)
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_memory_of_a_run(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """Runs follow each other without waiting, in memory that others have written to."""
    loaded = compiled(client, program)
    with ExecutableBench(loaded) as bench:
        kept = 0
        runs: list[tuple[list[np.ndarray], list[DeviceMemory], list[DeviceMemory]]] = []
        for number in range(3):
            arrays = program.arguments(random)
            arguments = bench.place(arrays)
            own = {id(m) for m in arguments}
            results = bench.run(arguments)
            assert len(results) == len(bench.results), "A run returns the memory of each result, in order."
            ids = [id(m) for m in results]
            assert len(set(ids)) == len(ids), "No memory may be returned twice."
            places = [(m.handle, m.offset) for m in results if m.size]
            assert len(distinct(places)) == len(places), "No memory may be returned twice."
            for memory, shape in zip(results, bench.results, strict=True):
                assert memory.size >= bench.size(shape), "The memory of a result has the size of its shape."
                if id(memory) in own:
                    index = next(i for i, m in enumerate(arguments) if m is memory)
                    assert index in bench.donated, "An argument that isn't donated may not be returned."
                else:
                    assert id(memory) in bench.allocator.live, "Results come from run_options.allocator."
            extra = len(bench.allocator.live) - len({id(m) for m in (*arguments, *results)})
            extra -= sum(len({id(m) for m in (*a, *r)}) for _, a, r in runs)
            kept = extra if number == 0 else kept
            assert extra == kept, "An execution frees the temporary memory that it allocated."
            runs.append((arrays, arguments, results))
        for arrays, arguments, results in runs:
            got = bench.read(results, bench.results)
            assert bench.stream.error is None, f"A run of the program fails: {bench.stream.error}"
            require_bits(
                "A run gives the results of the program.",
                got,
                program.results(arrays),
                module=program.text,
                arguments=arrays,
                promise="executable.run",
            )
            now = bench.read(arguments, bench.parameters)
            for index in set(range(len(arrays))) - bench.donated:
                require_bits(
                    "No argument that isn't donated may be written to.",
                    [now[index]],
                    [arrays[index]],
                    promise="executable.arguments-kept",
                )
            bench.release(arguments, results)
        assert not bench.allocator.strange, "An execution frees only memory that it allocated, and once."
        assert bench.allocator.canaries_live(), "An execution writes only to its own memory."


@pytest.mark.promise("executable.out-of-memory", "executable.out-of-memory-keeps-arguments", "executable.error-frees")
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_every_allocation_may_fail(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    loaded = client.deserialize(compiled(client, program).serialize())  # one that has no memory yet
    arrays = program.arguments(random)
    with ExecutableBench(loaded) as bench:
        arguments = bench.place(arrays)
        for number in range(1000):
            bench.allocator.fail_at = number
            try:
                results = bench.run(arguments)
            except ResourceExhaustedError:
                bench.allocator.fail_at = None
            else:
                break
            require_bits(
                "Where there isn't enough memory nothing is enqueued, and the caller keeps its arguments.",
                bench.read(arguments, bench.parameters),
                arrays,
                module=program.text,
                promise="executable.out-of-memory-keeps-arguments",
            )
            assert bench.stream.error is None, "A run that is refused for lack of memory doesn't poison the stream."
        else:
            raise Failure(
                "A run that was refused for lack of memory may be repeated once there is some, but each is refused.",
                promise="executable.out-of-memory",
                module=program.text,
            )
        bench.allocator.fail_at = None
        bench.require_results(
            "A run after one that ran out of memory gives the results of the program.",
            results,
            program,
            arrays,
            "executable.run",
        )
        bench.release(arguments, results)
        assert not bench.allocator.strange, "On an error, an execution frees only memory that it allocated, and once."
        # What is left is what the executable keeps for later runs. Failures must add nothing to it.
        kept = len(bench.allocator.live)
        for number in range(3 * (len(bench.results) + 2)):
            arguments = bench.place(arrays)
            bench.allocator.fail_at = number // 3
            try:
                bench.release(arguments, bench.run(arguments))
            except ResourceExhaustedError:
                bench.release(arguments)
            bench.allocator.fail_at = None
        assert len(bench.allocator.live) <= kept, "On every error, an execution frees what it allocated."


def distinct(places: Sequence[object]) -> list[object]:
    """Returns each place once. They are compared one by one, because handles may be objects without a hash."""
    found: list[object] = []
    for place in places:
        if place not in found:
            found.append(place)
    return found


@pytest.mark.promise("executable.error-consumes-donated", "executable.error-frees")
@pytest.mark.parametrize("name", ["donated_and_swapped", "donated_for_scratch", "temporaries", "loop"])
def test_another_error_of_an_allocation(client: Client, name: str, random: np.random.Generator) -> None:
    """The allocator raises INTERNAL. The runtime frees the donated arguments then, so the execution must not."""
    program = BY_NAME[name]
    loaded = compiled(client, program)
    arrays = program.arguments(random)
    with ExecutableBench(loaded) as bench:
        bench.results_of(arrays)
        kept = len(bench.allocator.live)
        bench.allocator.failure = InternalError
        for number in range(len(bench.results) + 2):
            arguments = bench.place(arrays)
            bench.allocator.fail_at = number
            results: list[DeviceMemory] = []
            try:
                results = bench.run(arguments)
            except InternalError:
                assert all(id(m) in bench.allocator.live for m in arguments), "The runtime frees donated arguments."
            bench.allocator.fail_at = None
            bench.release(arguments, results)
        assert len(bench.allocator.live) <= kept, "On every error, an execution frees what it allocated."
        assert not bench.allocator.strange, "On an error, an execution frees only memory that it allocated, and once."
        require_bits(
            "A run after errors is right.",
            bench.results_of(arrays),
            program.results(arrays),
            module=program.text,
            promise="executable.run",
        )


@pytest.mark.promise("executable.refused", "executable.refused-keeps-arguments", "executable.close-starts-nothing")
@pytest.mark.parametrize("name", ["donated_and_swapped", "loop", "elementwise"])
def test_a_run_after_the_executable_was_closed(client: Client, name: str, random: np.random.Generator) -> None:
    """It is refused with FAILED_PRECONDITION, or cancelled, or right where the device can't tell."""
    program = BY_NAME[name]
    executable = client.deserialize(compiled(client, program).serialize()).executable
    arrays = program.arguments(random)
    with ExecutableBench(executable, client.devices[0]) as bench:
        bench.results_of(arrays)
        kept = len(bench.allocator.live)
        arguments = bench.place(arrays)
        executable.close()
        results: list[DeviceMemory] = []
        try:
            results = bench.run(arguments)
        except FailedPreconditionError:
            require_bits(
                "A run that is refused writes to no argument.",
                bench.read(arguments, bench.parameters),
                arrays,
                promise="executable.refused-keeps-arguments",
            )
        else:
            event = bench.stream.create_event()
            bench.stream.record(event)
            event.synchronize()
            if event.error is None:
                bench.require_results(
                    "A run after close() is refused, cancelled or right.",
                    results,
                    program,
                    arrays,
                    "executable.refused",
                )
            else:
                assert isinstance(event.error, CancelledError), (
                    f"close() ends runs with CANCELLED, not {event.error!r}."
                )
                bench.stream.recover()
        bench.release(arguments, results)
        assert len(bench.allocator.live) <= kept, "A refused run frees what it allocated."


@pytest.mark.promise("features.works-without")
@pytest.mark.parametrize("name", ["elementwise", "temporaries", "loop", "branches", "donated_and_swapped", "types"])
def test_without_any_feature(open_client: Callable[[], Client], name: str, random: np.random.Generator) -> None:
    """The device's features are taken away, so that the core copies, allocates and drives as for a poorer device."""
    program = BY_NAME[name]
    with open_client() as client:
        for device in client.devices:
            device.executor.features = DeviceFeatures()
        executable = client.compile(program.module)
        for _ in range(2):
            values = program.arguments(random)
            program.require_results(
                "Everything works without the optional features of a device.", executable(*values), values
            )


@pytest.mark.promise("executor.deallocate-after-close", "executor.close", "platform.close")
def test_memory_outlives_its_device(spec: BackendSpec) -> None:
    platform = spec.platform()
    executor = platform.executor(0)
    memories = [executor.allocate(size) for size in (64, 4096, 1 << 20)]
    platform.close()
    for memory in memories:
        assert memory is not None, "The device allocates memory."
        executor.deallocate(memory)
