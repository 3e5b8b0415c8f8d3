"""Random schedules of work on several streams, and long chains in which each piece of work needs the one before it."""

from __future__ import annotations

from xla_conformance.device.bench import WRITES, Cell, DeviceBench
from xla_conformance.device.gates import Gate


def shuffle(bench: DeviceBench, steps: int, *, held: float = 0.5, late: float = 0.02) -> None:
    """Enqueues `steps` random pieces of work in segments, and checks the outcome.

    Args:
        held: the share of segments that begin behind gates, so that all of their work is in the queues at once.
        late: the share of pieces before which a callback sleeps for a moment.
    """
    random = bench.random
    while steps > 0:
        segment = min(steps, int(random.integers(4, 60)))
        steps -= segment
        if random.random() < held:
            count = int(random.integers(1, len(bench.streams) + 1))
            bench.hold(Gate(), random.permutation(len(bench.streams))[:count].tolist())
        for _ in range(segment):
            _step(bench, late)
        bench.release()
        if random.random() < 0.3:
            bench.wait_for_host(int(random.integers(len(bench.streams))), event=bool(random.random() < 0.5))
    bench.finish()


def _step(bench: DeviceBench, late: float) -> None:
    random = bench.random
    stream = int(random.integers(len(bench.streams)))
    if random.random() < late:
        bench.jitter(stream, float(random.uniform(0.0001, 0.001)))
    cell = bench.cells[int(random.integers(len(bench.cells)))]
    if random.random() < 0.45:
        bench.look(stream, cell, callback=bool(random.random() < 0.4))
    else:
        _write(bench, stream, cell)


def _write(bench: DeviceBench, stream: int, cell: Cell) -> None:
    way = str(bench.random.choice(WRITES))
    size = None if bench.launcher is None else bench.launcher.size
    sources = [c for c in bench.cells if c is not cell and (cell.size != size or c.size == size)]
    if way in ("launch", "donate") and cell.size != size:
        way = "h2d"
    if way in ("d2d", "launch"):
        if not sources:
            way = "memset"
        else:
            bench.write(way, stream, cell, sources[int(bench.random.integers(len(sources)))])
            return
    bench.write(way, stream, cell)


def chain(bench: DeviceBench, links: int, way: str, *, hop: bool = False, gate: Gate | None = None) -> None:
    """Writes a cell, copies it to another cell and to the host, and again: each link needs the one before.

    Args:
        way: how the cell is written.
        hop: each link is on the next stream; else all are on the first.
        gate: holds all streams until the whole chain is enqueued.
    """
    if gate is not None:
        bench.hold(gate, range(len(bench.streams)))
    for link in range(links):
        stream = link % len(bench.streams) if hop else 0
        first, second, third = (bench.cells[(link + k) % len(bench.cells)] for k in range(3))
        if way == "launch" or (way == "d2d" and link % 4):
            bench.write(way, stream, second, first)
            if way == "launch" and link % 8 == 0:
                bench.write("h2d", stream, third)
        else:
            bench.write("h2d" if way == "d2d" else way, stream, second)
        other = (stream + 1) % len(bench.streams) if hop else 0
        bench.look(other, second)
        if gate is not None:
            gate.require_closed("a link of a long chain")
    bench.finish()
