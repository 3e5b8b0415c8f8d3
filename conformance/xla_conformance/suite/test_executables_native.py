"""The native entry of an executable: the same results by one call of a C function, from any thread."""

from __future__ import annotations

import ctypes
import functools
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from xla_conformance.bench import ExecutableBench, compiled
from xla_conformance.bits import require_bits
from xla_conformance.claims import not_supported
from xla_conformance.device.threads import run_at_once
from xla_conformance.failures import Failure
from xla_conformance.family_program import FamilyProgram
from xla_conformance.patience import FACTOR
from xla_conformance.programs.family import FAMILY
from xla_core import Client
from xla_core.backend import DeviceMemory, NativeEntry

SECONDS = 50.0 * FACTOR
ROUNDS, LEAST_ROUNDS, ENOUGH_SECONDS = 15, 4, 0.05  # long runs have fewer rounds
SINES = """HloModule sines

ENTRY main {
  x = f32[COUNT] parameter(0)
  a = f32[COUNT] sine(x)
  b = f32[COUNT] tan(a)
  ROOT c = f32[COUNT] sine(b)
}
"""
PRODUCTS = """HloModule products

ENTRY main {
  x = f32[320,320] parameter(0)
  a = f32[320,320] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[320,320] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT c = (f32[320,320], f32[320,320]) tuple(x, b)
}
"""
_AT_ONCE = ("branches", "loop", "random_bits", "temporaries", "many_parameters_and_results")
THREADED = (*(p for p in FAMILY if p.name in _AT_ONCE), FamilyProgram("products", PRODUCTS))
"""Programs for threads, most of which have temporary memory. A run of the last one takes milliseconds, so that runs of
several threads meet on one processor, too."""
_OWN_MEMORY = "A native entry writes to its results and temporaries only, which have the sizes that it gives."


def address(bench: ExecutableBench, memory: DeviceMemory) -> int:
    found = bench.executor.address(memory)
    assert found is not None, "A program with a native entry runs on a device whose memory the host can address."
    return found


def call(
    bench: ExecutableBench,
    entry: NativeEntry,
    arguments: Sequence[DeviceMemory],
    results: Sequence[DeviceMemory],
    temporaries: Sequence[DeviceMemory],
    function: Callable[..., Any] = ctypes.CFUNCTYPE,
) -> int:
    """Calls the entry, and returns its status."""
    table = table_of(bench, entry, [*arguments, *results, *temporaries])
    status: int = function(ctypes.c_int32, ctypes.c_void_p)(entry.address)(ctypes.addressof(table))
    return status


def table_of(bench: ExecutableBench, entry: NativeEntry, memories: Sequence[DeviceMemory]) -> ctypes.Array[Any]:
    """The table of a call with these arguments, results and temporaries."""
    table = (ctypes.c_size_t * len(entry.table))(*entry.table)
    numbers = [*entry.parameters, *entry.results, *(number for number, _ in entry.temporaries)]
    for number, memory in zip(numbers, memories, strict=True):
        table[number] = address(bench, memory)
    return table


class Time(ctypes.Structure):
    """C's `struct timespec`."""

    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def require_no_python(entry: NativeEntry, table: ctypes.Array[Any]) -> None:
    """Calls the entry in a thread that isn't Python's, while this thread holds the GIL and waits for that thread."""
    system, thread = ctypes.PyDLL(None), ctypes.c_ulong()
    if not hasattr(system, "pthread_timedjoin_np"):  # Linux has it
        return
    code, data = ctypes.c_void_p(entry.address), ctypes.c_void_p(ctypes.addressof(table))
    assert system.pthread_create(ctypes.byref(thread), None, code, data) == 0, "The system starts a thread."
    end = Time(int(time.time() + SECONDS / 4), 0)
    if system.pthread_timedjoin_np(thread, None, ctypes.byref(end)) != 0:
        ctypes.CDLL(None).pthread_join(thread, None)  # without the lock it can end
        raise Failure(
            "A native entry neither needs Python nor waits for anything that does, but this one waited for the GIL.",
            promise="native-entry.without-python",
        )


def wipe(bench: ExecutableBench, memories: Sequence[DeviceMemory]) -> None:
    for memory in memories:
        ctypes.memset(address(bench, memory), 0xA5, memory.size)


def bytes_of(bench: ExecutableBench, memories: Sequence[DeviceMemory]) -> list[bytes]:
    return [ctypes.string_at(address(bench, memory), memory.size) for memory in memories]


def entry_of(bench: ExecutableBench) -> NativeEntry:
    entry = bench.executable.native_entry()
    if entry is None:
        not_supported("the executable has no native entry")
    return entry


@pytest.mark.promise(
    "executable.native-entry",
    "native-entry.writes-results",
    "native-entry.reads-arguments",
    "native-entry.fixed-entries",
    "native-entry.parameters",
    "native-entry.results",
    "native-entry.temporaries",
    "native-entry.without-python",
    "native-entry.microseconds",
)
@pytest.mark.parametrize("program", FAMILY, ids=str)
def test_a_native_entry_runs_the_program(client: Client, program: FamilyProgram, random: np.random.Generator) -> None:
    with ExecutableBench(compiled(client, program)) as bench:
        entry = entry_of(bench)
        assert not bench.donated, "A program with donated parameters has no native entry."
        numbers = [*entry.parameters, *entry.results, *(number for number, _ in entry.temporaries)]
        assert all(entry.table[number] == 0 for number in numbers), "What the caller sets is 0 in `table`."
        assert entry.microseconds >= 0, f"`microseconds` estimates the time of a call, but it is {entry.microseconds}."
        temporaries = [bench.allocator.allocate(size) for _, size in entry.temporaries]
        for function in (ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE, ctypes.PYFUNCTYPE):  # without and with Python's lock
            arrays = program.arguments(random)
            arguments = bench.place(arrays)
            bench.stream.synchronize()
            results = [bench.allocator.allocate(bench.size(shape)) for shape in bench.results]
            status = call(bench, entry, arguments, results, temporaries, function)
            assert status == 0 or program.has_long_loop, (
                "The function returns 0 after a run. It may fail only because a loop of the program takes long."
            )
            if status == 0:
                require_bits(
                    "A native entry gives the results of the program.",
                    bench.read(results, bench.results),
                    program.results(arrays),
                    module=program.text,
                    arguments=arrays,
                    promise="native-entry.writes-results",
                )
            require_bits(
                "A native entry only reads its arguments.",
                bench.read(arguments, bench.parameters),
                arrays,
                promise="native-entry.reads-arguments",
            )
            if function is ctypes.CFUNCTYPE:
                require_no_python(entry, table_of(bench, entry, [*arguments, *results, *temporaries]))
            bench.release(arguments, results)
        assert bench.allocator.canaries_live(), _OWN_MEMORY
        bench.release(temporaries)


def measured_microseconds(bench: ExecutableBench, entry: NativeEntry, arrays: Sequence[np.ndarray]) -> float:
    """The time of the quickest of several calls."""
    arguments = bench.place(arrays)
    bench.stream.synchronize()
    results = [bench.allocator.allocate(bench.size(shape)) for shape in bench.results]
    temporaries = [bench.allocator.allocate(size) for _, size in entry.temporaries]
    table = table_of(bench, entry, [*arguments, *results, *temporaries])
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(entry.address)
    seconds = []
    for _ in range(8):
        start = time.perf_counter()
        assert function(ctypes.addressof(table)) == 0, "The function returns 0 after a run."
        seconds.append(time.perf_counter() - start)
    bench.release(arguments, results)
    bench.release(temporaries)
    return 1e6 * min(seconds)


@pytest.mark.promise("native-entry.microseconds")
def test_a_native_entry_says_how_long_a_call_takes(client: Client, random: np.random.Generator) -> None:
    """A call of milliseconds and one of nanoseconds. A caller that may not wait decides by the estimate."""
    for count in (1 << 18, 16):
        program = FamilyProgram("sines", SINES.replace("COUNT", str(count)))
        with ExecutableBench(compiled(client, program)) as bench:
            entry = entry_of(bench)
            measured = measured_microseconds(bench, entry, program.arguments(random))
        if entry.microseconds == math.inf:
            continue  # nothing is known
        if not measured / 50 - 20 * FACTOR < entry.microseconds < 1000 * measured + 1000:
            raise Failure(
                f"`microseconds` estimates the time of a call, but it is {entry.microseconds:.3g} for a call of "
                f"{measured:.3g}.",
                module=program.text,
                promise="native-entry.microseconds",
            )


@pytest.mark.promise("native-entry.many-threads", "native-entry.lifetime", "native-entry.close")
@pytest.mark.parametrize("program", THREADED, ids=str)
def test_threads_call_a_native_entry_at_once(
    client: Client, program: FamilyProgram, random: np.random.Generator
) -> None:
    with ExecutableBench(client.compile(program.module)) as bench:  # its own, because it is closed
        entry = entry_of(bench)
        client.compile(program.module).executable.native_entry()  # one that is made later and gone sooner
        cases = []
        for _ in range(4):
            arrays = program.arguments(random)
            results = [bench.allocator.allocate(bench.size(shape)) for shape in bench.results]
            temporaries = [bench.allocator.allocate(size) for _, size in entry.temporaries]
            cases.append((bench.place(arrays), results, temporaries, program.results(arrays)))
        bench.stream.synchronize()
        wanted = []
        for arguments, results, temporaries, _ in cases:
            wipe(bench, results)
            assert call(bench, entry, arguments, results, temporaries) == 0, "The function returns 0 after a run."
            wanted.append(bytes_of(bench, results))

        def run(number: int) -> None:
            arguments, results, temporaries, _ = cases[number]
            end = time.monotonic() + ENOUGH_SECONDS
            for done in range(ROUNDS):
                if done >= LEAST_ROUNDS and time.monotonic() > end:
                    return
                wipe(bench, results)
                assert call(bench, entry, arguments, results, temporaries) == 0, "The function returns 0 after a run."
                if bytes_of(bench, results) != wanted[number]:
                    raise Failure(
                        "A native entry gives each of several threads its own results.",
                        promise="native-entry.many-threads",
                    )

        run_at_once([functools.partial(run, number) for number in range(4)], SECONDS, "native-entry.many-threads")
        for _, results, _, expected in cases:
            got = bench.read(results, bench.results)
            require_bits(
                "A native entry gives its own results, whatever other threads run.",
                got,
                expected,
                promise="native-entry.many-threads",
            )
        assert bench.allocator.canaries_live(), _OWN_MEMORY
        bench.executable.close()
        caller = threading.Thread(target=call, args=(bench, entry, *cases[0][:3]), daemon=True)
        caller.start()
        caller.join(SECONDS / 5)
        if caller.is_alive():
            raise Failure(
                "After `Executable.close` a native entry returns at once or fails, but a call of it hangs.",
                promise="native-entry.close",
            )
        for arguments, results, temporaries, _ in cases:
            bench.release(arguments, results)
            bench.release(temporaries)
