"""Finds what hundreds of runs leave behind: device memory, host memory, threads, processes, files, objects."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xla_conformance.device.processes import (
    child_processes,
    native_bytes,
    open_files,
    resident_bytes,
    temporary_files,
    thread_count,
)
from xla_core import Buffer, Client
from xla_core.backend import Communicator, DeviceMemory, Event, Executable, Stream
from xla_core.hlo import HloModule

RUNS = 200
_ROUNDS = 8
_KINDS = (Buffer, Communicator, Event, Executable, HloModule, Stream)
_CALM = 2  # after so many rounds without growth, nothing leaks
_LOOKS = (0.0, 0.05, 0.2, 0.5)  # seconds before each look at the end of a round; the first calm look is the last one


class _Held(NamedTuple):
    """An amount of something, and by how much it must grow in a round to be a leak rather than noise."""

    amount: int
    noise: int


class _Meter:
    """Reads which resources the process and the devices hold.

    Args:
        client: the client whose devices are read.
        runs: runs in a round.
        native_each: bytes of the C library that a run may leave.
        bytes_each: half of what a run's results and temporaries have, if that is more than the system's noise; else 0.
    """

    def __init__(self, client: Client, runs: int, native_each: int = 0, bytes_each: int = 0) -> None:
        self._client, self._runs = client, runs
        self._native_each, self._bytes_each = native_each, bytes_each
        self._frozen, self._unfrozen = 0, -1

    def read(self) -> dict[str, _Held]:
        """The resources that are held now, by name."""
        self._client.synchronize()
        gc.collect()
        types = Counter(map(type, gc.get_objects()))  # without the frozen ones, whose number alone is known
        few = self._runs // 20  # the pool grows by a block whenever more work than ever before is in flight
        held = {
            "open files": _Held(open_files(), 1),
            "temporary files": _Held(temporary_files(), 1),
            "threads": _Held(thread_count(), 1),
            "child processes": _Held(child_processes(), 1),
            "Python objects": _Held(self._objects(sum(types.values())), self._runs // 2),
            "bytes of the C library": _Held(native_bytes(), self._runs * self._native_each),
            **{f"objects of {k.__name__}": _Held(_count(types, k), 1) for k in _KINDS},
            "objects of DeviceMemory": _Held(_count(types, DeviceMemory), few),
        }
        for index, device in enumerate(self._client.devices):
            stats = device.memory_stats()  # frees finished work, too
            held[f"bytes in use on device {index}"] = _Held(stats.bytes_in_use, 1)
            held[f"bytes reserved on device {index}"] = _Held(stats.bytes_reserved, few * 256)
        if self._bytes_each:
            held["bytes of the process"] = _Held(resident_bytes(), self._runs * self._bytes_each)
        return held

    def _objects(self, unfrozen: int) -> int:
        """The number of all objects. A million frozen ones are counted again only when there are more of the others.

        The number of frozen objects only falls, so without a new count the sum is never too small.
        """
        if unfrozen > self._unfrozen:
            self._frozen, self._unfrozen = gc.get_freeze_count(), unfrozen
        return unfrozen + self._frozen


def _count(types: Counter[type], kind: type) -> int:
    return sum(count for found, count in types.items() if issubclass(found, kind))


class _Rounds:
    """The growth in each round, and the verdict after several rounds.

    A round is compared with the last one after which there were as many threads: each thread has memory of its own, and
    one that ends frees more than a small leak takes in a round. For a round without a comparable one, only the threads
    count.

    Attributes:
        growth: by how much something grew in the last round that could be compared.
    """

    def __init__(self, start: dict[str, _Held]) -> None:
        self._last = {start["threads"].amount: (0, start)}
        self._threads = start["threads"].amount
        self._count = 0
        self.growth: dict[str, int] = {}
        self._calm: Counter[str] = Counter()  # the rounds in which something did not grow
        self._rises: Counter[str] = Counter()  # and those in which it did

    def compares(self, now: dict[str, _Held]) -> bool:
        """Whether there were as many threads after an earlier round."""
        return now["threads"].amount in self._last

    def grown(self, now: dict[str, _Held]) -> dict[str, int]:
        """Returns the amounts that have grown by more than noise, and their growth in a round."""
        number, before = self._last.get(now["threads"].amount, (self._count, now))
        rounds = self._count + 1 - number
        growth = {name: (held.amount - before[name].amount) // rounds for name, held in now.items()}
        growth["threads"] = now["threads"].amount - self._threads
        return {name: by for name, by in growth.items() if by >= now[name].noise}

    def end(self, now: dict[str, _Held]) -> None:
        """Ends the round that is under way."""
        grown = self.grown(now)
        comparable = {*now} if self.compares(now) else {"threads"}
        self.growth.update({name: grown.get(name, 0) for name in comparable})
        self._rises.update(comparable & grown.keys())
        self._calm.update(comparable - grown.keys())
        self._count += 1
        self._threads = now["threads"].amount
        self._last[self._threads] = (self._count, now)

    def is_calm(self, name: str) -> bool:
        return self._calm[name] >= _CALM

    def rises(self, name: str) -> bool:
        return self._rises[name] > _CALM and not self.is_calm(name)


def _idle_growth(client: Client, runs: int) -> dict[str, int]:
    """The growth in a round without the device: the median of three."""
    growths = []
    meter = _Meter(client, runs, bytes_each=1)
    before = meter.read()
    for _ in range(3):
        for number in range(runs):
            for size in (3, 5000, 1 << 16):
                np.full(size, number, np.float32).astype(np.float64).tobytes()
        after = meter.read()
        growths.append({name: after[name].amount - held.amount for name, held in before.items()})
        before = after
    return {name: sorted(growth[name] for growth in growths)[1] for name in before}


def require_nothing_left(
    client: Client,
    work: Callable[[], None],
    what: str,
    *,
    runs: int = RUNS,
    native_each: int = 16,
    bytes_each: int = 0,
) -> None:
    """Does the work many times, in rounds. Pools and caches grow up to a size; leaks grow in each round.

    Raises:
        AssertionError: something grew in all rounds, or in all but one.
    """
    for _ in range(runs // 3):
        work()
    meter = _Meter(client, runs, native_each, bytes_each)
    rounds = _Rounds(meter.read())
    for _ in range(_ROUNDS):
        for _ in range(runs):
            work()
        for seconds in _LOOKS:
            time.sleep(seconds)  # a thread that ends may still be there, or hold something
            now = meter.read()
            if rounds.compares(now) and not rounds.grown(now):
                break
        rounds.end(now)
        if all(map(rounds.is_calm, now)):
            return
    drift = _idle_growth(client, runs)
    grown = rounds.growth.items()
    leaks = {name: by for name, by in grown if rounds.rises(name) and by - drift[name] >= now[name].noise}
    if not leaks:
        return
    more = " and ".join(f"{count} {name}" for name, count in leaks.items())
    raise AssertionError(f"{runs} times {what} leave nothing behind, but each time there are more: {more}.")
