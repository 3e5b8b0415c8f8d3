"""Domains of while, conditional and call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.choices import Choice
from xla_conformance.ops.comparison import EQUAL
from xla_conformance.ops.domain import domain
from xla_conformance.ops.element_types import EVERY
from xla_conformance.ops.fills import exactly, terms
from xla_conformance.ops.program import Program
from xla_conformance.ops.reducers import reducer
from xla_conformance.ops.sizes import SMALL, dimensions
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape

_T = ElementType


@domain(
    Opcode.WHILE,
    types_in_turns=True,
    rule=EQUAL,
    types=EVERY,
    rank=(1, 2, 3, 4),
    trips=(3, 0, 1, 2, 8, 37),
    counter=(_T.S32, _T.U8, _T.S64, _T.U32, _T.F32),
    state=("add", "swap", "rotate", "constant", "nested"),
    arrays=(1, 2, 3, 5),
)
def _while(p: Program, c: Choice) -> HloInstruction:
    """A counter and arrays, which each turn adds to, swaps, leaves or changes by a loop of its own."""
    sizes = dimensions(c.rank, c.size, c.place, 1 << 15)
    arrays = [p.parameter(sizes, fill=terms(64)) for _ in range(c.arrays)]
    counter, limit = p.parameter((), c.counter, exactly(0)), p.parameter((), c.counter, exactly(c.trips))
    start = p.add(Opcode.TUPLE, counter, limit, *arrays)
    loop = _loop(p, "loop", start, c.state)
    return p.add(Opcode.TUPLE, *(p.add(Opcode.GET_TUPLE_ELEMENT, loop, index=i) for i in range(2 + c.arrays)))


@domain(
    Opcode.WHILE,
    variant="array",
    pairs=False,
    types_in_turns=True,
    rule=EQUAL,
    types=[_T.S32, _T.U8, _T.S64, _T.F32, _T.BF16],
    sizes=SMALL,
    hiding=(1,),
    rank=(1, 2, 3),
    trips=(3, 0, 1),
)
def _array_loop(p: Program, c: Choice) -> HloInstruction:
    """The state is an array and no tuple. The loop adds to it while its largest element is below a limit."""
    state = p.parameter(dimensions(c.rank, c.size, c.place), fill=_below_three)
    condition, body = HloComputation("condition"), HloComputation("body")
    given, limit = condition.parameter(0, state.shape), np.asarray(2 + c.trips).astype(state.shape.dtype)
    least = condition.constant(np.asarray(0).astype(state.shape.dtype))
    dims, to_apply = tuple(range(c.rank)), reducer(p, "maximum", p.type)
    largest = condition.add(Opcode.REDUCE, given, least, dimensions=dims, to_apply=to_apply) if c.rank else given
    condition.set_root(condition.add(Opcode.COMPARE, largest, condition.constant(limit), direction="LT"))
    given = body.parameter(0, state.shape)
    one = body.constant(np.asarray(1).astype(state.shape.dtype), state.shape)
    body.set_root(body.add(Opcode.ADD, given, one))
    for made in (condition, body):
        p.module.add_computation(made)
    return p.add(Opcode.WHILE, state, condition=condition, body=body)


def _below_three(shape: Shape, random: np.random.Generator) -> np.ndarray:
    return np.asarray(random.integers(0, 3, shape.dimensions)).astype(shape.dtype)


def _loop(p: Program, name: str, start: HloInstruction, state: str) -> HloInstruction:
    """Adds a loop over (counter, limit, arrays...) to the computation of its operand."""
    shape, entry = start.shape, start.parent
    assert entry is not None
    condition, body = HloComputation(f"{name}_condition"), HloComputation(f"{name}_body")
    given = condition.parameter(0, shape)
    number, limit = (condition.add(Opcode.GET_TUPLE_ELEMENT, given, index=i) for i in range(2))
    condition.set_root(condition.add(Opcode.COMPARE, number, limit, direction="LT"))
    given = body.parameter(0, shape)
    number, limit, *arrays = (
        body.add(Opcode.GET_TUPLE_ELEMENT, given, index=i) for i in range(len(shape.tuple_shapes))
    )
    one = body.constant(np.asarray(1).astype(number.shape.dtype))
    after = body.add(Opcode.ADD, number, one)
    body.set_root(body.add(Opcode.TUPLE, after, limit, *_turned(p, name, body, arrays, state, number)))
    for made in (condition, body):
        p.module.add_computation(made)
    return entry.add(Opcode.WHILE, start, condition=condition, body=body)


def _turned(
    p: Program, name: str, body: HloComputation, arrays: list[HloInstruction], state: str, number: HloInstruction
) -> Sequence[HloInstruction]:
    if state == "add":
        ones = body.constant(np.asarray(1).astype(arrays[0].shape.dtype), arrays[0].shape)
        return [body.add(Opcode.ADD, arrays[0], ones), *arrays[1:]]
    if state == "swap":
        return [*reversed(arrays)]
    if state == "rotate":
        return [*arrays[1:], arrays[0]]
    if state == "nested":
        inner = body.add(Opcode.TUPLE, body.constant(np.asarray(0).astype(number.shape.dtype)), number, *arrays)
        loop = _loop(p, f"{name}_inner", inner, "rotate")
        return [body.add(Opcode.GET_TUPLE_ELEMENT, loop, index=2 + i) for i in range(len(arrays))]
    return arrays


@domain(
    Opcode.WHILE,
    types_in_turns=True,
    variant="euclid",
    sizes=(),
    types=(_T.S32, _T.U32, _T.S64),
    pair=((1071, 462), (17, 0), (1, 99)),
)
def _euclid(p: Program, c: Choice) -> HloInstruction:
    """How often it turns depends on the data."""
    start = p.add(Opcode.TUPLE, *(p.parameter(fill=exactly(n)) for n in c.pair))
    condition, body = HloComputation("condition"), HloComputation("body")
    rest = condition.add(Opcode.GET_TUPLE_ELEMENT, condition.parameter(0, start.shape), index=1)
    zero = condition.constant(np.asarray(0).astype(rest.shape.dtype))
    condition.set_root(condition.add(Opcode.COMPARE, rest, zero, direction="NE"))
    given = body.parameter(0, start.shape)
    a, b = (body.add(Opcode.GET_TUPLE_ELEMENT, given, index=i) for i in range(2))
    body.set_root(body.add(Opcode.TUPLE, b, body.add(Opcode.REMAINDER, a, b)))
    for made in (condition, body):
        p.module.add_computation(made)
    return p.add(Opcode.WHILE, start, condition=condition, body=body)


@domain(
    Opcode.CONDITIONAL,
    types_in_turns=True,
    rule=EQUAL,
    types=EVERY,
    rank=(1, 2, 3, 4),
    selector=("pred", "index", "constant index"),
    branches=(2, 1, 3, 17),
    taken=("first", "last", "middle", "below", "above", "lowest", "highest"),
    result=("array", "tuple"),
    work=("same", "different"),
)
def _conditional(p: Program, c: Choice) -> HloInstruction:
    """Each branch has an operand of its own size, and gives another number."""
    sizes = dimensions(c.rank, c.size, c.place, 1 << 15)
    count = 2 if c.selector == "pred" else c.branches
    index = {"first": 0, "last": count - 1, "middle": count // 2, "below": -1, "above": count}.get(c.taken, 0)
    index = {"lowest": -(1 << 31), "highest": (1 << 31) - 1}.get(c.taken, index)
    if c.selector == "pred":
        selector = p.parameter((), _T.PRED, exactly(index == 0))
    elif c.selector == "index":
        selector = p.parameter((), _T.S32, exactly(index))
    else:  # a pass may take the branch while it compiles
        selector = p.entry.constant(np.int32(index))
    operands = [p.parameter(sizes, fill=terms(4)) for _ in range(count)]
    given = [p.add(Opcode.TUPLE, o, operands[0]) if i % 2 else o for i, o in enumerate(operands)]
    made = [_branch(p, i, g.shape, c) for i, g in enumerate(given)]
    names = ("true_computation", "false_computation")
    called = dict(zip(names, made, strict=True)) if c.selector == "pred" else {"branch_computations": tuple(made)}
    return p.add(Opcode.CONDITIONAL, selector, *given, **called)


def _branch(p: Program, number: int, shape: Shape, c: Choice) -> HloComputation:
    branch = HloComputation(f"branch{number}")
    x = branch.parameter(0, shape)
    if shape.is_tuple:
        x = branch.add(Opcode.GET_TUPLE_ELEMENT, x, index=0)
    if c.work == "different" and number % 3 == 1:
        x = branch.add(Opcode.ADD, x, x)
    elif c.work == "different" and number % 3 == 2:
        x = branch.add(Opcode.REVERSE, x, dimensions=tuple(range(x.shape.rank)))
    constant = branch.constant(np.asarray(number % 2).astype(x.shape.dtype), x.shape)
    branch.set_root(branch.add(Opcode.TUPLE, x, constant) if c.result == "tuple" else x)
    return p.module.add_computation(branch)


@domain(
    Opcode.CALL,
    types_in_turns=True,
    rule=EQUAL,
    types=EVERY,
    rank=(1, 2, 3, 4),
    count=(2, 0, 1, 3, 9, 33),
    nested=(False, True),
    composite=(False, True),
    result=("array", "tuple"),
    pairs=False,
)
def _call(p: Program, c: Choice) -> HloInstruction:
    sizes = dimensions(c.rank, c.size, c.place, 1 << 15)
    operands = [p.parameter(sizes, fill=terms(1 + c.count)) for _ in range(c.count)]
    inner = _summed(p, "inner", operands, sizes, None, c)
    made = _summed(p, "outer", operands, sizes, inner, c) if c.nested else inner
    attributes: dict[str, Any] = {"is_composite": True, "frontend_attributes": _COMPOSITE} if c.composite else {}
    return p.add(Opcode.CALL, *operands, to_apply=made, **attributes)


_COMPOSITE = (("composite.attributes", "{}"), ("composite.name", "conformance.sum"), ("composite.version", "1"))


def _summed(
    p: Program,
    name: str,
    operands: Sequence[HloInstruction],
    sizes: Sequence[int],
    inner: HloComputation | None,
    c: Choice,
) -> HloComputation:
    made = HloComputation(name)
    parameters = [made.parameter(i, o.shape) for i, o in enumerate(operands)]
    if inner is not None:
        made.set_root(made.add(Opcode.CALL, *parameters, to_apply=inner))
        return p.module.add_computation(made)
    shape = p.shape(sizes)
    total = made.constant(np.asarray(1).astype(shape.dtype), shape)
    for parameter in parameters:
        total = made.add(Opcode.ADD, total, parameter)
    made.set_root(made.add(Opcode.TUPLE, total, *parameters[:1]) if c.result == "tuple" else total)
    return p.module.add_computation(made)
