"""Draws programs by chance. A seed gives the same programs each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from xla_conformance.programs.drawn.steps import STEPS
from xla_conformance.programs.drawn.values import Drawing, Step
from xla_conformance.programs.patterns.values import Value
from xla_conformance.programs.rewrites import Rewritten
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloComputation, HloModule, Opcode, Shape

_T, _O = ElementType, Opcode
_NUMBERS = (_T.U8, _T.S8, _T.U32, _T.F32, _T.S16, _T.S64)
_SIZES = ((4,), (3,), (3, 4), (2, 3), (4, 4), (3, 1))
_STEPS, _INNER, _DEPTH = 11, 3, 2
_CONTROL = 0.12
"""How often the next step is a call, a loop or a branch."""
_MOST = 64
"""The most elements of an array."""
_READ = 0.85
"""How many values without users are results. The others are dead."""


def drawn_programs(
    seed: int, first: int, count: int, held: Collection[ElementType] = tuple(ElementType)
) -> tuple[Rewritten, ...]:
    """Returns the programs from number `first` on.

    Args:
        held: the element types that values may have, besides s32 and pred.
    """
    return tuple(
        drawn_program(f"drawn program {n} of seed {seed}", np.random.default_rng([seed, n]), STEPS, _SIZES, held)
        for n in range(first, first + count)
    )


def drawn_program(
    name: str,
    random: np.random.Generator,
    steps: Sequence[Step],
    sizes: Sequence[tuple[int, ...]],
    held: Collection[ElementType],
    depth: int = _DEPTH,
) -> Rewritten:
    """Draws a program of these steps, whose arguments have some of the sizes.

    Args:
        held: the element types that values may have, besides s32 and pred.
        depth: how deep its calls, loops and branches may be.
    """
    module = HloModule("drawn")
    entry = module.add_computation(HloComputation("main"), entry=True)
    numbers = [t for t in _NUMBERS if t in held]
    others = [numbers[n] for n in random.permutation(len(numbers))[:2]]
    types = (_T.S32, _T.PRED, *others)
    drawing = Drawing(random, module, entry, types, steps, [], depth)
    own = others[0] if others else _T.S32
    for n, (parameter, element) in enumerate(
        (("x", _T.S32), ("y", own if own.is_integral else _T.S32), ("v", own), ("w", _T.S32), ("p", _T.PRED))
    ):
        shape = Shape(element, drawing.one(sizes))
        drawing.values.append(drawing.value(entry.parameter(n, shape, parameter)))
    drawing.values.append(drawing.value(entry.parameter(5, Shape(_T.S32), "i")))
    _draw(drawing, _STEPS)
    unread = [v for v in drawing.values if not v.instruction.user_count]
    kept = [v for v in unread if drawing.happens(_READ)] or [drawing.values[-1]]
    kept += [v for v in drawing.values if v.instruction.user_count and drawing.happens(0.1)]
    entry.set_root(entry.add(_O.TUPLE, *(v.instruction for v in kept)))
    return Rewritten(name, str(module))


def _draw(drawing: Drawing, count: int) -> None:
    """Adds values to a drawing."""
    for _ in range(count):
        inside = drawing.depth and drawing.happens(_CONTROL)
        step = drawing.one(_INSIDE) if inside else _one_step
        drawing.values += step(drawing)


def _one_step(drawing: Drawing) -> list[Value]:
    try:
        value = drawing.one(drawing.steps)(drawing)
    except InvalidArgumentError:  # a window or padding that leaves less than nothing, or an op without this type
        return []
    return [value] if value is not None and value.shape.num_elements <= _MOST else []


def _given(drawing: Drawing) -> list[Value]:
    """Some of the values, of which one may be there twice."""
    found = [drawing.pick() for _ in range(drawing.number(1, 4))]
    return [value for value in found if value is not None]


def _shapes(values: Sequence[Value]) -> list[Shape]:
    return [value.shape for value in values]


def _called(drawing: Drawing) -> list[Value]:
    """Calls of one computation, with its operands and often with others."""
    given = _given(drawing)
    inner = drawing.inner("called", _shapes(given))
    _draw(inner, _INNER)
    results = inner.values[-drawing.number(1, 3) :]
    single = results[0].instruction
    inner.computation.set_root(
        single if len(results) == 1 else inner.builder.tuple([value.instruction for value in results])
    )
    calls = [given, [drawing.like(value) for value in given]] if drawing.happens(0.6) else [given]
    made = []
    for operands in calls:
        call = drawing.builder.add(_O.CALL, *(v.instruction for v in operands), to_apply=inner.computation)
        made += [drawing.value(call)] if len(results) == 1 else drawing.parts(call)
    return made


def _branches(drawing: Drawing) -> list[Value]:
    """A choice between computations of the same values. What they give has the shapes of these."""
    given = _given(drawing)
    operand = drawing.builder.tuple([value.instruction for value in given])
    test = drawing.scalar()
    count = drawing.number(2, 4)
    condition = test.compare("LT", drawing.constant(test.shape)) if count == 2 else test
    others = [drawing.like(value).instruction for value in given]
    operands = [operand, drawing.builder.tuple(others), operand][:count]
    branches = []
    for _ in operands:
        inner = drawing.of_tuple("branch", operand.shape)
        _draw(inner, _INNER)
        inner.computation.set_root(inner.builder.tuple([_new(inner, v.shape).instruction for v in given]))
        branches.append(inner.computation)
    called = (
        {"true_computation": branches[0], "false_computation": branches[1]}
        if count == 2
        else {"branch_computations": tuple(branches)}
    )
    return drawing.parts(drawing.builder.add(_O.CONDITIONAL, condition.instruction, *operands, **called))


def _loop(drawing: Drawing) -> list[Value]:
    """A loop of 0 to 3 turns, which is known, or depends on a number."""
    given = _given(drawing)
    zero = drawing.builder.constant(np.int32(0))
    limit = drawing.builder.constant(np.int32(drawing.number(0, 4)))
    if drawing.happens(0.4):
        limit = drawing.scalar().limit(0, 3).instruction
    state = drawing.builder.tuple([zero, limit, *(value.instruction for value in given)])
    condition = drawing.of_tuple("condition", state.shape)
    count, most, *_ = condition.values
    condition.computation.set_root(count.compare("LT", most).instruction)
    body = drawing.of_tuple("body", state.shape)
    count, most, *_ = body.values
    _draw(body, _INNER)
    new = [_new(body, value.shape).instruction for value in given]
    body.computation.set_root(body.builder.tuple([(count + 1).instruction, most.instruction, *new]))
    loop = drawing.builder.add(_O.WHILE, state, condition=condition.computation, body=body.computation)
    return drawing.parts(loop)[2:]


def _new(drawing: Drawing, shape: Shape) -> Value:
    """A value of a shape, often a new one."""
    found = drawing.pick(lambda value: value.shape == shape)
    assert found is not None  # what the computation was given is one
    return found.op(_O.SUBTRACT, drawing.like(found)) if drawing.happens(0.4) and _is_number(shape) else found


def _is_number(shape: Shape) -> bool:
    return shape.element_type is not _T.PRED


_INSIDE: tuple[Callable[[Drawing], list[Value]], ...] = (_called, _called, _branches, _loop)
