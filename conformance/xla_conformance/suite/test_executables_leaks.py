"""Leaks: hundreds of runs and compilations keep no device memory, host memory, threads, files or objects."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.claims import require_devices
from xla_conformance.device.leaks import RUNS, require_nothing_left
from xla_conformance.family_program import FamilyProgram
from xla_conformance.programs.family import FAMILY, SHARDED
from xla_core import Client, InvalidArgumentError, XlaError
from xla_core.backend import DeviceMemory, StreamExecutor

pytestmark = pytest.mark.usefixtures("short_collections")

LARGE = FamilyProgram(
    "large_results",
    "HloModule m\n\nENTRY e {\n  x = f32[65536] parameter(0)\n  y = f32[65536] multiply(x, x)\n"
    "  z = f32[65536] negate(x)\n  ROOT r = (f32[65536], f32[65536]) tuple(y, z)\n}\n",
)
BY_NAME = {program.name: program for program in (*FAMILY, *SHARDED, LARGE)}


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

    require_nothing_left(client, work, f"running {name}", bytes_each=1 << 18 if program is LARGE else 0)


@pytest.mark.promise("stream.h2d-keeps-source", "stream.d2h", "stream.upload", "executor.deallocate")
@pytest.mark.parametrize("immutable", [False, True], ids=["snapshot", "immutable"])
def test_transfers_leave_nothing(client: Client, immutable: bool, random: np.random.Generator) -> None:
    def work() -> None:
        for size in (3, 5000):
            buffer = client.buffer_from_host(random.integers(0, 9, size, np.int32), immutable=immutable)
            if len(client.devices) > 1:
                buffer = buffer.copy_to_device(client.devices[1])
            np.asarray(buffer)

    require_nothing_left(client, work, "transferring two arrays")


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

    require_nothing_left(client, work, f"running {program.name}")


@pytest.mark.promise("executable.error-frees")
@pytest.mark.parametrize("name", ["donated_and_swapped", "temporaries", "loop"])
def test_failures_leave_nothing(client: Client, name: str, random: np.random.Generator) -> None:
    """Repeats wrong calls, runs with arguments that failed, and uses of deleted buffers."""
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

    require_nothing_left(client, work, f"failing runs of {name}")


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
        with ExecutableBench(executable) as bench:
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

    # LLVM leaves some KiB of each compilation.
    require_nothing_left(client, work, "compiling, running and deleting a program", runs=RUNS // 3, native_each=1 << 16)
