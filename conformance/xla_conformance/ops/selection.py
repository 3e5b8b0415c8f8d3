"""The choices of the quick profile: in each usual type every value of every axis shows, and they have many triples.

A covering array with the type as an axis would only promise that a value is in a row of the type. Here each choice has
the features that its program shows (`features.shown_features`), so that a value counts only where a fault in it changes
a result.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Axes, Choice, Wanted
from xla_conformance.ops.combinations import Combinations
from xla_conformance.ops.features import Feature
from xla_core.hlo import ElementType

Features = frozenset[Feature]

_TRIES = 2
"""After so many choices of a type that should show a value or a feature and don't, others come first."""
_DRAWS = 100
"""The most choices that are drawn for a feature of a type."""


class Selection:
    """The choices so far. Each is there once."""

    def __init__(
        self,
        axes: Axes,
        wanted: Sequence[Wanted],
        elsewhere: Collection[tuple[str, int]],
        shown: Callable[[Choice], Features],
        random: np.random.Generator,
    ) -> None:
        """
        Args:
            axes: element types by classes, as axis "type", and what else the choices differ in.
            wanted: combinations of values that a choice must have.
            elsewhere: values (axis, number) that a type needs no choice for, as others show them.
            shown: the features that a choice's program shows; none if its results are empty.
            random: decides between values that are equally good.
        """
        self._choices: dict[tuple[Hashable, ...], Choice] = {}
        self._values = {axis: values for axis, values in axes.items() if axis != "type"}
        self._elsewhere, self._shown = elsewhere, shown
        self._triples = Combinations(axes, 3, random)
        self._pairs = Combinations(self._values, 2, random)
        self._wanted = _Unmet(self._pairs, wanted)
        self._features: dict[tuple[Hashable, ...], tuple[Choice, Features]] = {}
        self._of_types: dict[ElementType, set[Feature]] = {}

    @property
    def choices(self) -> list[Choice]:
        return list(self._choices.values())

    @property
    def shown(self) -> Features:
        """The features that the choices show whose programs were looked at."""
        return frozenset[Feature]().union(*self._of_types.values())

    def add(self, choice: Choice) -> None:
        self._choices[_key(choice)] = choice
        self._triples.take(choice)
        self._pairs.take(choice)
        self._wanted.take(choice)

    def add_values(self, element_type: ElementType) -> None:
        """Adds a few choices of a type in which each value of each axis shows."""
        counts = self._pairs.counts.items()
        left = {(a, n): _TRIES for a, count in counts for n in range(count) if (a, n) not in self._elsewhere}
        while left or element_type not in self._of_types:
            allowed: dict[str, list[int]] = {}
            for axis, number in sorted(left):
                allowed.setdefault(axis, []).append(number)
            choice = self._triples.best(self._wanted.within(allowed), type=element_type)
            is_shown = _is_shown(self._add_shown(choice, self._shown(choice)))
            for value in self._pairs.values(choice) & set(left):
                left[value] -= 1
                if is_shown or not left[value]:
                    del left[value]

    def add_wanted(self, types: Iterator[ElementType]) -> None:
        """Adds choices of the types in turns, until all that is wanted and each two values of two axes are in one."""
        while allowed := self._wanted.within({}):
            self._add_shown(self._triples.best(allowed, type=next(types)))
        while self._pairs.count < self._pairs.total:
            self._add_shown(_of_type(self._pairs.best({}), next(types)))

    def add_features(self, usual: Sequence[ElementType], hiding: Sequence[Choice]) -> None:
        """Adds choices, so that each usual type shows what any choice shows, or what one of hiding values shows.

        Args:
            hiding: choices without a type, of sizes that hide other values.
        """
        known = [*self._features.values(), *((c, self._shown(_of_type(c, usual[0]))) for c in hiding)]
        every = set[Feature]().union(*(features for _, features in known))
        for element_type in usual:
            tries = Counter[Feature]()
            while missing := {f for f in every - self._of_types[element_type] if tries[f] < _TRIES}:
                choice, features = max(known, key=lambda one: len(one[1] & missing))
                tries.update(features & missing)
                made = _of_type(choice, element_type)
                if missing & (shown := self._shown(made)):
                    self._add_shown(made, shown)

    def leave_out_repeated(self, usual: Collection[ElementType]) -> None:
        """Drops choices of which others have each pair of values, each wanted combination, and what a usual type shows.

        What choices with elements have, others with elements must have. The last ones go first, as they were added for
        the least. Another type is in one choice at least.
        """
        numbers: dict[Hashable, int] = {}
        parts = {key: self._parts(*one, usual, numbers) for key, one in self._features.items()}
        before = itertools.accumulate(parts.values(), operator.or_, initial=0)
        kept = 0
        for key, others in reversed(list(zip(parts, before, strict=False))):
            if parts[key] & ~(others | kept):
                kept |= parts[key]
            else:
                del self._choices[key], self._features[key]
        for element_type in self._of_types:
            some = (features for choice, features in self._features.values() if choice.type is element_type)
            self._of_types[element_type] = set[Feature]().union(*some)

    def _parts(
        self, choice: Choice, features: Features, usual: Collection[ElementType], numbers: dict[Hashable, int]
    ) -> int:
        """Returns what the choice has, as bits: pairs of values, wanted combinations, and what its type shows.

        Pairs and combinations have two bits each, of which the second one is for choices with elements.

        Args:
            numbers: the bit of each feature and value of a type so far.
        """
        values, places, is_shown = self._pairs.values(choice), self._wanted.places, _is_shown(features)
        of_type = {*features, *((value, is_shown) for value in values)}
        bits = 0
        for one in of_type if choice.type in usual else [is_shown]:
            bits |= 1 << numbers.setdefault((choice.type, one), len(numbers))
        row = sum(1 << places[value] for value in values)
        pairs = sum(row << places[value] * len(places) for value in values)
        together = pairs << self._wanted.count | self._wanted.met(choice)
        for has in (True, is_shown):
            bits = bits << len(places) ** 2 + self._wanted.count | together * has
        return bits

    def add_hiding(self, hiding: Sequence[Choice], types: Iterator[ElementType]) -> None:
        """Adds those of the hiding choices that no type has."""
        there = {tuple(_without_type(choice).values()) for choice in self._choices.values()}
        for choice in hiding:
            if _key(choice) not in there:
                self.add(_of_type(choice, next(types)))

    def add_types(self, types: Collection[ElementType]) -> None:
        """Adds a choice of each type of which none has elements."""
        there = {choice.type for choice, features in self._features.values() if _is_shown(features)}
        for element_type in types:
            for _ in range(_TRIES if element_type not in there else 0):
                if _is_shown(self._add_shown(self._triples.best({}, type=element_type))):
                    break

    def add_missing(
        self,
        usual: Sequence[ElementType],
        has_reason: Callable[[Feature, ElementType], bool],
        draw: Callable[[ElementType], Choice],
    ) -> None:
        """Adds choices until each usual type shows what any choice shows, unless there is a reason why it can't.

        It tries all choices that show it in another type, and then some that it draws.
        """
        for choice in self.choices:
            if _key(choice) not in self._features:
                self._add_shown(choice)
        is_new = True
        while is_new:
            every = self.shown
            missing = [(f, t) for t in usual for f in sorted(every - self._of_types[t]) if not has_reason(f, t)]
            added = [self._add_one(feature, element_type, draw) for feature, element_type in missing]
            is_new = any(added)

    def _add_one(self, feature: Feature, element_type: ElementType, draw: Callable[[ElementType], Choice]) -> bool:
        """Adds a choice of a type that shows a feature, unless one of the type does. Returns whether it found one."""
        if feature in self._of_types[element_type]:
            return False
        known = (_of_type(choice, element_type) for choice, features in self._features.values() if feature in features)
        for choice in itertools.chain(known, (draw(element_type) for _ in range(_DRAWS))):
            features = self._shown(choice)
            if feature in features:
                self._add_shown(choice, features)
                return True
        return False

    def _add_shown(self, choice: Choice, features: Features | None = None) -> Features:
        """Adds a choice and what it shows."""
        features = self._shown(choice) if features is None else features
        self.add(choice)
        self._features[_key(choice)] = choice, features
        self._of_types.setdefault(choice.type, set()).update(features)
        return features


class _Unmet:
    """The wanted combinations that no choice has, as bits."""

    def __init__(self, values: Combinations, wanted: Sequence[Wanted]) -> None:
        self._values = values
        self._numbers = [values.numbers(combination) for combination in wanted]
        self.count = len(wanted)
        self._unmet = self._every = (1 << len(wanted)) - 1
        self._with: dict[tuple[str, int], int] = {}  # the combinations that a value may be in
        for axis, count in values.counts.items():
            for number in range(count):
                has = (axis not in numbers or number in numbers[axis] for numbers in self._numbers)
                self._with[axis, number] = sum(1 << n for n, one in enumerate(has) if one)
        self.places = {value: place for place, value in enumerate(self._with)}

    def met(self, choice: Choice) -> int:
        """Returns the wanted combinations that a choice has, as bits."""
        values = self._values.values(choice)
        if len(values) < len(self._values.counts):
            return 0
        return functools.reduce(operator.and_, (self._with[at] for at in values), self._every)

    def take(self, choice: Choice) -> None:
        self._unmet &= ~self.met(choice)

    def within(self, allowed: dict[str, list[int]]) -> dict[str, list[int]]:
        """Returns the numbers of values by which a choice has as many unmet combinations as fit."""
        fitting = self._unmet
        made = dict(allowed)
        for axis, numbers in allowed.items():
            fitting &= functools.reduce(operator.or_, (self._with[axis, n] for n in numbers))
        while fitting:
            first = (fitting & -fitting).bit_length() - 1
            fitting &= fitting - 1
            for axis, numbers in self._numbers[first].items():
                made[axis] = [n for n in made.get(axis, numbers) if n in numbers]
                fitting &= functools.reduce(operator.or_, (self._with[axis, n] for n in made[axis]))
        return made


def _is_shown(features: Features) -> bool:
    """Whether a choice with these features has elements in each result."""
    return ("elements", "0") not in features


def _key(choice: Choice) -> tuple[Hashable, ...]:
    return tuple(choice.values.values())


def _of_type(choice: Choice, element_type: ElementType) -> Choice:
    return Choice({"type": element_type, **_without_type(choice)})


def _without_type(choice: Choice) -> dict[str, Any]:
    return {axis: value for axis, value in choice.values.items() if axis != "type"}
