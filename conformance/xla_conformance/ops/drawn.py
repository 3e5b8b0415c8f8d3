"""Cases that are drawn by chance from the domains of an op: all that cases differ in, at once.

Covering arrays promise that each two or three values meet. A fault may need four: a type, a size of some remainder, an
attribute, and a constant operand or an order of values. So cases are drawn here freely: sizes between the listed ones
too, any arrangement of values, any source of operands, and any neighbours (`draws`).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from xla_conformance.ops.cases import OpCase
from xla_conformance.ops.choices import Choice
from xla_conformance.ops.contexts import Context
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.draws import Draw, drawn_size, draws_of
from xla_conformance.ops.program import Program
from xla_core.hlo import OPS, Opcode, Trait

_LARGEST = 1 << 14
"""The most elements of a case's arguments and results, so that thousands of cases cost minutes. Domains of large arrays
have more."""
_TRIES = 20
_ALONE = {Opcode.BITCAST}
"""Ops whose results depend on layouts."""

_COUNTS = {
    "structure": 32,
    "control_flow": 96,
    "elementwise": 96,
    "batch_norm": 96,
    "linalg": 256,
    "movement": 768,
    "indexing": 1280,
}
_MANY = 1024
_OF_OPS = {
    128: (Opcode.COPY, Opcode.FUSION),
    256: (Opcode.DYNAMIC_RESHAPE,),
    384: (Opcode.REDUCE_PRECISION, Opcode.STOCHASTIC_CONVERT, Opcode.RNG_BIT_GENERATOR),
    512: (Opcode.SELECT, Opcode.CLAMP, Opcode.MAP, Opcode.TOPK, Opcode.SELECT_AND_SCATTER, Opcode.SCALED_DOT),
    640: (Opcode.COMPARE, Opcode.BITCAST_CONVERT),
    896: (Opcode.TRANSPOSE, Opcode.BROADCAST, Opcode.IOTA),
    1024: (Opcode.CONVERT,),
    1280: (Opcode.REDUCE,),
    1536: (Opcode.DOT,),
}
"""By these numbers of cases, more than half of the threes of each op with attributes meet (`Draw.threes`). Where nearly
all do, there are fewer cases."""
_OWN_COUNTS = {opcode: count for count, opcodes in _OF_OPS.items() for opcode in opcodes}

DRAWN: Mapping[Opcode, int] = {
    opcode: _OWN_COUNTS.get(opcode, _COUNTS.get(OPS[opcode].group, _MANY))
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
    """Yields the cases of an op from number `first` on."""
    draws = draws_of(opcode, seed)
    for number in range(first, first + count):
        draw = draws[number]
        yield DrawnCase(_drawn_case(draw, number, seed), draw.context)


def _drawn_case(draw: Draw, number: int, seed: int) -> OpCase:
    domain, choice = draw.domain, _of_few_elements(draw, np.random.default_rng([seed, number]))
    rest = Choice({axis: value for axis, value in choice.values.items() if axis != "type"})
    parts = (domain.variant, str(rest), draw.arrangement.replace(" ", "_"), f"case.{number}")
    build = functools.partial(domain.program, choice)
    variant = "-".join(part for part in parts if part)
    return OpCase(domain.opcode, variant, choice.type, build, domain.rule(choice.type), seed, draw.arrangement)


def _of_few_elements(draw: Draw, random: np.random.Generator) -> Choice:
    """Returns the choice, with another size if its program has too many elements."""
    choice = draw.choice
    for _ in range(_TRIES if draw.domain.sizes else 0):
        if _elements(draw.domain.program(choice, choice.type)) <= _LARGEST:
            break
        choice = Choice({**choice.values, "size": drawn_size(draw.domain, random)})
    return choice


def _elements(program: Program) -> int:
    shapes = [*program.module.parameter_shapes, program.module.result_shape]
    return sum(leaf.num_elements for shape in shapes for leaf in shape.array_leaves())


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
