"""Every pair of kinds of work that touch the same bytes: on one stream, and on two that an event or the host orders."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from xla_conformance.claims import not_supported
from xla_conformance.device.bench import WRITES, DeviceBench
from xla_conformance.device.gates import Gate
from xla_conformance.device.launches import Launcher
from xla_core import Client

READS = ("d2h", "d2h and callback", "d2d from", "launch from")
KINDS = (*WRITES, *READS)
_LAUNCHES = ("launch", "launch from", "donate")
_CELL, _SOURCE, _RESULT = range(3)


@pytest.fixture
def bench(
    client: Client,
    launcher: Launcher | None,
    large_launcher: Launcher | None,
    random: np.random.Generator,
    size: int | str,
) -> Iterator[DeviceBench]:
    """Two streams, and cells of `size` bytes on the last device, or of a launcher's size on the first."""
    executor = client.devices[-1 if isinstance(size, int) else 0].executor
    chosen = {"small": launcher, "large": large_launcher}.get(str(size))
    number = size if isinstance(size, int) else chosen.size if chosen else 4096
    made = DeviceBench(executor, random, 2, [number] * 3, chosen)
    yield made
    made.close()


def _do(bench: DeviceBench, kind: str, stream: int) -> None:
    """Enqueues work of a kind on the first cell."""
    cell, source, result = bench.cells
    if kind in ("d2h", "d2h and callback"):
        bench.look(stream, cell, callback=kind != "d2h")
    elif kind.endswith(" from"):
        bench.write(kind.removesuffix(" from"), stream, result, cell)
    elif kind in ("d2d", "launch"):
        bench.write(kind, stream, cell, source)
    else:
        bench.write(kind, stream, cell)


@pytest.mark.promise(
    "stream.in-order", "stream.wait", "stream.record", "event.ready-after-work", "stream.host-callback"
)
@pytest.mark.parametrize(
    ("first", "size"),
    [
        *(pytest.param(kind, "small", id=f"{kind}-small") for kind in KINDS),
        *(pytest.param(kind, (2 << 20) + 1, id=f"{kind}-large") for kind in KINDS if kind not in _LAUNCHES),
        *(pytest.param(kind, "large", id=f"{kind}-large") for kind in _LAUNCHES),
    ],
)
def test_work_comes_after_work(bench: DeviceBench, first: str) -> None:
    """Each kind after `first`, on the same bytes. The first stream is held until both are enqueued."""
    kinds = KINDS if bench.launcher is not None else [k for k in KINDS if k not in _LAUNCHES]
    if first not in kinds:
        not_supported("it adds neither s32 nor f32")
    for second in kinds:
        for stream, order in ((0, "event"), (1, "event"), (1, "host")):
            gate = Gate()
            if order == "event":
                bench.hold(gate, [0])
            bench.write("h2d", 0, bench.cells[_SOURCE])
            _do(bench, first, 0)
            if order == "host":
                bench.wait_for_host(0, event=True)
            _do(bench, second, stream)
            bench.look(stream, bench.cells[_CELL])
            bench.look(stream, bench.cells[_RESULT])
            if stream:
                time.sleep(0.0003)  # the second stream does the work that doesn't depend on the first
            bench.release()
    bench.finish()
