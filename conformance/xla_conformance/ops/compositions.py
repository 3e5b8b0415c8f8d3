"""Programs of two ops, the second of which takes the first one's result. A pass may rewrite such a pair.

A link is an op with attributes, made from the op table. It is applied to a value. Its other operands are those of the
value's own instruction where they fit, as in (a + b) - b and select(a > b, a, b), else arguments or constants.

Each op with an exact result rounds it, so a device that contracts a product and a sum is wrong. Compilers contract only
products that have one user, so in programs of sums each pair has arguments of its own.

A function's result may have an error, which the next op makes larger. So of two functions, as in log(exp(a)), those
elements count where both results are zeros, infinities or NaNs, which have no error.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterator, Set
from typing import Literal

import numpy as np

from xla_conformance.ops.comparison import Expected, rule_for
from xla_conformance.ops.links import OF_INTEGERS, Link, links, other_operand
from xla_conformance.ops.values import special_values
from xla_core import evaluate
from xla_core.hlo import OPS, ElementType, HloComputation, HloInstruction, HloModule, Opcode, Shape, Trait

_T = ElementType
Level = Literal[0, 1, 2]

_TYPES = (_T.F32, _T.S32, _T.U8, _T.F64)
_COUNT = 18
_SIZES = (7, 7, 7)  # all pairs of values; a dimension that is taken for another shows in the elements
_SHARE = 20
"""In the quick profile, each op comes after one of so many others, after related ones, and after integers as floats."""

_MOVING = {
    *(Opcode.TRANSPOSE, Opcode.RESHAPE, Opcode.BROADCAST, Opcode.REVERSE, Opcode.SLICE, Opcode.PAD),
    *(Opcode.CONCATENATE, Opcode.DYNAMIC_SLICE),
}
_RELATED = (
    {Opcode.ADD, Opcode.SUBTRACT, Opcode.MULTIPLY},
    {Opcode.CONVERT, Opcode.REDUCE_PRECISION},
    {Opcode.COMPARE, Opcode.SELECT, Opcode.NOT, Opcode.AND, Opcode.OR, Opcode.XOR},
    {
        *(Opcode.EXPONENTIAL, Opcode.EXPONENTIAL_MINUS_ONE, Opcode.LOG, Opcode.LOG_PLUS_ONE, Opcode.POWER),
        *(Opcode.SQRT, Opcode.RSQRT, Opcode.CBRT, Opcode.MULTIPLY),
    },
)
"""Ops that passes merge with each other, besides those that move elements."""

_SHIFTS = {Opcode.SHIFT_LEFT, Opcode.SHIFT_RIGHT_ARITHMETIC, Opcode.SHIFT_RIGHT_LOGICAL}
_RELATED_INTEGERS = (
    {Opcode.ADD, Opcode.SUBTRACT, Opcode.MULTIPLY, Opcode.DIVIDE, Opcode.NEGATE},
    {Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.NOT, *_SHIFTS},
)
"""Ops of integers that passes merge with each other: (a << b) >> b keeps fewer bits than a. Floats have no shifts."""

_OF_INTEGERS = {Opcode.REDUCE, Opcode.DOT}
"""Ops whose results are exact in integers, where floats have an order of sums."""

_FOLDED = {Opcode.ADD, Opcode.SUBTRACT, Opcode.MULTIPLY, Opcode.DIVIDE}
"""Ops that compilers compute of constants, where each result is rounded, too."""


@dataclasses.dataclass(frozen=True)
class Composition:
    """The links of one op after others, in one program. Each result is that of one pair.

    Attributes:
        last, first: the links of the op, and the links of its operand.
        levels: the optimization levels that it is compiled at, as a pass may run at one of them alone.
        apart: whether each pair has arguments of its own, so that its first op has no other user.
        functions: whether the ops are functions whose results may have an error.
        folded: whether the program is compiled once more with constants as arguments.
        held: the element types that values of the program may have.
    """

    opcode: Opcode
    element_type: ElementType
    last: tuple[Link, ...]
    first: tuple[Link, ...]
    levels: tuple[Level, ...] = (2, 0, 1)
    apart: bool = False
    functions: bool = False
    folded: bool = False
    held: Collection[ElementType] = tuple(ElementType)

    @property
    def name(self) -> str:
        return f"{self.opcode}-{self.element_type.value}" + ("-functions" if self.functions else "")

    @property
    def is_possible(self) -> bool:
        """Whether the program has a result."""
        return any(True for _ in self._results(HloComputation("main")))

    def module(self) -> HloModule | None:
        """Makes the program; None if it has no result."""
        module, entry = HloModule("composition"), HloComputation("main")
        results = list(self._results(entry))
        if not results:
            return None
        entry.set_root(entry.add(Opcode.TUPLE, *results))
        for instruction in entry.instructions:
            for called in instruction.called_computations:
                module.add_computation(called)
        module.add_computation(entry, entry=True)
        return module

    def _results(self, entry: HloComputation) -> Iterator[HloInstruction]:
        pairs = _pairs(entry, Shape(self.element_type, _SIZES))
        x, y = next(pairs)
        for first in self.first:
            apart = self.apart or first.name == OF_INTEGERS  # code for a value that was stored knows nothing of it
            for group in [(link,) for link in self.last] if apart else [self.last]:
                if apart:
                    x, y = next(pairs)
                value = first.apply(x, y, exact=not self.functions)
                if value is None or value.shape.element_type not in self.held:
                    break
                other = other_operand(value, y)
                for last in group:
                    result = last.apply(value, other, exact=not self.functions)
                    if result is not None and result.shape.element_type in self.held:
                        yield result

    def arguments(self, module: HloModule, seed: int) -> list[np.ndarray]:
        """Pairs of arrays of numbers and special values, in which each meets each."""
        random = np.random.default_rng(seed)
        values = _far_values if self.functions else _values
        x, y = (values(self.element_type, random) for _ in range(2))
        made: list[np.ndarray] = []
        while len(made) < len(module.entry.parameters):
            order = np.resize(random.permutation(_COUNT**2), math.prod(_SIZES))
            made += [np.repeat(x, _COUNT)[order].reshape(_SIZES), np.tile(y, _COUNT)[order].reshape(_SIZES)]
        return made

    def expected(self, module: HloModule, arguments: list[np.ndarray]) -> list[Expected]:
        """Returns the results that the program must give."""
        values = [np.asarray(value) for value in evaluate(module, *arguments)]
        if not self.functions:
            return [Expected(value) for value in values]
        copy = module.clone()
        pairs = [[o for o in result.operands if _may_have_an_error(o)] for result in copy.entry.root.operands]
        firsts = list(dict.fromkeys(o for operands in pairs for o in operands))
        copy.entry.set_root(copy.entry.add(Opcode.TUPLE, *firsts))
        settled = {o: _is_settled(np.asarray(v)) for o, v in zip(firsts, evaluate(copy, *arguments), strict=True)}
        return [
            Expected(value, free=~np.logical_and.reduce([_is_settled(value), *(settled[o] for o in operands)]))
            for value, operands in zip(values, pairs, strict=True)
        ]

    def operands(self, module: HloModule, arguments: list[np.ndarray], number: int) -> list[np.ndarray]:
        """Returns the arrays from which the last op computes a result."""
        copy = module.clone()
        copy.entry.set_root(copy.entry.add(Opcode.TUPLE, *copy.entry.root.operands[number].operands))
        return [np.asarray(a) for a in evaluate(copy, *arguments)]


def compositions(seed: int, *, every: bool) -> Iterator[Composition]:
    """Yields the compositions of each op: after all others, or after some, which depend on the seed."""
    opcodes = list(dict.fromkeys(link.opcode for link in links()))
    for number, opcode in enumerate(opcodes):
        related = _related(opcode)
        last = tuple(link for link in links() if link.opcode == opcode)
        near = links() if every else tuple(link for link in links() if link.opcode in related)
        some = tuple(
            link
            for turn, link in enumerate(links())
            if link in near or link.name == OF_INTEGERS or (turn - number - seed) % _SHARE == 0
        )
        levels: tuple[Level, ...] = (2, 0, 1)
        if OPS[opcode].is_elementwise and not every:
            levels = (2, 0) if (number + seed) % 2 else (2, 1)
        types = _TYPES if every else _types_of(opcode)
        for element_type in types:
            first = some if element_type is types[0] else near
            apart = element_type.is_floating and opcode in (Opcode.ADD, Opcode.SUBTRACT)
            folded = element_type.is_floating and opcode in _FOLDED
            made = Composition(opcode, element_type, last, first, levels, apart, folded=folded)
            if made.is_possible:
                yield made
        integers = next((some for some in _RELATED_INTEGERS if opcode in some), set[Opcode]())
        if integers and not every:
            related_links = [link for link in links() if link.opcode in integers and not link.keeps]
            first, second = (tuple(link for link in related_links if link.opcode in of) for of in (integers, {opcode}))
            yield Composition(opcode, _T.S32, second, first, levels if opcode in _SHIFTS else (2,))
        if _is_function(opcode):
            first = tuple(link for link in near if _is_function(link.opcode) or link.opcode == Opcode.MULTIPLY)
            if every or len(first) > len(last):
                yield Composition(opcode, _T.F32, last, first, levels, functions=True)


def _types_of(opcode: Opcode) -> tuple[ElementType, ...]:
    """Returns the types of the quick profile. A float may lie between integers only if the first one is an integer."""
    if opcode in _OF_INTEGERS:
        return (_T.S32,)
    return (_T.F32, _T.S32) if opcode == Opcode.CONVERT else (_T.F32,)


def _related(opcode: Opcode) -> Set[Opcode]:
    """Returns the ops that passes merge with one that gets their result.

    An op without related ops comes after itself and, unless it is elementwise, after the ops that move elements. A
    device without such an op then misses no other pair. Sums also come after conversions, which make them wider.
    """
    if opcode in _MOVING:
        return _MOVING
    found = next((some for some in _RELATED if opcode in some), {opcode})
    if len(found) > 1 or OPS[opcode].is_elementwise:
        return found
    return {*_MOVING, opcode, *((Opcode.CONVERT,) if opcode in _OF_INTEGERS else ())}


def _pairs(entry: HloComputation, shape: Shape) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Adds two parameters after another two."""
    for number in itertools.count(0, 2):
        yield entry.parameter(number, shape), entry.parameter(number + 1, shape)


def _is_function(opcode: Opcode) -> bool:
    return Trait.TRANSCENDENTAL in OPS[opcode].traits


def _may_have_an_error(i: HloInstruction) -> bool:
    return OPS[i.opcode].is_elementwise and not rule_for(OPS[i.opcode], i.shape.element_type).is_exact


def _is_settled(value: np.ndarray) -> np.ndarray:
    """Returns which elements have no error, whichever way a function is computed."""
    return np.asarray((value == 0) | ~np.isfinite(value))


def _far_values(element: ElementType, random: np.random.Generator) -> np.ndarray:
    """Returns numbers of which functions give zeros, infinities and NaNs."""
    largest = float(np.finfo(element.dtype).max)
    far = [largest / 4, -largest / 4, 4 * math.sqrt(largest), 1000, -1000]
    return np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, *far, 0.5, -0.5, 2, -3, 2.0**-9, -(2.0**-9)]).astype(
        element.dtype
    )


def _values(element: ElementType, random: np.random.Generator) -> np.ndarray:
    if element.is_integral:
        return random.choice(special_values(element), _COUNT, replace=False)
    eps = 2.0**-element.mantissa_bits
    near = [1 + eps, -1 - eps, 1 + 2.0 ** -(element.mantissa_bits // 2 + 1)]
    some = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, *near, 0.5, -0.5, 2, -3, 0.75, 2.0**-9, -(2.0**7), 1.5]
    return np.array(some).astype(element.dtype)
