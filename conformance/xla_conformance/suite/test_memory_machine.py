"""State machines: any order of allocations, copies, executions, donations and frees, on several streams."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from xla_conformance.device.bench import WRITES, Cell, DeviceBench
from xla_conformance.device.gates import PATIENCE, Gate
from xla_conformance.device.launches import Launcher
from xla_conformance.device.memories import capacity, drain, fill
from xla_conformance.device.state_machines import run_machine
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure
from xla_core import Client
from xla_core.backend import StreamExecutor

pytestmark = pytest.mark.alone
"""These tests fill the device, so no other process may use its memory meanwhile."""

_STREAMS = 3
_CELLS = 12
_STREAM = st.integers(0, _STREAMS - 1)
_NUMBER = st.integers(0, 1 << 20)
_SIZES = st.one_of(st.integers(1, 300), st.sampled_from([1023, 1024, 1025, 4096, 65535, 65537, 262_145, 1 << 20]))


class Machine(RuleBasedStateMachine):
    """Cells of device memory whose contents are known. The cells are checked at every wait of the host."""

    executor: StreamExecutor
    launcher: Launcher | None
    start = 0

    def __init__(self) -> None:
        super().__init__()
        random = np.random.default_rng(self.start)
        self.bench = DeviceBench(self.executor, random, _STREAMS, [], self.launcher)

    @initialize(size=_SIZES)
    def begin(self, size: int) -> None:
        self.bench.add(size)
        self.bench.add(self.launcher.size if self.launcher else size)

    def cell(self, number: int) -> Cell:
        return self.bench.cells[number % len(self.bench.cells)]

    @rule(size=_SIZES, launched=st.booleans())
    def allocate(self, size: int, launched: bool) -> None:
        if len(self.bench.cells) < _CELLS:
            self.bench.add(self.launcher.size if self.launcher and launched else size)

    @precondition(lambda self: len(self.bench.cells) > 2 and not self.bench.is_held)
    @rule(number=_NUMBER)
    def free(self, number: int) -> None:
        self.bench.wait_for_host()
        self.bench.remove(self.cell(number))

    @rule(number=_NUMBER, source=_NUMBER, stream=_STREAM, way=st.sampled_from(WRITES))
    def write(self, number: int, source: int, stream: int, way: str) -> None:
        cell, other = self.cell(number), self.cell(source)
        size = self.launcher.size if self.launcher else 0
        fits = cell.size != size or other.size == size
        if (way in ("launch", "donate") and cell.size != size) or (
            way in ("launch", "d2d") and (cell is other or not fits)
        ):
            way = "h2d"
        self.bench.write(way, stream, cell, other)

    @rule(number=_NUMBER, stream=_STREAM, callback=st.booleans())
    def read(self, number: int, stream: int, callback: bool) -> None:
        self.bench.look(stream, self.cell(number), callback=callback)

    @rule(streams=st.sets(_STREAM, min_size=1))
    @precondition(lambda self: not self.bench.is_held)
    def hold(self, streams: set[int]) -> None:
        self.bench.hold(Gate(1.25 * PATIENCE), sorted(streams))  # it stays closed over many steps

    @rule()
    def release(self) -> None:
        self.bench.release()

    @precondition(lambda self: not self.bench.is_held)
    @rule(event=st.booleans())
    def wait(self, event: bool) -> None:
        for cell in self.bench.cells:
            self.bench.look(0, cell)
        self.bench.wait_for_host(event=event)

    @precondition(lambda self: not self.bench.is_held and self.executor.description.memory_bytes > 0)
    @rule()
    def run_out(self) -> None:
        """Fills the device, while work goes on in what is allocated."""
        blocks = fill(self.executor)
        drain(self.executor, blocks)

    def teardown(self) -> None:
        try:
            self.bench.finish()
        finally:
            self.bench.close()


def _machine(executor: StreamExecutor, launcher: Launcher | None, start: int, **fields: Any) -> type[Machine]:
    return type("Steps", (Machine,), {"executor": executor, "launcher": launcher, "start": start, **fields})


def _walk(machine: Machine, random: np.random.Generator, steps: int) -> None:
    """Takes random steps. Hypothesis can't be used in several threads at once."""
    try:
        machine.begin(int(random.integers(1, 70_000)))
        for _ in range(steps):
            number, source, stream = (int(n) for n in random.integers(0, 1 << 20, 3))
            step = random.choice(["allocate", "free", "write", "write", "read", "read", "wait"])
            if step == "allocate":
                machine.allocate(1 + number % 70_000, bool(source % 2))
            elif step == "free" and len(machine.bench.cells) > 2:
                machine.free(number)
            elif step == "read":
                machine.read(number, stream % _STREAMS, bool(source % 2))
            elif step == "wait":
                machine.wait(bool(source % 2))
            else:
                machine.write(number, source, stream % _STREAMS, str(random.choice(WRITES)))
    finally:
        machine.teardown()


PROMISES = pytest.mark.promise(
    "executor.allocate", "executor.deallocate", "stream.in-order", "stream.d2d", "executable.donated-reuse"
)


@PROMISES
def test_any_order_of_uses(client: Client, executor: StreamExecutor, launcher: Launcher | None, seed: int) -> None:
    client.devices[0].allocator.trim()
    known = executor.description.memory_bytes > 0
    before = capacity(executor) if known else 0
    run_machine(_machine(executor, launcher, seed), seed, 15, 50)
    lost = before - capacity(executor) if known else 0
    if lost > 1 << 16:
        raise Failure(
            f"Memory that is freed can be allocated again, but {lost} bytes of the device are lost.",
            promise="executor.deallocate",
        )


@PROMISES
@pytest.mark.profile("full")
@pytest.mark.parametrize("number", range(10))
def test_any_long_order_of_uses(executor: StreamExecutor, launcher: Launcher | None, seed: int, number: int) -> None:
    run_machine(_machine(executor, launcher, seed + number), seed + number, 40, 200)


@pytest.mark.promise("executor.thread-safe", "executor.allocate", "executor.deallocate")
def test_any_order_of_uses_in_several_threads(executor: StreamExecutor, launcher: Launcher | None, seed: int) -> None:
    def run(number: int) -> None:
        for start in range(number, number + 600, 100):
            _walk(_machine(executor, launcher, start)(), np.random.default_rng(start), 50)

    run_at_once([functools.partial(run, 1000 * seed + i) for i in range(4)], 2 * PATIENCE)
