"""Expressions that passes look for, planted in drawn programs.

A pass may be right for an expression that is a whole program, with parameters as operands, and wrong elsewhere. Here
operands come from other instructions and results go into others, up to three things are changed at once, and an
expression may be in a call, a branch, a loop or a fusion, or behind a barrier.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from xla_conformance.programs.drawn.programs import drawn_program
from xla_conformance.programs.drawn.steps import STEPS
from xla_conformance.programs.drawn.values import Drawing
from xla_conformance.programs.patterns.arithmetic import Row
from xla_conformance.programs.patterns.broken_conditions import expression, rows
from xla_conformance.programs.patterns.changes import changed, changes
from xla_conformance.programs.patterns.places import PLACES
from xla_conformance.programs.patterns.values import Value
from xla_conformance.programs.rewrites import Rewritten, is_inexact
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode, Shape

_T, _O = ElementType, Opcode
_PLANTED = 6
"""How many expressions a program has, if each one can be made."""
_MOST_CHANGES = 3
_SIZES: tuple[Sequence[int], ...] = (*[(4, 4)] * 9, (1, 4), (4, 1), (1, 1))
_ARGUMENTS = ((4, 4), (4, 4), (3, 4), (4,))
_FOLLOWS = 0.6
"""How often an expression has the type of the last value, if it may, so that it is of what another one gives."""
_PLACED = 0.3
"""How often an expression is a computation that is called, a branch, a loop's body or a fusion."""


def planted_programs(
    seed: int, first: int, count: int, held: Collection[ElementType] = tuple(ElementType)
) -> tuple[Rewritten, ...]:
    """Returns the programs from number `first` on. Each expression of the table is in one of about 55 programs.

    Args:
        held: the element types that values of an expression may have.
    """
    return tuple(_program(seed, number, held) for number in range(first, first + count))


def _program(seed: int, number: int, held: Collection[ElementType]) -> Rewritten:
    table = _table(seed)
    here = (table[n % len(table)] for n in itertools.count(number * _PLANTED))
    random = np.random.default_rng([seed, number, _PLANTED])
    left = iter(range(_PLANTED))

    def plant(drawing: Drawing) -> Value | None:
        return None if next(left, None) is None else _planted(drawing, *next(here), held)

    steps = (*STEPS, *[plant] * len(STEPS), _through_a_channel)
    return drawn_program(f"planted program {number} of seed {seed}", random, steps, _ARGUMENTS, held, depth=1)


@functools.cache
def _table(seed: int) -> list[tuple[Row, tuple[ElementType, ...]]]:
    """Every expression, in an order by the seed, with the types that it is exact in."""
    table = list(rows())
    return [table[n] for n in np.random.default_rng(seed).permutation(len(table))]


def _planted(drawing: Drawing, row: Row, types: Sequence[ElementType], held: Collection[ElementType]) -> Value | None:
    """Adds an expression with changes. All of its results are values of the program; the last one is returned."""
    last = drawing.values[-1].shape.element_type
    follows = last in types and drawing.happens(_FOLLOWS)
    module = _changed(drawing, row, last if follows else drawing.one(types))
    if module is None or not all(i.shape.element_type in held for i in module.entry.instructions if i.shape.is_array):
        return None
    if drawing.happens(_PLACED):
        module = drawing.one([*PLACES.values(), _fused])(module)
    operands = [_operand(drawing, p) for p in module.entry.parameters]
    results = list(_spliced(drawing, module, operands))
    drawing.values += results[:-1]
    return results[-1]


def _changed(drawing: Drawing, row: Row, element: ElementType) -> HloModule | None:
    """An expression with none to three changes, each of which may make another one possible."""
    module = expression(row, element, drawing.one(_SIZES)) or expression(row, element)
    for _ in range(drawing.number(0, _MOST_CHANGES + 1)):
        if module is None:
            return None
        found = [change for _, change in changes(module.entry)]
        for _ in range(3):  # some changes have no meaning
            made = changed(module, drawing.one(found)) if found else None
            if made is not None and not _is_rounded(made):
                module = made
                break
    return None if module is None or _is_rounded(module) else module


def _is_rounded(module: HloModule) -> bool:
    """Whether results depend on an order of sums, or on how a function is computed."""
    instructions = [i for c in module.computations for i in c.instructions]
    return any(is_inexact(i.opcode, i.shape) or _adds_floats(i) for i in instructions)


def _adds_floats(i: HloInstruction) -> bool:
    folds = (_O.REDUCE, _O.REDUCE_WINDOW, _O.SCATTER, _O.DOT)
    return i.opcode in folds and not i.shape.element_type.is_integral


def _fused(base: HloModule) -> HloModule:
    """A fusion of the expression, as a program that was optimized before has one."""
    module = base.clone()
    called = module.entry
    entry = module.add_computation(HloComputation(module.unique_name("whole")), entry=True)
    parameters = [entry.parameter(n, p.shape, p.name) for n, p in enumerate(called.parameters)]
    entry.set_root(entry.add(_O.FUSION, *parameters, shape=called.root.shape, kind="kLoop", calls=called))
    return module


def _through_a_channel(drawing: Drawing) -> Value | None:
    """A value that the program sends to itself."""
    value = drawing.pick()
    if value is None:
        return None
    add, channel = drawing.builder.add, drawing.number(1, 1 << 30)
    data, context, token = value.shape.without_layout(), Shape(_T.U32), Shape.token()
    sent = add(_O.SEND, value.instruction, add(_O.AFTER_ALL), channel_id=channel)
    begun = add(_O.RECV, add(_O.SEND_DONE, sent), shape=Shape.tuple([data, context, token]), channel_id=channel)
    done = add(_O.RECV_DONE, begun, shape=Shape.tuple([data, token]), channel_id=channel)
    return drawing.value(add(_O.GET_TUPLE_ELEMENT, done, index=0))


def _operand(drawing: Drawing, parameter: HloInstruction) -> Value:
    """A value of the program for a parameter of an expression, in its shape and type."""
    shape = parameter.shape.without_layout()
    if shape == Shape(_T.S32):
        return drawing.scalar()
    if drawing.happens(0.1):
        return drawing.constant(shape)
    found = drawing.pick(lambda value: value.shape.without_layout() == shape)
    if found is not None and drawing.happens(0.9):
        return found
    source = drawing.pick(lambda value: value.shape.element_type is shape.element_type) or drawing.array()
    if source.shape.element_type is not shape.element_type:
        source = source.to(shape.element_type.value)
    count, wanted = source.shape.num_elements, shape.num_elements
    flat = source.form(count)
    if count != wanted:
        flat = flat.cut(0, wanted) if count > wanted else flat.pad(0, wanted - count, value=1)
    return flat.form(*shape.dimensions)


def _spliced(drawing: Drawing, module: HloModule, operands: Sequence[Value]) -> Iterator[Value]:
    """Adds the instructions of a module to the program; yields its results."""
    module = module.clone()
    for computation in module.computations:
        if computation is not module.entry:
            drawing.module.add_computation(computation)
    made = {p: o.instruction for p, o in zip(module.entry.parameters, operands, strict=True)}
    for old in module.entry.post_order():
        if old.opcode is _O.TUPLE and old.is_root:
            break
        if old not in made:
            made[old] = drawing.computation.add_instruction(old.clone([made[o] for o in old.operands]))
    root = module.entry.root
    for result in root.operands if root.opcode is _O.TUPLE else (root,):
        yield from _arrays(drawing, made[result])


def _arrays(drawing: Drawing, value: HloInstruction) -> Iterator[Value]:
    if not value.shape.is_tuple:
        yield drawing.value(value)
        return
    for part in drawing.parts(value):
        yield from _arrays(drawing, part.instruction)
