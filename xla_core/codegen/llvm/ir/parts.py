"""Divides the functions of a module into parts, which are compiled on their own, at the same time."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence

_MOST_PARTS = 16


@dataclasses.dataclass(frozen=True, slots=True)
class IrPart:
    """The text of a module that is compiled on its own.

    Attributes:
        optimized: whether to leave out LLVM's passes on IR, because they would gain nothing.
        shared: whether the text is the same in other programs, so that its machine code is worth keeping.
        plain: whether its functions are all `optnone`, so that the code generator needs no level above 0.
    """

    text: str
    optimized: bool = False
    shared: bool = False
    plain: bool = False


_USUAL, _OPTIMIZED = IrPart(""), IrPart("", optimized=True)
_PLAIN = IrPart("", optimized=True, plain=True)
_SMALLEST_SHARES = {_PLAIN: 0.25, _OPTIMIZED: 0.5}
"""The share of a part's lines from which plain functions, or optimized ones, are worth a part of their own."""


def divided(
    groups: Sequence[tuple[IrPart, list[str]]], sizes: Mapping[str, int], lines: int
) -> Iterator[tuple[IrPart, Collection[str]]]:
    """Yields the parts of a module: how each is compiled, as a part without text, and the names of its functions.

    Args:
        groups: the functions that stay together, and how they are compiled.
        sizes: the lines of each function.
        lines: how many lines a part has, about. Each shared group is a part of its own.
    """
    kinds: dict[IrPart, list[list[str]]] = {}
    for kind, group in groups:
        kinds.setdefault(kind, []).append(group)
    for kind, share in _SMALLEST_SHARES.items():
        others = [k for k in (_OPTIMIZED, _USUAL) if k != kind and k in kinds]
        size = sum(sizes[name] for group in kinds.get(kind, ()) for name in group)
        if others and 0 < size < lines * share:
            kinds[others[0]] += kinds.pop(kind)
    for kind, members in kinds.items():
        for part in members if kind.shared else _distribute(members, sizes, lines):
            yield kind, set(part)


def _distribute(groups: Sequence[list[str]], sizes: Mapping[str, int], lines: int) -> list[list[str]]:
    """Joins groups of functions to parts of about `lines` lines, of which `sizes` tells those of a function."""
    loads = {id(group): sum(sizes[name] for name in group) for group in groups}
    parts: list[list[str]] = [[] for _ in range(min(max(1, sum(loads.values()) // lines), _MOST_PARTS))]
    totals = [0] * len(parts)
    for group in sorted(groups, key=lambda group: -loads[id(group)]):
        lightest = totals.index(min(totals))
        parts[lightest] += group
        totals[lightest] += loads[id(group)]
    return [part for part in parts if part]
