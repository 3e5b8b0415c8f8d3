"""Walks of graphs, without recursion: programs may be deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reachable(seeds: Iterable[T], following: Callable[[T], Iterable[T]]) -> dict[T, None]:
    """The nodes that `seeds` lead to, and the seeds themselves, in the order in which they are found."""
    found = dict.fromkeys(seeds)
    stack = list(found)
    while stack:
        for node in following(stack.pop()):
            if node not in found:
                found[node] = None
                stack.append(node)
    return found


def post_order(seeds: Iterable[T], before: Callable[[T], Iterable[T]]) -> list[T]:
    """The same nodes, each after those that `before` gives for it. A cycle is broken where the walk closes it."""
    order: list[T] = []
    done: dict[T, bool] = {}  # False while the nodes before it are visited
    for seed in seeds:
        stack = [seed]
        while stack:
            node = stack[-1]
            if node not in done:
                done[node] = False
                stack.extend(n for n in reversed(list(before(node))) if n not in done)
                continue
            stack.pop()
            if not done[node]:
                done[node] = True
                order.append(node)
    return order
