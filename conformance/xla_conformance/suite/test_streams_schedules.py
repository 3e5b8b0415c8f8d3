"""Order under load: random schedules on several streams, and long chains whose every link is checked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from xla_conformance.claims import not_supported
from xla_conformance.device.bench import WRITES, DeviceBench
from xla_conformance.device.gates import PATIENCE, Gate
from xla_conformance.device.launches import Launcher
from xla_conformance.device.schedules import chain, shuffle
from xla_conformance.device.threads import run_at_once
from xla_core import Client

MakeBench = Callable[..., DeviceBench]


@pytest.fixture
def make_bench(client: Client, launcher: Launcher | None) -> Iterator[MakeBench]:
    """Makes benches on the first two devices in turn."""
    made: list[DeviceBench] = []

    def make(random: np.random.Generator, streams: int, sizes: list[int], number: int = 0) -> DeviceBench:
        device = client.devices[number % min(len(client.devices), 2)]
        made.append(DeviceBench(device.executor, random, streams, sizes, launcher))
        return made[-1]

    yield make
    for bench in made:
        bench.close()


def _sizes(random: np.random.Generator, launcher: Launcher | None, count: int, largest: int) -> list[int]:
    """Sizes of all magnitudes, and some of the launcher's."""
    sizes = np.exp(random.uniform(0, np.log(largest), count)).astype(int) + 1
    return [*sizes.tolist(), *([launcher.size] * 3 if launcher else [])]


@pytest.mark.promise("stream.in-order", "stream.wait", "stream.concurrent", "stream.synchronize", "event.ready")
@pytest.mark.parametrize("number", range(8))
def test_a_random_schedule(
    make_bench: MakeBench, launcher: Launcher | None, random: np.random.Generator, number: int
) -> None:
    bench = make_bench(random, 1 + number % 4, _sizes(random, launcher, 5, 1 << 13), number)
    shuffle(bench, 600, held=0.5 if number < 6 else 0.0)


@pytest.mark.promise("stream.in-order", "stream.wait", "stream.concurrent")
@pytest.mark.parametrize("number", range(2))
def test_a_random_schedule_with_large_copies(
    make_bench: MakeBench, launcher: Launcher | None, random: np.random.Generator, number: int
) -> None:
    bench = make_bench(random, 3, _sizes(random, launcher, 6, 4 << 20), number)
    shuffle(bench, 120)


@pytest.mark.promise("stream.in-order", "stream.wait")
@pytest.mark.profile("full")
@pytest.mark.parametrize("number", range(60))
def test_a_long_random_schedule(
    make_bench: MakeBench, launcher: Launcher | None, random: np.random.Generator, number: int
) -> None:
    bench = make_bench(random, 1 + number % 6, _sizes(random, launcher, 8, 1 << (13 + number % 8)), number)
    shuffle(bench, 2000, held=(number % 3) / 2, late=0.05)


@pytest.mark.promise("stream.in-order", "stream.wait", "executor.thread-safe")
def test_random_schedules_in_several_threads(
    make_bench: MakeBench, launcher: Launcher | None, random: np.random.Generator
) -> None:
    """Two threads on each device. What one device does shows on no other."""
    benches = [make_bench(r, 2, _sizes(r, launcher, 4, 1 << 12), i) for i, r in enumerate(random.spawn(4))]
    run_at_once([functools.partial(shuffle, bench, 200) for bench in benches], 3 * PATIENCE)


@pytest.mark.promise("stream.in-order", "stream.wait", "stream.h2d", "stream.d2h", "stream.d2d", "stream.memset")
@pytest.mark.parametrize("held", [False, True], ids=["idle", "held"])
@pytest.mark.parametrize("hop", [False, True], ids=["one", "hopping"])
@pytest.mark.parametrize("way", WRITES)
def test_every_link_of_a_long_chain(
    make_bench: MakeBench, launcher: Launcher | None, random: np.random.Generator, way: str, hop: bool, held: bool
) -> None:
    """A copy that is late one time in a hundred breaks a link."""
    if way in ("launch", "donate") and launcher is None:
        not_supported("it adds neither s32 nor f32")
    size = launcher.size if launcher else 256
    bench = make_bench(random, 3 if hop else 1, [size] * 5)
    chain(bench, 500, way, hop=hop, gate=Gate() if held else None)


@pytest.mark.promise("stream.in-order", "stream.wait")
@pytest.mark.profile("stress")
@pytest.mark.parametrize("hop", [False, True], ids=["one", "hopping"])
@pytest.mark.parametrize("way", WRITES)
def test_every_link_of_a_chain_of_thousands(
    make_bench: MakeBench, launcher: Launcher | None, random: np.random.Generator, way: str, hop: bool
) -> None:
    if way in ("launch", "donate") and launcher is None:
        not_supported("it adds neither s32 nor f32")
    bench = make_bench(random, 4 if hop else 1, [launcher.size if launcher else 256] * 7)
    chain(bench, 20_000, way, hop=hop)
