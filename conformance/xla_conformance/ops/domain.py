"""Domains: what the cases of an op vary, and the function that makes a program of one choice."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xla_conformance.ops.choices import Axes, Choice, Group, choose_each, choose_pairs
from xla_conformance.ops.comparison import BITS, Rule
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import EMPTY, PLACES, SIZES
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloInstruction, Opcode, verify

__all__ = ["DOMAINS", "TYPES", "Domain", "domain"]

Build = Callable[[Program, Choice], HloInstruction]

_T = ElementType
TYPES = (
    Group(_T.PRED),
    Group(_T.S8, _T.U8, _T.S2, _T.U2, _T.S4, _T.U4),
    Group(*(t for t in _T if t.is_floating and t.bit_width <= 8)),
    Group(_T.BF16, _T.F16, _T.S16, _T.U16),
    Group(_T.S32, _T.U32),
    Group(_T.F32),
    Group(_T.F64, _T.S64, _T.U64),
    Group(_T.C64, _T.C128),
)
"""Element types that backends are likely to handle alike."""

_NAMES = "pred s8 u8 s16 u16 s32 u32 s64 u64 bf16 f16 f32 f64 c64 c128"
_USUAL = tuple(map(ElementType, _NAMES.split()))
_REST = tuple(Group(*(t for t in group if t not in _USUAL)) for group in TYPES)
_APART = (*(Group(t) for t in _USUAL), *_REST)
"""The usual types apart from each other, and the rest by groups."""


@dataclasses.dataclass(frozen=True)
class Domain:
    """What the cases of an op vary.

    Every choice of the axes makes a valid program: where values exclude each other, `build` takes the nearest that fit.

    Attributes:
        variant: tells domains of one op apart.
        axes: the values of attributes, ranks, operand counts, types other than the case's own, ...
        types: the element types of cases; None means all with which the program is valid.
        sizes: the sizes of the chosen dimension, and `empty` those that hide other choices.
        places: where the chosen dimension is among the others.
        scalar: whether rank 0 is a choice too.
        rule: how near the results have to be, by element type.
        pairs: whether all pairs of values meet, and each type is once or more; or each value of an axis, with types
            that are alike in turns.
        alike: whether types that are alike take turns; if not, each of the usual types meets every other value.
    """

    opcode: Opcode
    variant: str
    build: Build
    axes: Axes
    types: Sequence[ElementType] | None
    sizes: Sequence[Any]
    empty: Sequence[int]
    places: Sequence[str]
    scalar: bool
    rule: Callable[[ElementType], Rule]
    pairs: bool
    alike: bool

    @property
    def name(self) -> str:
        return f"{self.opcode}-{self.variant}" if self.variant else str(self.opcode)

    def choices(self, seed: int, every_type: bool) -> Iterator[Choice]:
        """Yields the choices, of which each is once."""
        groups = [Group(*(t for t in group if self.accepts(t))) for group in (TYPES if self.alike else _APART)]
        types = [t for group in groups for t in group] if every_type else [group for group in groups if group]
        seen: set[str] = set()
        met: set[ElementType] = set()
        axes: Axes = {"type": types, **self.axes}
        for number, (is_paired, sizes, places) in enumerate(self._passes(every_type)):
            sized = {**axes, "size": sizes, "place": places} if sizes else axes
            if sizes is self.empty and self.scalar and "rank" in axes:
                sized = {**sized, "rank": (0, *axes["rank"])}
            if every_type and not is_paired:
                sized = {axis: _members(values) for axis, values in sized.items()}
            if sizes is self.sizes and not is_paired:  # what makes all dimensions alike changes the size
                sized = {a: [v for v in values if v != "every"] or values for a, values in sized.items()}
            chosen = (choose_pairs if is_paired else choose_each)(sized, seed, f"{self.name}-{number}")
            for choice in _with_single(chosen) if sizes is self.empty and "every" in places else chosen:
                if str(choice) not in seen:
                    seen.add(str(choice))
                    met |= {choice.type} if sizes is self.sizes else set()
                    yield choice
        if self.pairs and (others := [t for t in _members(types) if t not in met]):
            yield from self._choices_of(others, seed)

    def _choices_of(self, types: Sequence[ElementType], seed: int) -> Iterator[Choice]:
        """Yields a choice for each of the types, in which the other values take turns."""
        sized = {"size": self.sizes, "place": self.places} if self.sizes else {}
        rest = {axis: [Group(*_members(values))] for axis, values in {**self.axes, **sized}.items()}
        yield from choose_each({"type": types, **rest}, seed, f"{self.name}-types")

    def _passes(self, every_type: bool) -> Iterator[tuple[bool, Sequence[Any], Sequence[str]]]:
        """Yields (whether all pairs meet, sizes, places) of each array of choices."""
        yield self.pairs, self.sizes, self.places
        if self.pairs and self.sizes and every_type:  # each size by itself, with other values each time
            yield from [(False, self.sizes, self.places)] * 3
        if self.sizes and self.empty:
            yield False, self.empty, self.places

    def accepts(self, element_type: ElementType) -> bool:
        """Whether cases have the element type."""
        return self.builds(element_type) if self.types is None else element_type in self.types

    def builds(self, element_type: ElementType) -> bool:
        """Whether the op takes the element type, by its shape rule and the verifier."""
        values = {**self.axes, "size": self.sizes, "place": self.places}
        first = {axis: _members(v)[0] for axis, v in values.items() if v}
        try:
            verify(self.program(Choice(first), element_type).module)
        except InvalidArgumentError:
            return False
        return True

    def program(self, choice: Choice, element_type: ElementType) -> Program:
        program = Program(self.opcode, element_type)
        program.finish(self.build(program, choice))
        return program


def _with_single(choices: Sequence[Choice]) -> Iterator[Choice]:
    """Makes the first array with a dimension of 1 one of a single element, by giving all its dimensions that size."""
    found = False
    for choice in choices:
        if not found and choice.size == 1 and choice.values.get("rank", 1):
            found = True
            choice = Choice({**choice.values, "place": "every"})
        yield choice


def _members(values: Sequence[Any]) -> list[Any]:
    """Returns the values of an axis without groups."""
    return [member for value in values for member in (value if isinstance(value, Group) else (value,))]


DOMAINS: dict[Opcode, list[Domain]] = {}
"""The domains of each opcode. The modules of `domains` fill it."""


def domain(
    opcode: Opcode,
    *,
    variant: str = "",
    types: Sequence[ElementType] | None = None,
    sizes: Sequence[Any] = SIZES,
    empty: Sequence[int] = EMPTY,
    places: Sequence[str] = PLACES,
    scalar: bool = True,
    rule: Rule | Callable[[ElementType], Rule] = BITS,
    pairs: bool = True,
    alike: bool = True,
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
            empty=empty,
            places=places,
            scalar=scalar,
            rule=rule_of,
            pairs=pairs,
            alike=alike,
        )
        DOMAINS.setdefault(opcode, []).append(made)
        return build

    return register
