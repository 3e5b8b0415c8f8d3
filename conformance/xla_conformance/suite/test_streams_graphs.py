"""Random graphs of work, events and failures on the streams of all devices, against a model."""

from __future__ import annotations

import numpy as np
import pytest

from xla_conformance.device.graphs import Graph
from xla_core import Client


def require_graph(client: Client, random: np.random.Generator, steps: int, held: bool) -> None:
    executors = [device.executor for device in client.devices[:2]]
    streams = [(executor, executor.create_stream()) for executor in (*executors, *executors)]
    graph = Graph(streams, random, held)
    try:
        graph.grow(steps)
        graph.finish()
        graph.require_errors()
    finally:
        for _, stream in graph.streams:
            stream.synchronize()
            stream.close()
    graph.require_errors()
    graph.free()


@pytest.mark.promise("stream.wait", "stream.wait-for-error", "stream.record", "stream.record-again", "stream.recover")
@pytest.mark.promise("stream.later-work-skipped", "stream.upload", "event.wait-for-last-record", "event.first-error")
@pytest.mark.promise("executor.create-stream", "stream.close")
@pytest.mark.parametrize("held", [True, False], ids=["held", "live"])
@pytest.mark.parametrize("number", range(4))
def test_a_random_graph(client: Client, random: np.random.Generator, number: int, held: bool) -> None:
    require_graph(client, random, 150 if held else 300, held)


@pytest.mark.promise("stream.wait", "stream.record-again", "stream.recover", "event.first-error")
@pytest.mark.profile("full")
@pytest.mark.parametrize("number", range(40))
def test_a_large_random_graph(client: Client, random: np.random.Generator, number: int) -> None:
    require_graph(client, random, 500, held=number % 2 == 0)
