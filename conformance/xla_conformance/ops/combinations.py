"""Combinations of values that no choice has yet, and choices that have many of them.

In a covering array of strength 2, each two values of two axes are in a row together; in one of strength 3, each three
values of three axes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Axes, Choice, Group, Wanted


class Missing:
    """The combinations of `strength` numbers, each of another axis, that no row has.

    Attributes:
        total: how many combinations there are.
    """

    def __init__(self, counts: Sequence[int], strength: int, random: np.random.Generator) -> None:
        """Begins without rows. `random` decides between numbers that are equally good."""
        self._strength, self._random = strength, random
        self._starts = [0, *itertools.accumulate(counts)]  # the numbers of all axes are counted one after another
        self._axes = np.repeat(np.arange(len(counts)), counts)
        self._missing = np.ones((len(self._axes),) * strength, bool)
        for pair in itertools.combinations(range(strength), 2):
            one, other = (np.expand_dims(self._axes, [d for d in range(strength) if d != at]) for at in pair)
            self._missing &= one != other
        self.total = self.count

    @property
    def count(self) -> int:
        """How many combinations are missing."""
        return int(np.count_nonzero(self._missing)) // math.factorial(self._strength)

    def take(self, row: Sequence[int]) -> None:
        """Takes the combinations of a row. No number of an axis is -1."""
        values = np.array(
            [start + number for start, number in zip(self._starts, row, strict=False) if number >= 0], int
        )
        self._missing[tuple(values.reshape(-1, *(1,) * after) for after in range(self._strength)[::-1])] = False

    def best(self, allowed: Mapping[int, Collection[int]]) -> list[int]:
        """Returns a row that has many missing combinations.

        It begins with numbers of which the most combinations are missing, and takes then, axis by axis, the number that
        forms the most with those before.

        Args:
            allowed: the numbers that some axes may have; the other axes may have any.
        """
        free = np.ones(len(self._axes), bool)
        for axis, numbers in allowed.items():
            free[self._starts[axis] : self._starts[axis + 1]] = [
                n in numbers for n in range(self._starts[axis + 1] - self._starts[axis])
            ]
        chosen = [self._starts[axis] + n for axis, numbers in allowed.items() for n in numbers if len(numbers) == 1]
        while len(chosen) < min(self._strength, len(self._starts) - 1):
            left = np.count_nonzero(self._missing[tuple(chosen)].reshape(len(self._axes), -1), 1)
            chosen.append(self._largest(left, free & ~np.isin(self._axes, self._axes[chosen])))
        left_axes = set(range(len(self._starts) - 1)) - set(self._axes[chosen].tolist())
        for axis in sorted(left_axes):
            values = slice(self._starts[axis], self._starts[axis + 1])
            formed = self._missing[values]
            for dimension in range(1, self._strength):
                formed = formed.take(chosen, dimension)
            counts = np.count_nonzero(formed.reshape(len(formed), -1), 1)
            chosen.append(self._starts[axis] + self._largest(counts, free[values]))
        return [value - start for value, start in zip(sorted(chosen), self._starts, strict=False)]

    def _largest(self, counts: np.ndarray, free: np.ndarray) -> int:
        return int(np.where(free, counts + self._random.random(len(counts)), -1).argmax())


class Combinations:
    """The combinations of values, or of groups of values, that choices of axes have.

    Axes with one value are in no combination.
    """

    def __init__(self, axes: Axes, strength: int, random: np.random.Generator) -> None:
        groups = {a: [v if isinstance(v, Group) else (v,) for v in values] for a, values in axes.items()}
        order = sorted(axes, key=lambda axis: -len(axes[axis]))
        self._varied = [axis for axis in order if len(axes[axis]) > 1]
        self._numbers = {a: {m: n for n, group in enumerate(groups[a]) for m in group} for a in axes}
        self._turns = {
            axis: [itertools.cycle([group[i] for i in random.permutation(len(group))]) for group in groups[axis]]
            for axis in axes
        }
        self._missing = Missing([len(axes[a]) for a in self._varied], strength, random)

    @property
    def total(self) -> int:
        """How many combinations there are."""
        return self._missing.total

    @property
    def count(self) -> int:
        """How many of them the choices have that were taken."""
        return self._missing.total - self._missing.count

    @property
    def counts(self) -> dict[str, int]:
        """How many values each axis has, groups of values counted as one."""
        return {axis: len(turns) for axis, turns in self._turns.items()}

    def numbers(self, wanted: Wanted) -> dict[str, list[int]]:
        """Returns the numbers of the values, or of their groups, of a wanted combination."""
        return {axis: sorted({self._numbers[axis][value] for value in values}) for axis, values in wanted.items()}

    def values(self, choice: Choice) -> set[tuple[str, int]]:
        """Returns the choice's values that are on the axes: (axis, number of the value or of its group)."""
        places = ((axis, numbers.get(choice.values[axis], -1)) for axis, numbers in self._numbers.items())
        return {(axis, number) for axis, number in places if number >= 0}

    def take(self, choice: Choice) -> None:
        self._missing.take([self._numbers[axis].get(choice.values[axis], -1) for axis in self._varied])

    def complete(self) -> Iterator[Choice]:
        """Takes and yields choices until all combinations have been taken."""
        while self._missing.count:
            choice = self.best({})
            self.take(choice)
            yield choice

    def best(self, allowed: Mapping[str, Collection[int]], **given: Any) -> Choice:
        """Returns a choice by which there are many new combinations.

        Args:
            allowed: the numbers of the values that some axes may have.
            given: values of some axes.
        """
        known = {**allowed, **{axis: [self._numbers[axis][value]] for axis, value in given.items()}}
        row = self._missing.best({n: known[axis] for n, axis in enumerate(self._varied) if axis in known})
        numbers = dict(zip(self._varied, row, strict=True))
        return Choice(
            {a: given[a] if a in given else next(turns[numbers.get(a, 0)]) for a, turns in self._turns.items()}
        )
