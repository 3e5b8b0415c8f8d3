"""Executables run by the contract alone: memory, donation, running out, failures, and what must not block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.claims import not_supported
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY, FamilyProgram
from xla_core import CancelledError, Client, FailedPreconditionError, InternalError, ResourceExhaustedError, XlaError
from xla_core.backend import BackendSpec, DeviceFeatures, DeviceMemory
from xla_core.hlo import Opcode

SECONDS = 30.0 * FACTOR  # how long a thread that must not block may take, on a machine that is busy
BY_NAME = {program.name: program for program in FAMILY}


def has_control_flow(program: FamilyProgram) -> bool:
    instructions = (i for c in program.module.computations for i in c.instructions)
    return any(i.opcode in (Opcode.WHILE, Opcode.CONDITIONAL) for i in instructions)


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
        bench.allocator.fail_at = None
        require_bits(
            "A run after one that ran out of memory gives the results of the program.",
            bench.read(results, bench.results),
            program.results(arrays),
            module=program.text,
            arguments=arrays,
            promise="executable.run",
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


def hold(gate: threading.Event) -> None:
    gate.wait(3 * SECONDS)


def run_in_a_thread(bench: ExecutableBench, arguments: list[DeviceMemory]) -> list[DeviceMemory] | None:
    """The results; None if the call doesn't return."""
    made: list[list[DeviceMemory]] = []
    raised: list[BaseException] = []

    def call() -> None:
        try:
            made.append(bench.run(arguments))
        except BaseException as error:  # raised below
            raised.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if raised:
        raise raised[0]
    return made[0] if made else None


@pytest.mark.promise(
    "executable.enqueue-only", "features.asynchronous-control-flow", "stream.in-order", "stream.enqueue-never-blocks"
)
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_a_run_waits_in_the_queue(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    """The stream is blocked. Two runs are enqueued with arguments that are not there yet."""
    loaded = compiled(client, program)
    if has_control_flow(program) and not loaded.devices[0].executor.features.callbacks_may_enqueue:
        not_supported("without callbacks_may_enqueue, a call of a program with control flow may block")
    gate = threading.Event()
    with ExecutableBench(loaded) as bench:
        warm = bench.place(program.arguments(random))
        bench.release(warm, bench.run(warm))
        bench.stream.synchronize()
        bench.stream.host_callback(lambda: hold(gate))
        try:
            both = []
            for _ in range(2):
                arrays = program.arguments(random)
                arguments = bench.place(arrays)
                results = run_in_a_thread(bench, arguments)
                assert results is not None, (
                    "An execution is enqueued and returns at once, whatever the stream waits for."
                )
                both.append((arrays, arguments, results))
        finally:
            gate.set()
        for arrays, arguments, results in both:
            require_bits(
                "A run in a queue takes the arguments' values of its turn.",
                bench.read(results, bench.results),
                program.results(arrays),
                module=program.text,
                arguments=arrays,
                promise="stream.in-order",
            )
            bench.release(arguments, results)


@pytest.mark.promise("executable.failure-poisons", "stream.later-work-skipped", "stream.no-raise-for-earlier-work")
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_a_run_behind_a_failure(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    loaded = compiled(client, program)

    def fail() -> None:
        raise XlaError("the test's failure")

    arrays = program.arguments(random)
    with ExecutableBench(loaded) as bench:
        arguments = bench.place(arrays)
        bench.stream.synchronize()
        bench.stream.host_callback(fail)
        results = bench.run(arguments)
        assert len(results) == len(bench.results), "A run behind a failure still returns memory."
        event = bench.stream.create_event()
        bench.stream.record(event)
        event.synchronize()
        assert "the test's failure" in str(event.error), "A failure poisons the stream, and the first one is kept."
        bench.stream.recover()
        require_bits(
            "A run behind a failure is skipped and writes to no argument.",
            bench.read(arguments, bench.parameters),
            arrays,
            module=program.text,
            promise="stream.later-work-skipped",
        )
        again = bench.run(arguments) if not bench.donated else []
        if again:
            require_bits(
                "A run after a failure and a recover gives the results of the program.",
                bench.read(again, bench.results),
                program.results(arrays),
                module=program.text,
                arguments=arrays,
                promise="stream.recover",
            )
        bench.release([*arguments, *again], results)
        assert not bench.allocator.strange, "An execution frees only memory that it allocated, and once."


@pytest.mark.promise("stream.concurrent", "executable.many-threads", "executable.immutable")
@pytest.mark.parametrize("name", ["elementwise", "temporaries", "loop", "branches", "donated_and_swapped"])
def test_runs_on_two_streams_do_not_wait_for_each_other(client: Client, name: str, random: np.random.Generator) -> None:
    program = BY_NAME[name]
    loaded = compiled(client, program)
    if has_control_flow(program) and not loaded.devices[0].executor.features.callbacks_may_enqueue:
        not_supported("without callbacks_may_enqueue, a call of a program with control flow may block")
    gate = threading.Event()
    with ExecutableBench(loaded) as blocked, ExecutableBench(loaded) as free:
        blocked.stream.host_callback(lambda: hold(gate))
        arrays, others = program.arguments(random), program.arguments(random)
        try:
            first = blocked.place(arrays)
            first_results = run_in_a_thread(blocked, first)
            assert first_results is not None, "An execution is enqueued and returns at once."
            second = free.place(others)
            done = free.stream.create_event()
            second_results = free.run(second)
            free.stream.record(done)
            assert done.synchronize(SECONDS), "A run on one stream doesn't wait for a run on another."
        finally:
            gate.set()
        for bench, values, arguments, results in (
            (free, others, second, second_results),
            (blocked, arrays, first, first_results),
        ):
            require_bits(
                "Runs of one executable on two streams have results of their own.",
                bench.read(results, bench.results),
                program.results(values),
                module=program.text,
                arguments=values,
                promise="executable.many-threads",
            )
            bench.release(arguments, results)


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
                require_bits(
                    "A run after close() is refused, cancelled or right.",
                    bench.read(results, bench.results),
                    program.results(arrays),
                    module=program.text,
                    promise="executable.refused",
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


@pytest.mark.promise("features.callbacks-may-enqueue")
def test_callbacks_use_the_device(client: Client) -> None:
    executor = client.devices[0].executor
    if not executor.features.callbacks_may_enqueue:
        not_supported("it doesn't declare callbacks_may_enqueue")
    outer, inner = executor.create_stream(), executor.create_stream()
    memory = executor.allocate(64)
    assert memory is not None, "The device allocates memory."
    seen = np.zeros(64, np.uint8)

    def work() -> None:
        inner.memset(memory, 7)
        inner.memcpy_d2h(seen, memory)
        inner.synchronize()

    outer.host_callback(work)
    event = outer.create_event()
    outer.record(event)
    assert event.synchronize(SECONDS), "A host callback may enqueue on other streams and wait for them."
    assert event.error is None, f"A host callback may enqueue on other streams: {event.error}"
    assert (seen == 7).all(), "A host callback may enqueue on other streams and wait for them."
    for stream in (outer, inner):
        stream.close()
    executor.deallocate(memory)


@pytest.mark.promise("executor.synchronize")
@pytest.mark.parametrize("name", ["temporaries", "loop"])
def test_synchronizing_a_device(client: Client, name: str, random: np.random.Generator) -> None:
    program = BY_NAME[name]
    executable = compiled(client, program)
    values = program.arguments(random)
    results = [r for _ in range(20) for r in executable(*values)]
    client.devices[0].synchronize()
    assert all(r.is_ready() for r in results), "Synchronizing a device waits for all its work."


@pytest.mark.promise("executor.deallocate-after-close", "executor.close", "platform.close")
def test_memory_outlives_its_device(spec: BackendSpec) -> None:
    platform = spec.platform()
    executor = platform.executor(0)
    memories = [executor.allocate(size) for size in (64, 4096, 1 << 20)]
    platform.close()
    for memory in memories:
        assert memory is not None, "The device allocates memory."
        executor.deallocate(memory)
