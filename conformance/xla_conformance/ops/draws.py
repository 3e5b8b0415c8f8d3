"""Draws of all that cases of an op differ in: choices of its domains, orders of values, contexts.

A fault may need three things at once: an attribute's value, a type, and an order of values, a size, constants or a
layout. There are thousands of such threes, of which draws by pure chance repeat many. So each draw is the one of a few
candidates that has the most threes which no draw before has.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import zlib
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, TypeVar
from typing import Literal as OneOf

import numpy as np

from xla_conformance.ops.arranged import ARRANGEMENTS, ROWS
from xla_conformance.ops.cases import may_be_arranged
from xla_conformance.ops.choices import Choice, Group, members
from xla_conformance.ops.comparison import rule_for
from xla_conformance.ops.contexts import Context
from xla_conformance.ops.domain import Domain
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.element_types import CLASSES, USUAL
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import HIDING, PLACES, SIZES, dimensions
from xla_conformance.ops.values import moderate, special
from xla_core.hlo import OPS, HloInstruction, Opcode

_Value = TypeVar("_Value")

_CANDIDATES = 4
_OPERANDS: tuple[OneOf["arguments", "constants", "last-constant", "kernels"], ...] = (
    *("arguments", "arguments", "constants", "last-constant", "kernels"),
)
_LEVELS: tuple[OneOf[0, 2], ...] = (0, 0, 0, 2)
_CLASSES = {element_type: number for number, group in enumerate(CLASSES) for element_type in group}


@dataclasses.dataclass(frozen=True)
class Draw:
    """What a case is to be."""

    domain: Domain
    choice: Choice
    arrangement: str
    context: Context

    def threes(self) -> Iterator[Hashable]:
        """Yields each value of an axis with two more things, and the type with an order and a size."""
        kind, order, operands = _CLASSES.get(self.choice.type), self.arrangement, self.context.operands
        size = min(self.choice.values.get("size", 0), 512).bit_length()
        yield self.domain.name, kind, order, size
        pairs = (
            *((kind, order), (kind, size), (order, size)),
            *((self.context.layouts, size), (operands, kind), (operands, order)),
        )
        for number, pair in enumerate(pairs):
            for axis in self.domain.axes:
                yield self.domain.name, axis, self.choice.values[axis], number, pair


class Draws:
    """The draws of an op, which depend on the seed alone. Domains of more values have more of them."""

    def __init__(self, opcode: Opcode, seed: int) -> None:
        self._seeds = seed, zlib.crc32(opcode.encode())
        self._domains = _domains_of(opcode)
        weights = np.array([2 + sum(map(len, domain.axes.values())) for domain in self._domains], np.float64)
        self._shares = weights / weights.sum()
        self._found: list[Draw] = []
        self._met: set[Hashable] = set()

    def __getitem__(self, number: int) -> Draw:
        while len(self._found) <= number:
            random = np.random.default_rng([*self._seeds, len(self._found)])
            domain = self._domains[random.choice(len(self._domains), p=self._shares)]
            candidates = [_draw(domain, random) for _ in range(_CANDIDATES)]
            threes = [set(candidate.threes()) for candidate in candidates]
            gains = [len(some - self._met) for some in threes]
            best = gains.index(max(gains))
            self._met |= threes[best]
            self._found.append(candidates[best])
        return self._found[number]


@functools.lru_cache(8)
def draws_of(opcode: Opcode, seed: int) -> Draws:
    return Draws(opcode, seed)


def _draw(domain: Domain, random: np.random.Generator) -> Draw:
    choice = _drawn_choice(domain, random)
    arrangement = ""
    if may_be_arranged(domain.rule(choice.type), choice.type) and random.integers(4):
        arrangement = _one((*ARRANGEMENTS, ROWS, ROWS, ROWS), random)
    return Draw(domain, choice, arrangement, _drawn_context(random))


def _domains_of(opcode: Opcode) -> Sequence[Domain]:
    """Returns the domains of an op; of an elementwise op whose cases have many shapes each, one of single shapes."""
    domains = DOMAINS[opcode]
    return [_elementwise(opcode) if "turn" in domain.axes else domain for domain in domains]


def _elementwise(opcode: Opcode) -> Domain:
    op = OPS[opcode]
    arity = op.arity
    assert isinstance(arity, int)

    def build(p: Program, c: Choice) -> HloInstruction:
        sizes = dimensions(c.rank, c.size, c.place)
        fill = moderate if p.type.is_complex else special
        operands = [p.parameter(() if c.broadcast == at else sizes, fill=fill) for at in range(arity)]
        wide = [
            p.add(Opcode.BROADCAST, o, shape=p.shape(sizes), dimensions=()) if o.shape.rank < c.rank else o
            for o in operands
        ]
        return p.add(opcode, *wide)

    return Domain(
        opcode=opcode,
        variant="",
        build=build,
        axes={"rank": RANKS, "broadcast": ("none", *range(arity))},
        types=None,
        sizes=SIZES,
        hiding=HIDING,
        places=PLACES,
        scalar=True,
        rule=functools.partial(rule_for, op),
        pairs=True,
        types_in_turns=False,
    )


def _drawn_choice(domain: Domain, random: np.random.Generator) -> Choice:
    usual = [t for t in domain.accepted if t in USUAL]
    values: dict[str, Any] = {"type": _one(usual if usual and random.integers(8) else domain.accepted, random)}
    for axis, listed in domain.axes.items():
        values[axis] = _member(listed, random)
    if domain.scalar and domain.hiding and "rank" in domain.axes and not random.integers(30):
        values["rank"] = 0
    if domain.sizes:
        values["size"] = drawn_size(domain, random)
        values["place"] = _member(domain.places, random)
    return Choice(values)


def drawn_size(domain: Domain, random: np.random.Generator) -> int:
    """Returns a size: one that is listed, or any between the least and the largest of these; more often a small one."""
    sizes: list[int] = members(domain.sizes)
    way = random.random()
    if domain.hiding and way < 0.04:
        return _one(domain.hiding, random)
    if len(sizes) < 3 or way < 0.4:
        size: int = _member(domain.sizes[: 1 + int(random.integers(len(domain.sizes)))], random)
        return size
    low, high = min(sizes), min(max(sizes), 300)
    return round(math.exp(random.uniform(math.log(low), math.log(high + 1)))) if low < high else low


def _member(listed: Sequence[Any], random: np.random.Generator) -> Any:
    value = _one(listed, random)
    return _one(value, random) if isinstance(value, Group) else value


def _one(listed: Sequence[_Value], random: np.random.Generator) -> _Value:
    return listed[int(random.integers(len(listed)))]


def _drawn_context(random: np.random.Generator) -> Context:
    return Context(
        operands=_one(_OPERANDS, random),
        neighbours="fused" if random.integers(3) == 0 else "alone",
        layouts="mixed" if random.integers(4) == 0 else "default",
        level=_one(_LEVELS, random),
    )
