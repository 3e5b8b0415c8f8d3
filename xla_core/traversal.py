"""Walks of graphs, without recursion: programs may be deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reachable(seeds: Iterable[T], following: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """Returns the nodes that `seeds` lead to, and the seeds themselves, in the order in which they are found."""
    found = dict.fromkeys(seeds)
    stack = list(found)
    while stack:
        for node in following(stack.pop()):
            if node not in found:
                found[node] = None
                stack.append(node)
    return found


def post_order(
    seeds: Iterable[T],
    before: Callable[[T], Iterable[T]],
    *,
    known: Container[T] = (),
    on_cycle: Callable[[T], None] | None = None,
) -> list[T]:
    """Returns the same nodes, each after those that `before` gives for it.

    Nodes in `known`, and those that only they lead to, are left out. `on_cycle` is called with a node that leads to
    itself, and may raise; if it returns, the cycle is broken there.
    """
    order: list[T] = []
    state: dict[T, bool] = {}  # False: entered, True: left
    for seed in seeds:
        stack = [seed]
        while stack:
            node = stack[-1]
            left = state.get(node)
            if left is None and node not in known:
                waiting = [other for other in before(node) if not state.get(other)]
                state[node] = not waiting
                if waiting:
                    for other in reversed(waiting):
                        if state.get(other) is None:
                            stack.append(other)
                        elif on_cycle is not None:
                            on_cycle(other)
                    continue
                order.append(node)
            stack.pop()
            if left is False:
                state[node] = True
                order.append(node)
    return order
