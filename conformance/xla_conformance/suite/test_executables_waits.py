"""Executables run by the contract alone: what must not block, what waits for what, and what a failure skips."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.claims import not_supported
from xla_conformance.family_program import FamilyProgram
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY
from xla_core import Client, XlaError
from xla_core.backend import DeviceMemory
from xla_core.hlo import Opcode

SECONDS = 30.0 * FACTOR  # how long a thread that must not block may take, on a machine that is busy
BY_NAME = {program.name: program for program in FAMILY}


def has_control_flow(program: FamilyProgram) -> bool:
    instructions = (i for c in program.module.computations for i in c.instructions)
    return any(i.opcode in (Opcode.WHILE, Opcode.CONDITIONAL) for i in instructions)


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
            bench.require_results(
                "A run in a queue takes the arguments' values of its turn.", results, program, arrays, "stream.in-order"
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
            bench.require_results(
                "A run after a failure and a recover gives the results of the program.",
                again,
                program,
                arrays,
                "stream.recover",
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
            bench.require_results(
                "Runs of one executable on two streams have results of their own.",
                results,
                program,
                values,
                "executable.many-threads",
            )
            bench.release(arguments, results)


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
