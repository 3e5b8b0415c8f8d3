"""Choices of axes: which values of an op's attributes, types and sizes meet in one case.

A covering array (pairwise testing) chooses the rows: each value of each axis is in a row with each value of every other
axis, in far fewer rows than there are combinations. An axis may have groups of values that are alike, such as the sizes
around a power of two: each group meets every other value, and its members take turns in that.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
import operator
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.covering import covering_rows


class Group(tuple[Any, ...]):
    """Values of an axis that are alike."""

    def __new__(cls, *members: Any) -> Group:
        return super().__new__(cls, members)


Axes = Mapping[str, Sequence[Any]]

Wanted = Mapping[str, Sequence[Any]]
"""A wanted combination: for each of a few axes, the values of which some row must have one."""


@dataclasses.dataclass(frozen=True)
class Choice:
    """A value of each axis. The values are attributes: `choice.rank`."""

    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(f"there is no axis {name}") from None

    def __str__(self) -> str:
        return "-".join(f"{axis}.{_text(value)}" for axis, value in self.values.items())


def _text(value: Any) -> str:
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, tuple):
        return "_".join(map(_text, value)) or "none"
    return re.sub(r"[^\w.+-]", "_", str(value))


def choose_pairs(axes: Axes, seed: int, name: str, wanted: Sequence[Wanted] = ()) -> list[Choice]:
    """Returns choices in which all pairs of values of two axes meet, and each combination that is wanted."""
    order = sorted((a for a in axes if len(axes[a]) > 1), key=lambda a: -len(axes[a]))
    if len(order) < 2:
        return choose_each(axes, seed, name)
    turns = _turns(axes, seed, name)
    rows = covering_rows([len(axes[a]) for a in order])
    chosen = [_chosen(axes, turns, dict(zip(order, row, strict=True))) for row in rows]
    return chosen + complete(axes, chosen, wanted, np.random.default_rng([seed, zlib.crc32(name.encode())]))


def choose_each(axes: Axes, seed: int, name: str) -> list[Choice]:
    """Returns choices in which every value of each axis is once or more."""
    turns = _turns(axes, seed, name)
    count = max((len(values) for values in axes.values()), default=1)
    return [_chosen(axes, turns, {a: i % len(axes[a]) for a in axes}) for i in range(count)]


def complete(
    axes: Axes, chosen: Sequence[Choice], wanted: Sequence[Wanted], random: np.random.Generator
) -> list[Choice]:
    """Returns further choices, which have the wanted combinations that no choice has. Each has as many as fit."""
    missing = [w for w, numbers in zip(wanted, _having(chosen, wanted), strict=True) if not numbers]
    added = []
    while missing:
        allowed: dict[str, list[Any]] = {}
        left = []
        for combination in missing:
            both = _both(allowed, combination)
            if both is None:
                left.append(combination)
            else:
                allowed.update(both)
        missing = left
        added.append(draw_choice({axis: allowed.get(axis) or values for axis, values in axes.items()}, random))
    return added


def draw_choice(axes: Axes, random: np.random.Generator, **given: Any) -> Choice:
    """Returns a choice of any value of each axis, but for those that are given."""
    listed = {axis: members(values) for axis, values in axes.items() if axis not in given}
    drawn = {axis: values[random.integers(len(values))] for axis, values in listed.items()}
    return Choice({axis: given[axis] if axis in given else drawn[axis] for axis in axes})


def _having(chosen: Sequence[Choice], wanted: Sequence[Wanted]) -> list[int]:
    """Returns the numbers of the choices that have each of the wanted combinations, as bits."""
    rows: dict[tuple[str, Any], int] = {}
    for number, choice in enumerate(chosen):
        for at in choice.values.items():
            rows[at] = rows.get(at, 0) | 1 << number
    return [_common(rows, combination) for combination in wanted]


def _common(rows: Mapping[tuple[str, Any], int], combination: Wanted) -> int:
    """Returns the numbers of the choices that have a combination, as bits."""
    common = -1
    for axis, values in combination.items():
        common &= functools.reduce(operator.or_, (rows.get((axis, value), 0) for value in values), 0)
    return common


def _both(allowed: Mapping[str, Sequence[Any]], combination: Wanted) -> dict[str, list[Any]] | None:
    """Returns the values of a combination that are allowed; None if an axis has none."""
    both = {}
    for axis, values in combination.items():
        both[axis] = [value for value in allowed.get(axis, values) if value in values]
        if not both[axis]:
            return None
    return both


def has(choice: Choice, combination: Wanted) -> bool:
    """Whether a choice has a wanted combination of values."""
    return all(choice.values.get(axis) in values for axis, values in combination.items())


def members(values: Sequence[Any]) -> list[Any]:
    """Returns the values of an axis without groups."""
    return [member for value in values for member in (value if isinstance(value, Group) else (value,))]


_Turns = Mapping[str, Sequence[Iterator[Any]]]


def _turns(axes: Axes, seed: int, name: str) -> _Turns:
    """Returns, for each value of each axis in an order that depends on the seed, its members in turns."""
    random = np.random.default_rng([seed, zlib.crc32(name.encode())])
    turns = {}
    for axis, values in axes.items():
        groups = [value if isinstance(value, Group) else (value,) for value in values]
        members = [[group[i] for i in random.permutation(len(group))] for group in groups]
        turns[axis] = [itertools.cycle(members[i]) for i in random.permutation(len(groups))]
    return turns


def _chosen(axes: Axes, turns: _Turns, row: Mapping[str, int]) -> Choice:
    return Choice({axis: next(turns[axis][row.get(axis, 0)]) for axis in axes})
