"""What hundreds of runs and compilations leave behind: device memory, host memory, threads, files, objects."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from xla_conformance.bench import Bench, compiled
from xla_conformance.claims import require_devices
from xla_conformance.programs.family import FAMILY, SHARDED, FamilyProgram
from xla_core import Buffer, Client, InvalidArgumentError, XlaError
from xla_core.backend import Communicator, DeviceMemory, Event, Executable, Stream, StreamExecutor
from xla_core.hlo import HloModule

RUNS = 100
KINDS = (Buffer, Communicator, DeviceMemory, Event, Executable, HloModule, Stream)
LARGE = FamilyProgram(
    "large_results",
    "HloModule m\n\nENTRY e {\n  x = f32[65536] parameter(0)\n  y = f32[65536] multiply(x, x)\n"
    "  z = f32[65536] negate(x)\n  ROOT r = (f32[65536], f32[65536]) tuple(y, z)\n}\n",
)
BY_NAME = {program.name: program for program in (*FAMILY, *SHARDED, LARGE)}


def threads() -> int:
    tasks = Path("/proc/self/task")
    return len(os.listdir(tasks)) if tasks.exists() else threading.active_count()


def files() -> int:
    descriptors = Path("/proc/self/fd")
    return len(os.listdir(descriptors)) if descriptors.exists() else 0


def resident() -> int:
    """The bytes of this process that are in memory."""
    statistics = Path("/proc/self/statm")
    return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statistics.exists() else 0


def objects() -> Counter[str]:
    """How many objects of the contract's and the runtime's classes are alive."""
    gc.collect()
    return Counter(kind.__name__ for o in gc.get_objects() for kind in KINDS if isinstance(o, kind))


class Meter:
    """What the process and the devices hold, at one moment."""

    def __init__(self, client: Client) -> None:
        client.synchronize()
        self.in_use = [device.memory_stats().bytes_in_use for device in client.devices]  # frees what is done, too
        self.reserved = [device.memory_stats().bytes_reserved for device in client.devices]
        self.objects = objects()
        self.threads, self.files, self.resident = threads(), files(), resident()


def require_no_leak(client: Client, work: Callable[[], None], what: str, bytes_each: int, runs: int = RUNS) -> None:
    """Does the work many times, and compares. What leaks grows each time; pools and caches grow to a size and stay."""
    for _ in range(runs // 5):
        work()
    wrong: list[str] = []
    for _ in range(4):
        before = Meter(client)
        for _ in range(runs):
            work()
        for _ in range(10):
            wrong = list(_differences(before, Meter(client), bytes_each, runs))
            if not wrong:
                return
            time.sleep(0.1)  # a callback of another thread may still hold something
    raise AssertionError(f"{runs} times {what} leave nothing behind; there are {' and '.join(wrong)} more.")


def _differences(before: Meter, after: Meter, bytes_each: int, runs: int) -> Iterator[str]:
    most = runs // 4
    for name, count in (after.objects - before.objects).items():
        if count > most:
            yield f"{count} objects of {name}"
    for index, (old, new) in enumerate(zip(before.in_use, after.in_use, strict=True)):
        if new - old > most * 256:
            yield f"{new - old} bytes in use on device {index}"
    for index, (old, new) in enumerate(zip(before.reserved, after.reserved, strict=True)):
        if new - old > (1 << 20) + most * 256:
            yield f"{new - old} bytes reserved on device {index}"
    if after.threads - before.threads > 8:
        yield f"{after.threads - before.threads} threads"
    if after.files - before.files > 8:
        yield f"{after.files - before.files} open files"
    grown = after.resident - before.resident
    if bytes_each and grown > runs * bytes_each // 2:
        yield f"{grown} bytes of the process"


@pytest.mark.promise("executable.error-frees", "event.dropped", "event.destroy", "executable.results-from-allocator")
@pytest.mark.parametrize(
    "name",
    ["large_results", "temporaries", "loop", "donated_and_swapped", "empty_arrays", "branches", "constant_results"],
)
def test_runs_leave_nothing(client: Client, name: str, random: np.random.Generator) -> None:
    program = BY_NAME[name]
    executable = compiled(client, program)
    values = program.arguments(random)

    def work() -> None:
        for result in executable(*values):
            np.asarray(result)

    require_no_leak(client, work, f"running {name}", 1 << 19 if program is LARGE else 0)


@pytest.mark.promise("executable.error-frees", "communicator.end-releases")
@pytest.mark.parametrize("program", SHARDED, ids=str)
def test_sharded_runs_leave_nothing(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    require_devices(client, program.devices)
    executable = compiled(client, program)
    rows = program.rows(random)

    def work() -> None:
        for row in executable.execute_sharded(rows):
            for result in row:
                np.asarray(result)

    require_no_leak(client, work, f"running {program.name}", 0)


@pytest.mark.promise("executable.error-frees")
@pytest.mark.parametrize("name", ["donated_and_swapped", "temporaries", "loop"])
def test_failures_leave_nothing(client: Client, name: str, random: np.random.Generator) -> None:
    """Wrong calls, arguments that failed, and deleted buffers, in turn."""
    program = BY_NAME[name]
    executable = compiled(client, program)
    values = program.arguments(random)
    failure = XlaError("the test's failure")

    def work() -> None:
        with pytest.raises(InvalidArgumentError):
            executable(*values[1:])
        poisoned = client.error_buffer(failure, executable.parameter_shapes[0])
        for result in executable(poisoned, *values[1:]):
            with pytest.raises(XlaError):
                result.block_until_ready()
        gone = client.buffer_from_host(values[0])
        gone.delete()
        with pytest.raises(XlaError):
            executable(gone, *values[1:])

    require_no_leak(client, work, f"failing runs of {name}", 0)


@pytest.mark.promise("executor.deallocate", "executable.results-from-allocator")
@pytest.mark.parametrize("name", ["temporaries", "loop", "branches", "large_constants", "donated_and_swapped"])
def test_what_the_device_allocates_it_frees(
    client: Client, name: str, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts allocations below the core's pool, where an executable may allocate by itself."""
    program = BY_NAME[name]
    executor: StreamExecutor = client.devices[0].executor
    executable = client.deserialize(compiled(client, program).serialize())
    allocate, deallocate = executor.allocate, executor.deallocate
    counts: Counter[str] = Counter()

    def counted_allocate(size: int, memory_space: int = 0) -> DeviceMemory | None:
        counts["allocated"] += 1
        return allocate(size, memory_space)

    def counted_deallocate(memory: DeviceMemory) -> None:
        counts["freed"] += 1
        deallocate(memory)

    monkeypatch.setattr(executor, "allocate", counted_allocate)
    monkeypatch.setattr(executor, "deallocate", counted_deallocate)
    left = []
    for _ in range(5):
        with Bench(executable) as bench:
            for _ in range(4):
                bench.results_of(program.arguments(random))
        left.append(counts["allocated"] - counts["freed"])
    assert left[1:] == [left[1]] * 4, "An executable allocates memory from run_options.allocator only, and frees it."


@pytest.mark.promise("compiler.run-backend", "executable.close-starts-nothing")
def test_compilations_leave_nothing(client: Client, random: np.random.Generator) -> None:
    program = BY_NAME["elementwise"]
    values = program.arguments(random)
    compiled(client, program)

    def work() -> None:
        executable = client.compile(program.module)
        np.asarray(executable(*values)[0])
        executable.delete()

    require_no_leak(client, work, "compiling, running and deleting a program", 0, RUNS // 3)
