"""Functions that the host runs for a device: each run has its own operands and results while others are in flight."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.claims import not_supported, require_devices
from xla_conformance.clients import SettingsClient
from xla_conformance.device.gates import Gate
from xla_conformance.other_process import reported
from xla_conformance.refusals import Refuse
from xla_core import Client, CompileOptions, LoadedExecutable, UnimplementedError
from xla_core.hlo import HloInstruction, Opcode, register_custom_call

CALL = "xla_conformance.neighbours"
SIZE = 9
RUNS = 5
MEETING_SECONDS = 2.0  # a device may run its host functions one after the other, and they then don't meet


class Meeting:
    """Makes calls of the custom call wait: all of them for a gate, or each until enough calls have arrived."""

    gate: Gate | None = None
    barrier: threading.Barrier | None = None

    @classmethod
    def enter(cls) -> None:
        if cls.gate is not None:
            cls.gate.wait()
        if cls.barrier is not None:
            with contextlib.suppress(threading.BrokenBarrierError):
                cls.barrier.wait(MEETING_SECONDS)


def neighbours(values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each array, the sum of its number times the array and of the next array, which shows if two are exchanged."""
    return [(i + 2) * x + values[(i + 1) % len(values)] for i, x in enumerate(values)]


@register_custom_call(CALL)
def _call(context: object, instruction: HloInstruction, values: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    Meeting.enter()
    return tuple(neighbours(values))


@pytest.fixture
def gate() -> Iterator[Gate]:
    Meeting.gate = made = Gate(MEETING_SECONDS)
    yield made
    made.open()
    Meeting.gate = None


@pytest.fixture
def barrier() -> Iterator[None]:
    Meeting.barrier = threading.Barrier(2)
    yield
    Meeting.barrier = None


def on_the_host(refuse: Refuse) -> Client:
    """A client whose custom calls run on the host if its compiler offers that, else where they normally run."""
    client = refuse()
    return refuse(Opcode.CUSTOM_CALL) if client.platform.compiler.host_fallback else client


def compiled(client: Client, count: int, calls: int = 1, replicas: int = 1) -> LoadedExecutable:
    """A program of custom calls, each of which takes the results of the one before, all arrays of one shape."""
    shape = f"f32[{SIZE}]"
    lines = [f"  x0_{i} = {shape} parameter({i})" for i in range(count)]
    for call in range(calls):
        operands = ", ".join(f"x{call}_{i}" for i in range(count))
        result = f"({', '.join([shape] * count)})"
        lines.append(
            f'  {"ROOT " * (call == calls - 1)}c{call} = {result} custom-call({operands}), custom_call_target="{CALL}"'
        )
        if call < calls - 1:
            lines += [f"  x{call + 1}_{i} = {shape} get-tuple-element(c{call}), index={i}" for i in range(count)]
    text = f"HloModule m, replica_count={replicas}\n\nENTRY e {{\n" + "\n".join(lines) + "\n}\n"
    assert isinstance(client, SettingsClient)
    try:
        return SettingsClient.compile(client, text, CompileOptions(fallback="host"))
    except UnimplementedError:
        not_supported("the host runs no custom calls for it")


def arguments(count: int, random: np.random.Generator) -> list[np.ndarray]:
    return [random.integers(-100, 100, SIZE).astype(np.float32) for _ in range(count)]


def expected(values: list[np.ndarray], calls: int) -> list[np.ndarray]:
    for _ in range(calls):
        values = neighbours(values)
    return values


@pytest.mark.promise("compiler.host-fallback")
@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_arrays_of_one_shape_are_told_apart(
    refuse: Refuse, count: int, calls: int, random: np.random.Generator
) -> None:
    executable = compiled(on_the_host(refuse), count, calls)
    for _ in range(2):
        values = arguments(count, random)
        got = [np.asarray(r) for r in executable(*values)]
        require_bits(
            "Each operand and each result of what the host runs is where the program has it.",
            got,
            expected(values, calls),
            promise="compiler.host-fallback",
        )


@pytest.mark.promise("compiler.host-fallback", "compiler.deserialize")
def test_the_host_has_its_part_in_what_was_read_again(refuse: Refuse, random: np.random.Generator) -> None:
    client = on_the_host(refuse)
    here = compiled(client, 3, calls=2)
    again = client.deserialize(here.serialize())
    assert reported(again) == reported(here), "A serialized executable keeps its options and what it says of itself."
    placements = [{placed.name: placed.on_host for placed in loaded.placement()} for loaded in (here, again)]
    assert placements[0] == placements[1], "After it was read again, the host runs what it ran before."
    values = arguments(3, random)
    require_bits(
        "A deserialized executable gives the results of the program.",
        [np.asarray(r) for r in again(*values)],
        expected(values, calls=2),
        promise="compiler.deserialize",
    )


@pytest.mark.promise("compiler.host-fallback", "executable.run")
@pytest.mark.parametrize("calls", [1, 2])
def test_runs_on_their_way_have_their_own_operands(
    refuse: Refuse, gate: Gate, calls: int, random: np.random.Generator
) -> None:
    """The host's function of the first run waits until all runs are enqueued."""
    client = on_the_host(refuse)
    executable = compiled(client, 3, calls)
    runs = [arguments(3, random) for _ in range(RUNS)]
    results = [executable.execute([client.buffer_from_host(v) for v in values]) for values in runs]
    gate.open()
    for values, made in zip(runs, results, strict=True):
        require_bits(
            "Runs that are on their way together have operands of their own.",
            [np.asarray(r) for r in made],
            expected(values, calls),
            promise="executable.run",
        )


@pytest.mark.promise("compiler.host-fallback", "executable.many-devices")
def test_devices_at_one_time_have_their_own_operands(
    refuse: Refuse, barrier: None, random: np.random.Generator
) -> None:
    """The host's functions of both devices wait for each other."""
    client = on_the_host(refuse)
    require_devices(client, 2)
    executable = compiled(client, 3, replicas=2)
    for _ in range(2):
        rows = [arguments(3, random) for _ in range(2)]
        for values, made in zip(rows, executable.execute_sharded(rows), strict=True):
            got = [np.asarray(r) for r in made]
            require_bits(
                "What the host runs for two devices has each one's operands.",
                got,
                neighbours(values),
                promise="compiler.host-fallback",
            )
