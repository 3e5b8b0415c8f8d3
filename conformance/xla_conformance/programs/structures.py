"""Loops that exchange, drop and repeat parts of their states, and branches that do almost the same as each other.

A pass finds that a part of a state never changes, that two parts are one, that branches agree, or that an argument
isn't read. Here these hold for some parts and fail for others by one instruction, which is drawn from few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from xla_conformance.programs.rewrites import Rewritten
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode, Shape

_O = Opcode
_V = HloInstruction
_ARRAY, _NUMBER, _FLAG = Shape(ElementType.S32, (3,)), Shape(ElementType.S32), Shape(ElementType.PRED)
_COUNT, _MORE = 8, 24
_PARTS = 5


def states(seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns loops, in whose turns each part of the state becomes another one, or stays."""
    return tuple(_made(f"a loop of parts {n}", [seed, n], _with_loop) for n in range(_MORE if every else _COUNT))


def branches(seed: int, *, every: bool) -> tuple[Rewritten, ...]:
    """Returns conditionals, two after each other, whose branches give parts of their operands."""
    return tuple(_made(f"branches {n}", [seed, n], _with_branches) for n in range(_MORE if every else _COUNT))


_Way = Callable[[HloComputation, _V, _V, HloComputation], _V]
"""(computation, a part, another part, one that is called) -> what becomes of the part."""

_WAYS: tuple[_Way, ...] = (
    lambda c, own, other, called: own,
    lambda c, own, other, called: own,
    lambda c, own, other, called: other,
    lambda c, own, other, called: c.constant(np.int32(1), _ARRAY),
    lambda c, own, other, called: c.add(_O.SUBTRACT, own, other),
    lambda c, own, other, called: c.add(_O.SUBTRACT, other, own),
    lambda c, own, other, called: c.add(_O.NEGATE, own),
    lambda c, own, other, called: c.add(_O.REVERSE, own, dimensions=(0,)),
    lambda c, own, other, called: c.add(_O.CALL, own, other, to_apply=called),
    lambda c, own, other, called: c.add(_O.CALL, other, own, to_apply=called),
)


class _Program:
    """A program that is made by chance. Its computations call one other with operands in either order."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.module = HloModule("structure")
        self.entry = self.module.add_computation(HloComputation("main"), entry=True)
        self.called = self.computation("difference")
        a, b = (self.called.parameter(n, _ARRAY) for n in range(2))
        self.called.set_root(self.called.add(_O.SUBTRACT, a, b))
        self.arrays = [self.entry.parameter(n, _ARRAY, f"w{n}") for n in range(3)]
        self.arrays.append(self.entry.constant(np.int32(1), _ARRAY))

    def computation(self, name: str) -> HloComputation:
        return self.module.add_computation(HloComputation(self.module.unique_name(name)))

    def happens(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def one(self, *values: _V) -> _V:
        return values[self.random.integers(len(values))]

    def state(self, count: int, *first: _V) -> _V:
        """Adds a tuple of arrays, of which some are the same."""
        return self.entry.add(_O.TUPLE, *first, *(self.one(*self.arrays) for _ in range(count)))

    def recipe(self, part: int, parts: int) -> tuple[_Way, int]:
        """Returns what becomes of one of the parts, and with which other part."""
        return _WAYS[self.random.integers(len(_WAYS))], int(part + self.random.integers(1, parts)) % parts

    def new(self, c: HloComputation, old: Sequence[_V], recipes: Sequence[tuple[_Way, int]]) -> list[_V]:
        return [way(c, own, old[other], self.called) for own, (way, other) in zip(old, recipes, strict=True)]

    def finish(self, results: Sequence[_V]) -> str:
        """Makes most of the values results. The others are not read."""
        kept = [r for r in results if self.happens(0.7)] or results[:1]
        self.entry.set_root(self.entry.add(_O.TUPLE, *kept))
        return str(self.module)


def _made(name: str, seed: Sequence[int], add: Callable[[_Program], list[_V]]) -> Rewritten:
    program = _Program(np.random.default_rng(seed))
    return Rewritten(name, program.finish(add(program)))


def _elements(c: HloComputation, value: _V) -> list[_V]:
    return [c.add(_O.GET_TUPLE_ELEMENT, value, index=n) for n in range(len(value.shape.tuple_shapes))]


def _with_loop(p: _Program) -> list[_V]:
    """Adds a loop of 0 to 4 turns, which is known or depends on an argument. One turn may be unlike the others."""
    limit = p.entry.constant(np.int32(p.random.integers(5)))
    if p.happens(0.3):
        ends = [p.entry.constant(np.int32(n)) for n in (0, 3)]
        limit = p.entry.add(_O.CLAMP, ends[0], p.entry.parameter(3, _NUMBER, "k"), ends[1])
    start = p.state(_PARTS, p.entry.constant(np.int32(0)), limit)
    condition, body = p.computation("condition"), p.computation("body")
    number, most, *_ = _elements(condition, condition.parameter(0, start.shape))
    condition.set_root(condition.add(_O.COMPARE, number, most, direction="LT"))
    number, most, *old = _elements(body, body.parameter(0, start.shape))
    turn = body.add(_O.COMPARE, number, body.constant(np.int32(p.random.integers(3))), direction="EQ")
    turn = body.add(_O.BROADCAST, turn, shape=_ARRAY.with_element_type(ElementType.PRED), dimensions=())
    new = p.new(body, old, [p.recipe(n, _PARTS) for n in range(_PARTS)])
    new = [body.add(_O.SELECT, turn, p.one(*old), value) if p.happens(0.2) else value for value in new]
    number = body.add(_O.ADD, number, body.constant(np.int32(1)))
    body.set_root(body.add(_O.TUPLE, number, most, *new))
    number, _, *results = _elements(p.entry, p.entry.add(_O.WHILE, start, condition=condition, body=body))
    return [*results, p.entry.add(_O.SUBTRACT, results[0], start.operand(2)), number]


def _with_branches(p: _Program) -> list[_V]:
    """Adds two conditionals. The second one may take the first one's results, and have its condition or another."""
    flag, number = p.entry.parameter(3, _FLAG), p.entry.parameter(4, _NUMBER, "i")
    first = _conditional(p, p.one(flag, number))
    p.arrays += first
    second = _conditional(p, p.one(flag, number, p.entry.add(_O.NOT, flag), p.entry.constant(np.bool_(False))))
    return [*first, *second]


def _conditional(p: _Program, condition: _V) -> list[_V]:
    """Adds a conditional whose branches do the same with their operands, but for one part in each."""
    count, parts = 2 if condition.shape == _FLAG else 3, 3
    operands = [p.state(parts)] * count if p.happens(0.5) else [p.state(parts) for _ in range(count)]
    recipes = [p.recipe(n, parts) for n in range(parts)]
    made = []
    for operand in operands:
        branch = p.computation("branch")
        old = _elements(branch, branch.parameter(0, operand.shape))
        changed = int(p.random.integers(parts))
        recipes[changed] = p.recipe(changed, parts)
        branch.set_root(branch.add(_O.TUPLE, *p.new(branch, old, recipes)))
        made.append(branch)
    names = ("true_computation", "false_computation")
    called = dict(zip(names, made, strict=True)) if count == 2 else {"branch_computations": tuple(made)}
    return _elements(p.entry, p.entry.add(_O.CONDITIONAL, condition, *operands, **called))
