"""Cases that are drawn by chance from the domains of an op: all that cases differ in, at once.

Covering arrays promise that each two or three values meet. A fault may need four: a type, a size of some remainder, an
attribute, and a constant operand or an order of values. So cases are drawn here freely: sizes between the listed ones
too, any arrangement of values, any source of operands, and any neighbours.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar
from typing import Literal as OneOf

import numpy as np

from xla_conformance.ops.arranged import ARRANGEMENTS, ROWS
from xla_conformance.ops.cases import OpCase, may_be_arranged
from xla_conformance.ops.choices import Choice, Group, members
from xla_conformance.ops.comparison import rule_for
from xla_conformance.ops.contexts import Context
from xla_conformance.ops.domain import DOMAINS, USUAL, Domain
from xla_conformance.ops.domains.movement import RANKS
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import EMPTY, PLACES, SIZES, dimensions
from xla_conformance.ops.values import moderate, special
from xla_core.hlo import OPS, HloInstruction, Opcode, Trait

_Value = TypeVar("_Value")

_LARGEST = 1 << 14
"""The most elements of a case's arguments and results, so that thousands of cases cost minutes. Domains of large arrays
have more."""
_TRIES = 20
_OPERANDS: tuple[OneOf["arguments", "constants", "last-constant", "kernels"], ...] = (
    *("arguments", "arguments", "constants", "last-constant", "kernels"),
)
_LEVELS: tuple[OneOf[0, 2], ...] = (0, 0, 0, 2)
_ALONE = {Opcode.BITCAST}
"""Ops whose results depend on layouts."""

_COUNTS = {"structure": 32, "control_flow": 32, "elementwise": 96, "batch_norm": 96, "movement": 512}
_MANY = 1024
_MORE = {
    **dict.fromkeys((Opcode.COMPARE, Opcode.SELECT, Opcode.CLAMP, Opcode.CONVERT, Opcode.BITCAST_CONVERT), 512),
    Opcode.DOT: 1536,
}

DRAWN: Mapping[Opcode, int] = {
    opcode: _MORE.get(opcode, _COUNTS.get(OPS[opcode].group, _MANY))
    for opcode in DOMAINS
    if Trait.NONDETERMINISTIC not in OPS[opcode].traits and opcode not in _ALONE
}
"""How many cases of each op the full profile draws."""


@dataclasses.dataclass(frozen=True)
class DrawnCase:
    """A case in the context in which it runs."""

    case: OpCase
    context: Context

    @property
    def name(self) -> str:
        return f"{self.case.name}-{self.context}"

    @property
    def inner_context(self) -> Context:
        """The context of the case within a program of several, which have their layouts together."""
        return dataclasses.replace(self.context, layouts="default")


def drawn_cases(opcode: Opcode, seed: int, first: int, count: int) -> Iterator[DrawnCase]:
    """Yields the cases of an op from number `first` on. Domains of more values have more of them."""
    domains = _domains_of(opcode)
    weights = np.array([2 + sum(map(len, domain.axes.values())) for domain in domains], np.float64)
    for number in range(first, first + count):
        random = np.random.default_rng([seed, zlib.crc32(opcode.encode()), number])
        domain = domains[random.choice(len(domains), p=weights / weights.sum())]
        yield DrawnCase(_drawn_case(domain, number, seed, random), _drawn_context(random))


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
        empty=EMPTY,
        places=PLACES,
        scalar=True,
        rule=functools.partial(rule_for, op),
        pairs=True,
        alike=False,
    )


def _drawn_case(domain: Domain, number: int, seed: int, random: np.random.Generator) -> OpCase:
    for _ in range(_TRIES):
        choice = _drawn_choice(domain, random)
        if _elements(domain.program(choice, choice.type)) <= _LARGEST:
            break
    arrangement = ""
    if may_be_arranged(domain.rule(choice.type), choice.type) and random.integers(4):
        arrangement = _one((*ARRANGEMENTS, ROWS, ROWS, ROWS), random)
    rest = Choice({axis: value for axis, value in choice.values.items() if axis != "type"})
    parts = (domain.variant, str(rest), arrangement.replace(" ", "_"), f"case.{number}")
    build = functools.partial(domain.program, choice)
    variant = "-".join(part for part in parts if part)
    return OpCase(domain.opcode, variant, choice.type, build, domain.rule(choice.type), seed, arrangement)


def _drawn_choice(domain: Domain, random: np.random.Generator) -> Choice:
    usual = [t for t in domain.accepted if t in USUAL]
    values: dict[str, Any] = {"type": _one(usual if usual and random.integers(8) else domain.accepted, random)}
    for axis, listed in domain.axes.items():
        values[axis] = _member(listed, random)
    if domain.scalar and domain.empty and "rank" in domain.axes and not random.integers(30):
        values["rank"] = 0
    if domain.sizes:
        values["size"] = _drawn_size(domain, random)
        values["place"] = _member(domain.places, random)
    return Choice(values)


def _drawn_size(domain: Domain, random: np.random.Generator) -> int:
    """Returns a size: one that is listed, or any between the least and the largest of these; more often a small one."""
    sizes: list[int] = members(domain.sizes)
    way = random.random()
    if domain.empty and way < 0.04:
        return _one(domain.empty, random)
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


def _elements(program: Program) -> int:
    shapes = [*program.module.parameter_shapes, program.module.result_shape]
    return sum(leaf.num_elements for shape in shapes for leaf in shape.array_leaves())


def _drawn_context(random: np.random.Generator) -> Context:
    return Context(
        operands=_one(_OPERANDS, random),
        neighbours="fused" if random.integers(3) == 0 else "alone",
        layouts="mixed" if random.integers(4) == 0 else "default",
        level=_one(_LEVELS, random),
    )


def together(cases: Sequence[DrawnCase]) -> list[list[DrawnCase]]:
    """Returns the cases in groups whose programs can be one: of the same level and layouts."""
    plain, others = [d for d in cases if _is_plain(d)], [[d] for d in cases if not _is_plain(d)]
    ordered = sorted(plain, key=_kind)
    return [*(list(group) for _, group in itertools.groupby(ordered, key=_kind)), *others]


def _kind(drawn: DrawnCase) -> tuple[int, str]:
    return drawn.context.level, drawn.context.layouts


def _is_plain(drawn: DrawnCase) -> bool:
    module = drawn.case.program.module
    shapes = [leaf for shape in (*module.parameter_shapes, module.result_shape) for leaf in shape.leaves()]
    return not module.input_output_aliases and all(s.is_array and not s.is_dynamic for s in shapes)
