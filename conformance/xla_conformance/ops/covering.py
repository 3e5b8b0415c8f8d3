"""Covering arrays of pairs: few rows in which each value of each axis meets each value of every other axis."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

_TRIES = 300
"""The most rows that are looked at for one with two numbers that the rows before lack."""


def covering_rows(
    counts: Sequence[int], possible: Callable[[Sequence[int]], bool] = lambda row: True
) -> Iterator[Sequence[int]]:
    """Yields rows of numbers, one for each axis. Each two numbers of two axes are in a row together.

    A row takes, axis by axis, the value that forms the most new pairs with the values of the axes before. The rows
    depend on the counts and on what is possible alone. They are fewer if the counts descend.

    Args:
        counts: how many values each axis has.
        possible: whether there may be such a row. Two numbers that very few possible rows have may be in none.
    """
    starts = [0, *itertools.accumulate(counts)]  # the values of all axes are numbered one after another
    values = [range(*ends) for ends in itertools.pairwise(starts)]
    orders = [list(each) for each in values]
    met = [0] * starts[-1]  # for each value the values that it met, as bits
    uses = [0] * starts[-1]

    tries = 0

    def completed(row: list[int], wanted: Sequence[int] = ()) -> list[int] | None:
        """Returns the first possible row that begins so and has the wanted values, if a few tries find one."""
        nonlocal tries
        axis = len(row)
        if axis == len(counts):
            tries += 1
            return row if possible(numbers(row)) else None
        if wanted and tries >= _TRIES:
            return None
        before = (1 << starts[axis]) - 1
        together = sum(1 << value for value in row)

        def rank(value: int) -> tuple[int, ...]:
            """Among values that form equally many pairs, one is better that met few values of later axes."""
            known = met[value]
            gain, later = (together & ~known).bit_count(), (known & ~before).bit_count()
            return -gain, later, -uses[value], -(known & before).bit_count()

        orders[axis].sort(key=rank)  # values of equal rank stay in the order that they had for the row before
        chosen = [value for value in orders[axis] if value in wanted] or orders[axis]
        return next((found for value in chosen if (found := completed([*row, value], wanted)) is not None), None)

    def numbers(row: Sequence[int]) -> list[int]:
        return [value - start for value, start in zip(row, starts, strict=False)]

    def gain(row: Sequence[int]) -> int:
        together = sum(1 << value for value in row)
        return sum((together & ~met[value]).bit_count() - 1 for value in row) // 2

    def taken(row: Sequence[int]) -> list[int]:
        together = sum(1 << value for value in row)
        for value in row:
            met[value] |= together & ~(1 << value)
            uses[value] += 1
        return numbers(row)

    missing = sum(a * b for a, b in itertools.combinations(counts, 2))
    while missing and (row := completed([])) is not None and (new := gain(row)):
        missing -= new
        yield taken(row)
    pairs = itertools.chain.from_iterable(itertools.product(*two) for two in itertools.combinations(values, 2))
    for one, other in pairs if missing else ():
        tries = 0
        if not met[one] >> other & 1 and (row := completed([], (one, other))) is not None:
            yield taken(row)
