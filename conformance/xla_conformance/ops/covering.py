"""Covering arrays of pairs: few rows in which each value of each axis meets each value of every other axis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence


def covering_rows(
    counts: Sequence[int], possible: Callable[[Sequence[int]], bool] = lambda row: True
) -> Iterator[Sequence[int]]:
    """Yields rows of numbers, one for each axis. Each two numbers of two axes are in a row together.

    A row takes, axis by axis, the value that forms the most new pairs with the values of the axes before. The rows
    depend on the counts and on what is possible alone. They are fewer if the counts descend.

    Args:
        counts: how many values each axis has.
        possible: whether there may be such a row. The rows end before one that would have no new pair, so two numbers
            that few possible rows have may be in none.
    """
    starts = [0, *itertools.accumulate(counts)]  # the values of all axes are numbered one after another
    orders = [list(range(*ends)) for ends in itertools.pairwise(starts)]
    met = [0] * starts[-1]  # for each value the values that it met, as bits
    uses = [0] * starts[-1]

    def completed(row: list[int]) -> list[int] | None:
        axis = len(row)
        if axis == len(counts):
            return row if possible(numbers(row)) else None
        before = (1 << starts[axis]) - 1
        together = sum(1 << value for value in row)

        def rank(value: int) -> tuple[int, ...]:
            """Among values that form equally many pairs, one is better that met few values of later axes."""
            known = met[value]
            gain, later = (together & ~known).bit_count(), (known & ~before).bit_count()
            return -gain, later, -uses[value], -(known & before).bit_count()

        orders[axis].sort(key=rank)  # values of equal rank stay in the order that they had for the row before
        return next((found for value in orders[axis] if (found := completed([*row, value])) is not None), None)

    def numbers(row: Sequence[int]) -> list[int]:
        return [value - start for value, start in zip(row, starts, strict=False)]

    missing = sum(a * b for a, b in itertools.combinations(counts, 2))
    while missing and (row := completed([])) is not None:
        together = sum(1 << value for value in row)
        gain = sum((together & ~met[value]).bit_count() - 1 for value in row) // 2
        if not gain:
            return
        missing -= gain
        for value in row:
            met[value] |= together & ~(1 << value)
            uses[value] += 1
        yield numbers(row)
