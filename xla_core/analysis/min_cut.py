"""The cheapest division of a graph into two sides, by Dinic's maximum flow."""

from __future__ import annotations

from collections import deque

INFINITE = 1 << 60
"""A capacity that is never cut, where another cut exists."""


class MinCut:
    """A graph of nodes 0, 1, 2, ... with capacities. Node 0 is the source, node 1 the sink."""

    SOURCE, SINK = 0, 1

    def __init__(self) -> None:
        self._edges: list[list[int]] = [[], []]  # node -> its edges
        self._to: list[int] = []
        self._left: list[int] = []  # the capacity that is left; edge e ^ 1 is the reverse of edge e

    def node(self) -> int:
        self._edges.append([])
        return len(self._edges) - 1

    def edge(self, start: int, end: int, capacity: int) -> None:
        """Adds an edge, which costs `capacity` if `start` is on the source's side and `end` on the sink's."""
        for a, b, size in ((start, end, capacity), (end, start, 0)):
            self._edges[a].append(len(self._to))
            self._to.append(b)
            self._left.append(size)

    def solve(self) -> tuple[int, set[int]]:
        """The cost of the cheapest cut, and the fewest nodes that may be on the sink's side of one."""
        total = 0
        while True:
            levels = self._levels()
            if levels[self.SINK] < 0:
                return total, self._sinks_side()
            places = [0] * len(self._edges)
            while pushed := self._push(levels, places):
                total += pushed

    def _levels(self) -> list[int]:
        """The distance of each node from the source along edges with capacity left; -1 without a path."""
        levels = [-1] * len(self._edges)
        levels[self.SOURCE] = 0
        queue = deque([self.SOURCE])
        while queue:
            node = queue.popleft()
            for e in self._edges[node]:
                if self._left[e] and levels[self._to[e]] < 0:
                    levels[self._to[e]] = levels[node] + 1
                    queue.append(self._to[e])
        return levels

    def _push(self, levels: list[int], places: list[int]) -> int:
        """Pushes flow along one shortest path; `places` has the next edge to try of each node. Returns the flow."""
        path: list[int] = []
        node = self.SOURCE
        while node != self.SINK:
            edges = self._edges[node]
            while places[node] < len(edges):
                e = edges[places[node]]
                if self._left[e] and levels[self._to[e]] == levels[node] + 1:
                    break
                places[node] += 1
            if places[node] < len(edges):
                path.append(edges[places[node]])
                node = self._to[path[-1]]
            elif path:
                node = self._to[path.pop() ^ 1]
                places[node] += 1
            else:
                return 0
        flow = min(self._left[e] for e in path)
        for e in path:
            self._left[e] -= flow
            self._left[e ^ 1] += flow
        return flow

    def _sinks_side(self) -> set[int]:
        """The nodes that reach the sink along edges with capacity left."""
        found, stack = {self.SINK}, [self.SINK]
        while stack:
            for e in self._edges[stack.pop()]:
                if self._left[e ^ 1] and self._to[e] not in found:
                    found.add(self._to[e])
                    stack.append(self._to[e])
        return found
