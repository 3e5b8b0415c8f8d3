"""Which rows of a covering array have which element types: in each type, every value of every axis shows.

A covering array with the type as an axis would only promise that the value is in a row of the type. Here each row has
the features that its program shows (`features.shown_features`), so that a value counts only where a fault in it changes
a result.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from xla_core.hlo import ElementType


def select_rows(
    shown: Sequence[frozenset[Hashable]],
    usual: Sequence[ElementType],
    others: Sequence[ElementType],
    random: np.random.Generator,
) -> list[tuple[int, ElementType]]:
    """Returns rows with types: each row, each of the usual types with all that any row shows, each other type.

    Args:
        shown: the features that each row shows.
        usual: the types that each meet everything.
        others: types that take turns in the remaining features.
    """
    order = [int(i) for i in random.permutation(len(shown))]
    uses = [0] * len(shown)
    chosen: list[tuple[int, ElementType]] = []
    for number in random.permutation(len(usual)):
        for row in _cover(shown, order, uses):
            uses[row] += 1
            chosen.append((row, usual[number]))
    left = [row for row in order if not uses[row]]
    turns = itertools.cycle([*(others[i] for i in random.permutation(len(others))), *(() if others else usual)])
    left += [order[i % len(order)] for i in range(len(others) - len(left))] if order else []
    chosen += list(zip(left, turns, strict=False))
    return sorted(chosen, key=lambda pair: pair[0])


def needed_rows(meets: Sequence[frozenset[Hashable]]) -> list[int]:
    """Returns rows that together meet all that all rows meet: without those that others make redundant.

    Those that meet least are left out first.
    """
    counts = Counter(itertools.chain.from_iterable(meets))
    needed = []
    for row in sorted(range(len(meets)), key=lambda row: len(meets[row])):
        if meets[row] and all(counts[one] > 1 for one in meets[row]):  # the row of a domain without axes meets nothing
            counts.subtract(meets[row])
        else:
            needed.append(row)
    return sorted(needed)


def _cover(shown: Sequence[frozenset[Hashable]], order: Sequence[int], uses: Sequence[int]) -> Iterator[int]:
    """Yields rows that together show all features: always the row that adds the most, and among equal rows the least
    used.
    """
    missing = set[Hashable]().union(*shown)
    gains = {row: len(shown[row]) for row in order}
    while missing:
        best, gain = -1, 0
        for row in order:  # a gain only falls, so an old one that is too low needs no new count
            if gains[row] < gain or (gains[row] == gain and best >= 0 and uses[row] >= uses[best]):
                continue
            gains[row] = len(shown[row] & missing)
            if gains[row] > gain or (gains[row] == gain and best >= 0 and uses[row] < uses[best]):
                best, gain = row, gains[row]
        missing -= shown[best]
        yield best
