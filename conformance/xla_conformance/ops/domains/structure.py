"""Domains of ops that arrange values, start and end asynchronous work, and know the sizes of dynamic dimensions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import EQUAL, EXACT
from xla_conformance.ops.domain import domain
from xla_conformance.ops.domains.movement import INDEX_TYPES, RANKS, reshaped
from xla_conformance.ops.element_types import WITH_ZERO
from xla_conformance.ops.fills import exactly, terms
from xla_conformance.ops.program import Program
from xla_conformance.ops.sizes import SIZES, dimensions, position
from xla_conformance.ops.values import patterns
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Literal, Opcode, Shape

_T = ElementType
_COUNTS = (2, 0, 1, 3, 9, 33)


def _parts(p: Program, c: Choice, count: int) -> list[HloInstruction]:
    """Adds parameters of different shapes and types."""
    sizes = dimensions(c.rank, c.size, c.place, 1 << 16)
    others = [(p.type, sizes), (_T.S32, (3,)), (p.type, (2, 5)), (_T.PRED, ()), (_T.F32, sizes), (p.type, sizes)]
    return [p.parameter(s, t) for t, s in itertools.islice(itertools.cycle(others), count)]


@domain(Opcode.CONSTANT, types_in_turns=True, rank=RANKS[:4], pairs=False)
def _constant(p: Program, c: Choice) -> HloInstruction:
    shape = p.shape(dimensions(c.rank, c.size, c.place, 1 << 12))
    literal = Literal(patterns(shape, [c.size, c.rank]), shape)
    return p.add(Opcode.CONSTANT, shape=shape, literal=literal)


@domain(Opcode.TUPLE, types_in_turns=True, variant="empty", types=(_T.F32,), sizes=())
def _empty_tuple(p: Program, c: Choice) -> HloInstruction:
    return p.add(Opcode.TUPLE)


@domain(Opcode.TUPLE, types_in_turns=True, rank=RANKS[:4], count=(2, 1, 3, 9, 33), nested=(False, True), pairs=False)
def _tuple(p: Program, c: Choice) -> HloInstruction:
    parts = _parts(p, c, c.count)
    if not c.nested or len(parts) < 2:
        return p.add(Opcode.TUPLE, *reversed(parts))
    inner = p.add(Opcode.TUPLE, *parts[1:], parts[0])
    elements = [p.add(Opcode.GET_TUPLE_ELEMENT, inner, index=i) for i in range(len(parts))]
    return p.add(Opcode.TUPLE, *reversed(elements))


@domain(
    Opcode.GET_TUPLE_ELEMENT,
    types_in_turns=True,
    rank=RANKS[:4],
    count=(3, 5, 9),
    element=("last", "first", 1, 2),
    pairs=False,
)
def _get_tuple_element(p: Program, c: Choice) -> HloInstruction:
    whole = p.add(Opcode.OPT_BARRIER, p.add(Opcode.TUPLE, *_parts(p, c, c.count)))
    index = min({"last": c.count - 1, "first": 0}.get(c.element, c.element), c.count - 1)
    return p.add(Opcode.GET_TUPLE_ELEMENT, whole, index=index)


@domain(Opcode.OPT_BARRIER, types_in_turns=True, rank=RANKS[:4], count=(1, 2, 3), pairs=False)
def _opt_barrier(p: Program, c: Choice) -> HloInstruction:
    parts = _parts(p, c, c.count)
    return p.add(Opcode.OPT_BARRIER, parts[0] if c.count == 1 else p.add(Opcode.TUPLE, *parts))


@domain(Opcode.DOMAIN, types_in_turns=True, rank=RANKS[:4], given=(True, False), pairs=False)
def _domain(p: Program, c: Choice) -> HloInstruction:
    marks = '{kind="sharding", entry={maximal device=0}, exit={maximal device=0}}' if c.given else None
    return p.add(Opcode.DOMAIN, *_parts(p, c, 1), domain=marks)


@domain(Opcode.ADD_DEPENDENCY, types_in_turns=True, rank=RANKS[:4], count=_COUNTS, pairs=False)
def _add_dependency(p: Program, c: Choice) -> HloInstruction:
    return _after(p, c)


@domain(Opcode.AFTER_ALL, types_in_turns=True, rank=RANKS[:4], count=_COUNTS, pairs=False)
def _after_all(p: Program, c: Choice) -> HloInstruction:
    return _after(p, c)


def _after(p: Program, c: Choice) -> HloInstruction:
    tokens = [p.add(Opcode.AFTER_ALL) for _ in range(c.count)]
    return p.add(Opcode.ADD_DEPENDENCY, *_parts(p, c, 1), p.add(Opcode.AFTER_ALL, *tokens))


@domain(Opcode.COPY_START, types_in_turns=True, rank=RANKS[:4], prefetch=(None, 0, 1, 2, 3), pairs=False)
def _copy_start(p: Program, c: Choice) -> HloInstruction:
    start = p.add(Opcode.COPY_START, *_parts(p, c, 1), cross_program_prefetch_index=c.prefetch)
    return p.add(Opcode.COPY_DONE, start)


@domain(Opcode.COPY_DONE, types_in_turns=True, rank=RANKS[:4], pairs=False)
def _copy_done(p: Program, c: Choice) -> HloInstruction:
    return p.add(Opcode.COPY_DONE, p.add(Opcode.COPY_START, *_parts(p, c, 1)))


@domain(
    Opcode.BITCAST, types_in_turns=True, rank=RANKS, form=("flat", "reversed", "split", "ones", "merged"), pairs=False
)
def _bitcast(p: Program, c: Choice) -> HloInstruction:
    """The operand's bytes in the same order, under other dimensions or as a transpose."""
    sizes = dimensions(c.rank, c.size, c.place, 1 << 16)
    return p.add(Opcode.BITCAST, p.parameter(sizes), shape=p.shape(reshaped(sizes, c.form)))


def _added(p: Program, name: str, shape: Shape, count: int) -> HloComputation:
    """Adds a computation that adds its parameters to ones."""
    made = HloComputation(name)
    total = made.constant(np.asarray(1).astype(shape.dtype), shape)
    for number in range(count):
        total = made.add(Opcode.ADD, total, made.parameter(number, shape))
    made.set_root(total)
    return p.module.add_computation(made)


def _wrapped(p: Program, c: Choice) -> tuple[list[HloInstruction], HloComputation]:
    shape = p.shape(dimensions(c.rank, c.size, c.place, 1 << 16))
    operands = [p.parameter(shape.dimensions, fill=terms(1 + c.count)) for _ in range(c.count)]
    return operands, _added(p, "wrapped", shape, c.count)


_KINDS = ("kLoop", "kInput", "kOutput")


@domain(Opcode.FUSION, types_in_turns=True, rule=EQUAL, rank=RANKS[:4], count=_COUNTS, kind=_KINDS, pairs=False)
def _fusion(p: Program, c: Choice) -> HloInstruction:
    operands, called = _wrapped(p, c)
    return p.add(Opcode.FUSION, *operands, kind=c.kind, calls=called)


def _asynchronous(p: Program, c: Choice) -> HloInstruction:
    operands, called = _wrapped(p, c)
    thread = {} if c.thread is None else {"async_execution_thread": c.thread}
    again = {**thread, **({"calls": called} if c.named else {})}
    value = p.add(Opcode.ASYNC_START, *operands, calls=called, **thread)
    for _ in range(c.updates):
        value = p.add(Opcode.ASYNC_UPDATE, value, **again)
    return p.add(Opcode.ASYNC_DONE, value, **again)


for _opcode, _updates in ((Opcode.ASYNC_START, (0, 1)), (Opcode.ASYNC_UPDATE, (1, 2)), (Opcode.ASYNC_DONE, (0, 2))):
    domain(
        _opcode,
        rule=EQUAL,
        rank=RANKS[:4],
        count=_COUNTS,
        updates=_updates,
        thread=(None, "main"),
        named=(True, False),
        pairs=False,
    )(_asynchronous)


# -- dynamic dimensions -----------------------------------------------------------------------------------------------


@domain(
    Opcode.GET_DIMENSION_SIZE,
    types_in_turns=True,
    rule=EXACT,
    rank=RANKS,
    asked=("major", "middle", "minor"),
    pairs=False,
)
def _get_dimension_size(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(max(c.rank, 1), c.size, c.place, 1 << 16)
    return p.add(Opcode.GET_DIMENSION_SIZE, p.parameter(sizes), dimensions=(position(c.asked, len(sizes)),))


_ACTUAL = ("less", "all", "one", "none")


@domain(
    Opcode.SET_DIMENSION_SIZE,
    types_in_turns=True,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=SIZES[:6],
    rank=RANKS[:4],
    actual=_ACTUAL,
    index=INDEX_TYPES,
    scalar=False,
)
def _set_dimension_size(p: Program, c: Choice) -> HloInstruction:
    """Returns the sizes, and the sum of the elements that are left."""
    sizes, axis = dimensions(c.rank, c.size, c.place, 1 << 14), position(c.place, c.rank)
    bound = sizes[axis]
    wanted = {"less": bound * 2 // 3, "all": bound, "one": min(1, bound), "none": 0}[c.actual]
    actual = min(wanted, c.index.integer_range[1])
    operand = p.parameter(sizes, fill=terms(math.prod(sizes) + 1))
    size = p.parameter((), c.index, exactly(actual))
    dynamic = p.add(Opcode.SET_DIMENSION_SIZE, operand, size, dimensions=(axis,))
    return _measured(p, dynamic)


def _measured(p: Program, value: HloInstruction) -> HloInstruction:
    """Adds the sizes of a dynamic array, and the sum of its elements."""
    ranks = range(value.shape.rank)
    counts = [p.add(Opcode.GET_DIMENSION_SIZE, value, dimensions=(d,)) for d in ranks]
    plus = p.computation("plus", [p.type, p.type], lambda made, a, b: made.add(Opcode.ADD, a, b))
    zero = p.entry.constant(np.asarray(0).astype(p.type.dtype))
    return p.add(Opcode.TUPLE, *counts, p.add(Opcode.REDUCE, value, zero, dimensions=tuple(ranks), to_apply=plus))


@domain(
    Opcode.DYNAMIC_RESHAPE,
    types_in_turns=True,
    rule=EQUAL,
    types=WITH_ZERO,
    sizes=SIZES[:6],
    places=("minor",),
    into=(2, 1, 3, 5),
    index=INDEX_TYPES[:3],
    bounds=("exact", "loose"),
)
def _dynamic_reshape(p: Program, c: Choice) -> HloInstruction:
    operand = p.parameter((3, c.size), fill=terms(3 * c.size + 1))
    sizes: Sequence[int] = {1: (3 * c.size,), 2: (c.size, 3), 3: (1, 3, c.size), 5: (3, 1, c.size, 1, 1)}[c.into]
    given = [p.parameter((), c.index, exactly(n)) for n in sizes]
    bounds = tuple(n + (2 if c.bounds == "loose" else 0) for n in sizes)
    shape = Shape(p.type, bounds, None, (True,) * len(bounds))
    return _measured(p, p.add(Opcode.DYNAMIC_RESHAPE, operand, *given, shape=shape))
