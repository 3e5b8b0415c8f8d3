"""Domains: the variations of an op's cases, and the function that makes a program of one choice."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import (
    Axes,
    Choice,
    Group,
    Wanted,
    choose_each,
    choose_pairs,
    complete,
    draw_choice,
    members,
)
from xla_conformance.ops.combinations import Combinations
from xla_conformance.ops.comparison import BITS, Rule
from xla_conformance.ops.element_types import CLASSES, EVERY, USUAL
from xla_conformance.ops.features import Feature, features_of, shown_features
from xla_conformance.ops.program import Program
from xla_conformance.ops.reasons import is_no_pair
from xla_conformance.ops.selection import Selection
from xla_conformance.ops.sizes import HIDING, LARGEST_TILE, PLACES, SIZES
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import OPS, ElementType, HloInstruction, Opcode

Build = Callable[[Program, Choice], HloInstruction]

_REST = tuple(Group(*(t for t in group if t not in USUAL)) for group in CLASSES)
_APART = (*(Group(t) for t in USUAL), *_REST)
"""The usual types apart from each other, and the rest by groups."""


@dataclasses.dataclass(frozen=True, eq=False)
class Domain:
    """The variations of an op's cases.

    Every choice of the axes makes a valid program: where values exclude each other, `build` takes the nearest that fit.

    Attributes:
        variant: tells domains of one op apart.
        axes: the values of attributes, ranks, operand counts, types other than the case's own, ...
        types: the element types of cases; None means all with which the program is valid.
        sizes: the sizes of the chosen dimension.
        hiding: more sizes of it, which have cases of their own, because they hide other choices: 0 and 1.
        places: where the chosen dimension is among the others.
        scalar: whether rank 0 is a choice too.
        rule: how near the results have to be, by element type.
        pairs: whether all pairs of values meet, or each value of an axis is there.
        types_in_turns: whether types that are alike take turns; if not, each of the usual types meets every other
            value. For ops that hand values on as they are, and where another domain of the op has each type.
    """

    opcode: Opcode
    variant: str
    build: Build
    axes: Axes
    types: Sequence[ElementType] | None
    sizes: Sequence[Any]
    hiding: Sequence[int]
    places: Sequence[str]
    scalar: bool
    rule: Callable[[ElementType], Rule]
    pairs: bool
    types_in_turns: bool

    @property
    def name(self) -> str:
        return f"{self.opcode}-{self.variant}" if self.variant else str(self.opcode)

    def choices(self, seed: int, every_type: bool) -> Iterator[Choice]:
        """Yields the choices, of which each is once.

        Args:
            every_type: whether each element type meets every other value; otherwise each of the usual types does, and
                the other types are there once or more. With every type, all triples of values are there, and each
                size is at each place, in these choices or in those without.
        """
        if not every_type and self.shows_each_value:
            yield from _selected(self, seed)[0]
            return
        if every_type:
            chosen = self._rows({"type": self.accepted}, seed, every_type)
        else:
            groups = [
                Group(*(t for t in group if t in self.accepted))
                for group in (CLASSES if self.types_in_turns else _APART)
            ]
            chosen = self._rows({"type": [group for group in groups if group]}, seed, every_type)
        rows = []
        for choice in chosen:
            rows.append(choice)
            yield choice
        met = {choice.type for choice in rows}
        yield from self._of_types([t for t in self.accepted if t not in met], seed)
        if every_type:
            yield from self._completing([*rows, *self.choices(seed, every_type=False)], seed)

    @property
    def shows_each_value(self) -> bool:
        """Whether each of the usual types meets every other value in the quick profile, where that shows."""
        return self.pairs and not self.types_in_turns

    def shown_by_quick(self, seed: int) -> frozenset[Feature]:
        """Returns features that the quick profile's choices show. There may be more of them."""
        return _selected(self, seed)[1] if self.shows_each_value else frozenset()

    def _completing(self, choices: Sequence[Choice], seed: int) -> Iterator[Choice]:
        """Yields the choices by which each size is at each place, and by which all triples of values are there."""
        axes = {"type": self.accepted, **self.axes, "size": self.sizes, "place": self.places}
        sized = complete(axes, choices, self._sizes_in_places(), self._random(seed))
        yield from sized
        if self.pairs:
            yield from self.triples([*choices, *sized], seed).complete()

    def _sizes_in_places(self) -> list[Wanted]:
        """Returns each size with each place in arrays of enough dimensions, and with arrays that have one dimension."""
        ranks = members(self.axes.get("rank", ()))
        more = {"major": 1, "middle": 2, "minor": 1}
        spots: list[Wanted] = [{"rank": [rank for rank in ranks if rank == 1]}]
        spots += [{"place": (p,), "rank": [r for r in ranks if r > more[p]]} for p in self.places if p in more]
        return [{"size": (size,), **spot} for spot in spots if spot["rank"] for size in members(self.sizes)]

    def _rows(self, axes: Axes, seed: int, every_type: bool) -> Iterator[Choice]:
        """Yields choices in which all pairs of values meet, or each value is, if there are no pairs."""
        seen: set[str] = set()
        axes = {**axes, **self.axes}
        for number, (is_paired, sizes, places) in enumerate(self._passes(every_type)):
            sized = {**axes, "size": sizes, "place": places} if sizes else axes
            if sizes is self.hiding and self.scalar and "rank" in axes:
                sized = {**sized, "rank": (0, *axes["rank"])}
            if every_type and not is_paired:
                sized = {axis: members(values) for axis, values in sized.items()}
            if sizes is self.sizes and not is_paired:  # a choice that makes all dimensions alike changes the size
                sized = {a: [v for v in values if v != "every"] or values for a, values in sized.items()}
            array = f"{self.name}-{number}"
            chosen = choose_pairs(sized, seed, array, self.wanted()) if is_paired else choose_each(sized, seed, array)
            for choice in _with_single(chosen) if sizes is self.hiding and "every" in places else chosen:
                if str(choice) not in seen:
                    seen.add(str(choice))
                    yield choice

    def select(self, seed: int) -> Selection:
        """Returns choices in which each of the usual types meets every other value, where that shows.

        The other types take turns in the rest. Elementwise ops have scalars of them too.
        """
        random = self._random(seed)
        types = [self.accepted[i] for i in random.permutation(len(self.accepted))]
        others = [t for t in types if t not in USUAL]
        usual = [t for t in types if t in USUAL] or types
        turns = itertools.cycle(others or usual)
        hiding, axes = self._hiding(seed), self.combined_axes()
        small = {("size", 0), ("size", len(self.sizes))} if 1 in self.hiding else set()  # other dimensions have them
        selection = Selection(axes, self.wanted(), small, lambda choice: self.shown(choice, choice.type), random)
        for element_type in usual:
            selection.add_values(element_type)
        selection.add_wanted(turns)
        selection.add_features(usual, hiding)
        selection.leave_out_repeated(usual)
        selection.add_hiding(hiding, turns)
        selection.add_types(others)
        scalars = [c for c in hiding if OPS[self.opcode].is_elementwise and c.values.get("rank") == 0]
        for choice, element_type in zip(itertools.cycle(scalars), others, strict=False):
            selection.add(Choice({"type": element_type, **choice.values}))
        selection.add_missing(
            usual,
            has_reason=lambda feature, element_type: is_no_pair(self.name, feature, element_type),
            draw=lambda element_type: draw_choice(axes, random, type=element_type),
        )
        return selection

    def _hiding(self, seed: int) -> list[Choice]:
        """Returns choices of scalars and of sizes that hide other choices, without a type."""
        if not self.sizes or not self.hiding:
            return []
        ranks = {"rank": (0, *self.axes["rank"])} if self.scalar and "rank" in self.axes else {}
        axes = {**self.axes, **ranks, "size": self.hiding, "place": self.places}
        chosen = choose_each(axes, seed, f"{self.name}-hiding")
        return list(_with_single(chosen)) if "every" in self.places else chosen

    def combined_axes(self) -> Axes:
        """Returns all axes: of classes of element types, the domain's own, and those of sizes and places."""
        groups = [Group(*(t for t in group if t in self.accepted)) for group in CLASSES]
        groups += [Group(t) for t in self.accepted if not any(t in group for group in CLASSES)]
        ones = (1,) if 1 in self.hiding else ()
        sized = {"size": (*self.sizes, *ones), "place": self.places} if self.sizes else {}
        return {"type": [group for group in groups if group], **self.axes, **sized}

    def triples(self, choices: Iterable[Choice], seed: int = 0) -> Combinations:
        """Returns the triples of values that the choices have."""
        found = Combinations(self.combined_axes(), 3, self._random(seed))
        for choice in choices:
            found.take(choice)
        return found

    def _random(self, seed: int) -> np.random.Generator:
        return np.random.default_rng([seed, zlib.crc32(self.name.encode())])

    def features(self, choice: Choice) -> frozenset[Feature]:
        """Returns the features of the op's instructions in a choice's program: values of attributes, and sizes."""
        return frozenset(f for i in self._instructions(choice, choice.type) for f in features_of(i))

    def shown(self, choice: Choice, element_type: ElementType) -> frozenset[Feature]:
        """Returns the features that show in a choice's program in an element type: values of axes and of attributes."""
        instructions = self._instructions(choice, element_type)
        features = {feature for i in instructions for feature in shown_features(i)}
        if any(leaf.num_elements for i in instructions for leaf in i.shape.array_leaves()):
            features |= {(f"axis {axis}", str(number)) for axis, number in self.places_of(choice)}
        return frozenset(features)

    def _instructions(self, choice: Choice, element_type: ElementType) -> list[HloInstruction]:
        computations = self.program(choice, element_type).module.computations
        return [i for c in computations for i in c.instructions if i.opcode == self.opcode]

    def places_of(self, choice: Choice) -> list[tuple[str, int]]:
        """Returns where the values of a choice, or the groups that have them, are on their axes."""
        places = [(axis, _place(values, choice.values[axis])) for axis, values in self.axes.items()]
        return [(axis, number) for axis, number in places if number >= 0]

    def axis_values(self) -> list[tuple[str, int]]:
        """Returns where each value or group of values is on its axis."""
        return [(axis, number) for axis, values in self.axes.items() for number in range(len(values))]

    def wanted(self) -> list[Wanted]:
        """Returns the combinations of three values that some choice has.

        Each value of each axis meets each place of the chosen dimension, which is small in one case, larger than a tile
        in another, and one in a third. The array has two more dimensions where the domain has such ranks, so that the
        places differ. The axis `large` says which operand has the dimension, so that it is a part of the place.
        """
        sizes = members(self.sizes)
        halves = [n for n in sizes if n <= LARGEST_TILE], [n for n in sizes if n > LARGEST_TILE]
        if not all(halves):
            return []
        lengths = (*halves, [1]) if 1 in self.hiding else halves
        ranks = [rank for rank in self.axes.get("rank", ()) if min(members([rank])) > 2]
        axes = {**self.axes, "rank": ranks} if ranks else self.axes
        places = [place for place in self.places if place != "every"]
        found: list[Wanted] = []
        for half, place, large in itertools.product(lengths, places, self.axes.get("large", (None,))):
            within = {"size": half, "place": (place,), **({"rank": members(ranks)} if ranks else {})}
            within |= {} if large is None else {"large": (large,)}
            found += [{**within, axis: members([value])} for axis, values in axes.items() for value in values]
        return found

    def _of_types(self, types: Sequence[ElementType], seed: int) -> Iterator[Choice]:
        """Yields a choice for each of the types, in which the other values take turns."""
        sized = {"size": self.sizes, "place": self.places} if self.sizes else {}
        rest = {axis: [Group(*members(values))] for axis, values in {**self.axes, **sized}.items()}
        if types:
            yield from choose_each({"type": types, **rest}, seed, f"{self.name}-types")

    def _passes(self, every_type: bool) -> Iterator[tuple[bool, Sequence[Any], Sequence[str]]]:
        """Yields (whether all pairs meet, sizes, places) of each array of choices."""
        yield self.pairs, self.sizes, self.places
        if self.pairs and self.sizes and every_type:  # each size by itself, with other values each time
            yield from [(False, self.sizes, self.places)] * 3
        if self.sizes and self.hiding:
            yield False, self.hiding, self.places

    @functools.cached_property
    def accepted(self) -> Sequence[ElementType]:
        """The element types that cases have."""
        return [t for t in EVERY if self.accepts(t)]

    def accepts(self, element_type: ElementType) -> bool:
        """Whether cases have the element type."""
        return self.builds(element_type) if self.types is None else element_type in self.types

    def builds(self, element_type: ElementType) -> bool:
        """Whether programs of the element type have the op, by the shape rules of the op table."""
        values = {**self.axes, "size": self.sizes, "place": self.places}
        first = {axis: members(v)[0] for axis, v in values.items() if v}
        try:
            return bool(self._instructions(Choice(first), element_type))
        except InvalidArgumentError:
            return False

    def program(self, choice: Choice, element_type: ElementType) -> Program:
        program = Program(self.opcode, element_type)
        program.finish(self.build(program, choice))
        return program


@functools.lru_cache(1 << 8)
def _selected(domain: Domain, seed: int) -> tuple[Sequence[Choice], frozenset[Feature]]:
    """Returns the quick profile's choices of a domain whose types meet every value, and what they show."""
    selection = domain.select(seed)
    return selection.choices, selection.shown


def _with_single(choices: Sequence[Choice]) -> Iterator[Choice]:
    """Makes the first array with a dimension of 1 one of a single element, by giving all its dimensions that size."""
    found = False
    for choice in choices:
        if not found and choice.size == 1 and choice.values.get("rank", 1):
            found = True
            choice = Choice({**choice.values, "place": "every"})
        yield choice


def _place(values: Sequence[Any], member: Any) -> int:
    """Returns where a value, or the group that has it, is on an axis; scalars' rank 0 is on none."""
    found = (n for n, v in enumerate(values) if member in (v if isinstance(v, Group) else (v,)))
    return next(found, -1)


REGISTERED: dict[Opcode, list[Domain]] = {}
"""The domains that have been made so far. `domains.DOMAINS` has all of them."""


def domain(
    opcode: Opcode,
    *,
    variant: str = "",
    types: Sequence[ElementType] | None = None,
    sizes: Sequence[Any] = SIZES,
    hiding: Sequence[int] = HIDING,
    places: Sequence[str] = PLACES,
    scalar: bool = True,
    rule: Rule | Callable[[ElementType], Rule] = BITS,
    pairs: bool = True,
    types_in_turns: bool = False,
    **axes: Sequence[Any],
) -> Callable[[Build], Build]:
    """Makes a domain of a function that adds the op to a program and returns the program's root."""

    def rule_of(element_type: ElementType) -> Rule:
        return rule if isinstance(rule, Rule) else rule(element_type)

    def register(build: Build) -> Build:
        made = Domain(
            opcode=opcode,
            variant=variant,
            build=build,
            axes=axes,
            types=types,
            sizes=sizes,
            hiding=hiding,
            places=places,
            scalar=scalar,
            rule=rule_of,
            pairs=pairs,
            types_in_turns=types_in_turns,
        )
        REGISTERED.setdefault(opcode, []).append(made)
        return build

    return register
