"""Domains of reduce, map and scan."""

from __future__ import annotations

import math

import numpy as np

from xla_conformance.ops.choices import Choice, Group
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import RANKS, subset
from xla_conformance.ops.element_types import NUMBERS
from xla_conformance.ops.fills import exactly, terms, tied, with_ends
from xla_conformance.ops.kinds import KINDS, beside_identity, identity, rows
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import (
    NAMES,
    PREFERS,
    REDUCERS,
    SECONDS,
    SIDES,
    fill_of,
    known_reducer,
    known_reducers,
    reducer,
    several,
    several_types,
    wider,
)
from xla_conformance.ops.sizes import MEDIUM, SIZES, SMALL, dimensions, position
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape

LENGTHS = (Group(*SIZES[0], *SIZES[1]), SIZES[2], Group(*SIZES[3], *SIZES[4]), *SIZES[5:])
_MANY, _LARGE = 1000, 5000
REDUCED = ("chosen", "others", "all", "first", "last", "ends", "none")


@domain(
    Opcode.REDUCE,
    rule=EQUAL,
    rank=RANKS,
    reduced=REDUCED,
    order=("ascending", "descending"),
    reducer=REDUCERS,
    accumulator=("same", "wider"),
    terms=("whole", "ends", "rows"),
    sides=SIDES,
)
def _reduce(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    axes = subset(c.reduced, c.rank, c.place)
    total = wider(p.type) if c.accumulator == "wider" else p.type
    name = known_reducer(c.reducer, total)
    fill = fill_of(name, total, 1 + math.prod(sizes[d] for d in axes), ends=c.terms == "ends")
    first = fill
    if c.terms == "rows":
        fill, first = rows(name, p.type, total, axes), exactly(identity(name, total))
    operand, start = p.parameter(sizes, fill=fill), p.parameter((), total, first)
    ordered = axes if c.order == "ascending" else axes[::-1]
    return p.add(Opcode.REDUCE, operand, start, dimensions=ordered, to_apply=reducer(p, name, total, c.sides))


@domain(
    Opcode.REDUCE,
    variant="rows",
    rule=EQUAL,
    hiding=(),
    places=("minor",),
    sizes=LENGTHS,
    start=("given", "constant"),
    remainder=(0, 1, 2, 3),
)
def _rows(p: Program, c: Choice) -> HloInstruction:
    """Rows and columns, which programs reduce most, by every reducer of the type, from its identity.

    Half of the row reductions are of matrices of more than 4,096 elements, over both dimensions. The size of the minor
    one, and the number of the other rows and columns, have each remainder modulo 4.
    """
    results: list[HloInstruction] = []
    many = 2 * len(KINDS) if c.size < _MANY else len(KINDS)
    names = NAMES if c.size < _LARGE else NAMES[:3]
    minor = max(c.size // 4, 1) * 4 + c.remainder
    for number, name in enumerate(known_reducers(p.type, names)):
        to_apply, first = reducer(p, name, p.type), identity(name, p.type)
        for axis in (1, 0) if c.size < _LARGE or not results else (len(results) % 2,):
            kept = many + (c.remainder + number) % 4
            sizes: tuple[int, ...] = (kept, c.size) if axis else (c.size, kept)
            axes: tuple[int, ...] = (axis,)
            if axis and (number + c.size) % 2 and c.size < _LARGE:
                sizes, axes = (many, 2 + 4096 // (many * minor), minor), (1, 2)
            operand = p.parameter(sizes, fill=rows(name, p.type, p.type, axes))
            if c.start == "constant":
                start = p.entry.constant(exactly(first)(p.shape(), np.random.default_rng(0)))
            else:
                start = p.parameter((), fill=exactly(first))
            results.append(p.add(Opcode.REDUCE, operand, start, dimensions=axes, to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


@domain(Opcode.REDUCE, variant="start", rule=EQUAL, sizes=(), places=())
def _start(p: Program, c: Choice) -> HloInstruction:
    """Rows and columns that are so short that the initial value, which isn't the identity, changes many results."""
    results: list[HloInstruction] = []
    length, many = 3, 65
    for name in known_reducers(p.type):
        to_apply = reducer(p, name, p.type)
        fill, first = fill_of(name, p.type, 1 + length), beside_identity(name, p.type, 1 + length)
        constant = p.entry.constant(first(p.shape(), np.random.default_rng(0)))
        for start in (p.parameter((), fill=first), constant):
            for axis in (1, 0):
                operand = p.parameter((many, length) if axis else (length, many), fill=fill)
                results.append(p.add(Opcode.REDUCE, operand, start, dimensions=(axis,), to_apply=to_apply))
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.REDUCE,
    variant="variadic",
    rule=EQUAL,
    types=NUMBERS,
    rank=RANKS[:4],
    reduced=REDUCED[:5],
    count=(2, 3, 5),
    second=SECONDS,
    prefers=PREFERS,
)
def _variadic_reduce(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    types = several_types(p, c.count, c.second)
    fills = [tied(fill_of("maximum", t, 1)) for t in types]  # equal ones, beside which another accumulator decides
    operands = [p.parameter(sizes, t, f) for t, f in zip(types, fills, strict=True)]
    starts = [p.parameter((), t, f) for t, f in zip(types, fills, strict=True)]
    axes = subset(c.reduced, c.rank, c.place)
    return p.add(Opcode.REDUCE, *operands, *starts, dimensions=axes, to_apply=several(p, types, c.prefers))


@domain(
    Opcode.REDUCE,
    variant="places",
    rule=EQUAL,
    types=NUMBERS,
    hiding=(),
    places=("minor",),
    sizes=LENGTHS,
    prefers=PREFERS,
)
def _places(p: Program, c: Choice) -> HloInstruction:
    """The largest element of rows and columns and its place, as programs compute argmax: the first or the last one."""
    results: list[HloInstruction] = []
    fill = tied(fill_of("maximum", p.type, 1))
    for index in (ElementType.S32, ElementType.S64, ElementType.U32):
        axis = (c.size + len(results) // 2) % 2
        sizes = (3, c.size) if axis else (c.size, 3)
        places = p.add(Opcode.IOTA, shape=p.shape(sizes, index), iota_dimension=axis)
        least = exactly(identity("maximum", p.type))
        starts = p.parameter((), fill=least), p.entry.constant(np.zeros((), index.dtype))
        operands = p.parameter(sizes, fill=fill), places, *starts
        to_apply = several(p, [p.type, index], c.prefers)
        largest = p.add(Opcode.REDUCE, *operands, dimensions=(axis,), to_apply=to_apply)
        results += [p.add(Opcode.GET_TUPLE_ELEMENT, largest, index=n) for n in (0, 1)]
    return p.add(Opcode.TUPLE, *results)


@domain(
    Opcode.REDUCE,
    variant="wide",
    rule=EQUAL,
    pairs=False,
    types_in_turns=True,
    types=[ElementType.F32, ElementType.S64, ElementType.BF16],
    sizes=MEDIUM,
    hiding=(),
    rank=RANKS[:3],
    reduced=REDUCED[:3],
    count=(9, 17),
    second=SECONDS,
    prefers=PREFERS,
)
def _wide_reduce(p: Program, c: Choice) -> HloInstruction:
    return _variadic_reduce(p, c)


@domain(Opcode.MAP, rule=EQUAL, rank=RANKS, count=(2, 1, 3, 17), result=("same", "pred"), ends=(True, False))
def _map(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place)
    fill = with_ends(terms(8)) if c.ends else terms(8)
    operands = [p.parameter(sizes, fill=fill) for _ in range(c.count)]

    def root(made: HloComputation, *parameters: HloInstruction) -> HloInstruction:
        total = parameters[0]
        for parameter in parameters[1:]:
            total = made.add(
                Opcode.SELECT, made.add(Opcode.COMPARE, total, parameter, direction="NE"), parameter, total
            )
        if c.result == "pred":
            return made.add(Opcode.COMPARE, total, parameters[0], direction="EQ")
        return made.add(Opcode.ADD, total, parameters[0])

    body = p.computation("body", [p.type] * c.count, root)
    return p.add(Opcode.MAP, *operands, dimensions=tuple(range(c.rank)), to_apply=body)


@domain(
    Opcode.SCAN,
    rule=EQUAL,
    sizes=(*MEDIUM, SIZES[3]),
    scalar=False,
    rank=(2, 1, 3, Group(4, 6)),
    along=("place", "minor", "middle"),
    inputs=(1, 2, 3),
    carries=(1, 2, 0, 3),
    reverse=(False, True),
    associative=(False, True),
    ends=(False, True),
)
def _scan(p: Program, c: Choice) -> HloInstruction:
    """Carry i is the sum of input i so far; each output is its carry before that."""
    sizes = dimensions(c.rank, c.size, c.place)
    axis = position(c.place if c.along == "place" else c.along, c.rank)
    slices = Shape(p.type, (*sizes[:axis], *sizes[axis + 1 :]))
    fill = terms(max(sizes) + 1)
    inputs = [p.parameter(sizes, fill=with_ends(fill) if c.ends else fill) for _ in range(c.inputs)]
    carries = [p.parameter(slices.dimensions, fill=fill) for _ in range(c.carries)]
    body = HloComputation("body")
    given = [body.parameter(i, slices) for i in range(c.inputs + c.carries)]
    xs, states = given[: c.inputs], given[c.inputs :]
    results = [body.add(Opcode.ADD, xs[i % c.inputs], state) for i, state in enumerate(states)]
    outputs = [results[i] if c.associative and i < len(results) else x for i, x in enumerate([*states, *xs])]
    body.set_root(body.add(Opcode.TUPLE, *outputs, *results))
    p.module.add_computation(body)
    return p.add(
        Opcode.SCAN,
        *inputs,
        *carries,
        shape=None,
        dimensions=(axis,),
        num_carries=c.carries,
        is_reverse=c.reverse,
        is_associative=c.associative,
        to_apply=body,
    )


@domain(
    Opcode.SCAN,
    variant="wide",
    rule=EQUAL,
    pairs=False,
    types_in_turns=True,
    types=[ElementType.F32, ElementType.S64],
    sizes=SMALL,
    hiding=(),
    rank=(2, 1),
    along=("minor", "middle"),
    inputs=(9, 2),
    carries=(9, 17),
    reverse=(False, True),
    associative=(False,),
    ends=(False,),
)
def _wide_scan(p: Program, c: Choice) -> HloInstruction:
    return _scan(p, c)
