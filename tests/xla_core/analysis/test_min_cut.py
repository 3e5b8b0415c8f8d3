"""The cheapest cut, compared with that of all divisions of small graphs."""

from __future__ import annotations

import itertools
import random

import pytest

from xla_core.analysis.min_cut import INFINITE, MinCut


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_cheapest_division(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 7)
    graph = MinCut()
    nodes = [graph.SOURCE, graph.SINK, *(graph.node() for _ in range(count))]
    edges = []
    for _ in range(rng.randint(0, 20)):
        start, end = rng.sample(nodes, 2)
        edges.append((start, end, rng.choice([0, 1, 3, 7, INFINITE if start > 1 < end else 50])))
        graph.edge(*edges[-1])

    def cost(sinks: set[int]) -> int:
        return sum(size for start, end, size in edges if start not in sinks and end in sinks)

    divisions = [{graph.SINK, *chosen} for k in range(count + 1) for chosen in itertools.combinations(nodes[2:], k)]
    best = min(map(cost, divisions))
    total, sinks = graph.solve()
    assert total == best
    assert cost(sinks) == best
    assert all(sinks <= other for other in divisions if cost(other) == best), (
        "as few as possible are on the sink's side"
    )
