"""Programs of two ops, the second of which gets the first one's result: what a pass may rewrite to something else.

A link is an op with attributes, made from the op table. It is applied to a value. Its other operands are those of the
value's own instruction where they fit, as in (a + b) - b and select(a > b, a, b), else arguments or constants.

Only ops with exact results are links. Each rounds its result, so a device that contracts a product and a sum is wrong.
Compilers contract only products that have one user, so in programs of sums each pair has arguments of its own.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import numpy as np

from xla_conformance.ops.comparison import rule_for
from xla_conformance.ops.values import special_values
from xla_core import evaluate
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    OPS,
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    OpDef,
    PaddingDimension,
    Shape,
    SliceDimension,
    Trait,
)

_T = ElementType
_TYPES = (_T.F32, _T.S32, _T.U8, _T.F64)
_CONVERTED = (_T.PRED, _T.S8, _T.U8, _T.S32, _T.S64, _T.BF16, _T.F16, _T.F32, _T.F64)
_COUNT = 18
_SIZES = (7, 7, 7)  # all pairs of values; a dimension that is taken for another shows in the elements
_SHARE = 16
"""In the quick profile, each op comes after one of so many others, and after all that are related to it."""

_RELATED = (
    {Opcode.TRANSPOSE, Opcode.RESHAPE, Opcode.BROADCAST, Opcode.REVERSE, Opcode.SLICE, Opcode.PAD, Opcode.CONCATENATE},
    {Opcode.ADD, Opcode.SUBTRACT, Opcode.MULTIPLY},
    {Opcode.CONVERT, Opcode.REDUCE_PRECISION},
    {Opcode.COMPARE, Opcode.SELECT, Opcode.NOT, Opcode.AND, Opcode.OR, Opcode.XOR},
)
"""Ops that passes merge with each other."""

Make = Callable[[HloInstruction, HloInstruction], HloInstruction]
"""(value, another operand of its shape and type) -> the op applied to it."""


@dataclasses.dataclass(frozen=True)
class Link:
    name: str
    opcode: Opcode
    make: Make

    def apply(self, value: HloInstruction, other: HloInstruction) -> HloInstruction | None:
        """Applies the op; None if it doesn't take the value, or isn't exact in its type."""
        if OPS[self.opcode].is_elementwise and not rule_for(OPS[self.opcode], value.shape.element_type).is_exact:
            return None
        try:
            return self.make(value, other)
        except InvalidArgumentError:
            return None


@dataclasses.dataclass(frozen=True)
class Composition:
    """The links of one op after others, in one program. Each result is that of one pair.

    Attributes:
        last, first: the links of the op, and those that give it its operand.
        apart: whether each pair has arguments of its own, so that its first op has no other user.
        held: the element types that values of the program may have.
    """

    opcode: Opcode
    element_type: ElementType
    last: tuple[Link, ...]
    first: tuple[Link, ...]
    apart: bool = False
    held: Collection[ElementType] = tuple(ElementType)

    @property
    def name(self) -> str:
        return f"{self.opcode}-{self.element_type.value}"

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
        module.add_computation(entry, entry=True)
        return module

    def _results(self, entry: HloComputation) -> Iterator[HloInstruction]:
        pairs = _pairs(entry, Shape(self.element_type, _SIZES))
        x, y = next(pairs)
        for first in self.first:
            for group in [(link,) for link in self.last] if self.apart else [self.last]:
                if self.apart:
                    x, y = next(pairs)
                value = first.apply(x, y)
                if value is None or value.shape.element_type not in self.held:
                    break
                other = _other(value, y)
                for last in group:
                    result = last.apply(value, other)
                    if result is not None and result.shape.element_type in self.held:
                        yield result

    def arguments(self, module: HloModule, seed: int) -> list[np.ndarray]:
        """Pairs of arrays of numbers and special values, in which each meets each."""
        random = np.random.default_rng(seed)
        x, y = (_values(self.element_type, random) for _ in range(2))
        made: list[np.ndarray] = []
        while len(made) < len(module.entry.parameters):
            order = np.resize(random.permutation(_COUNT**2), math.prod(_SIZES))
            made += [np.repeat(x, _COUNT)[order].reshape(_SIZES), np.tile(y, _COUNT)[order].reshape(_SIZES)]
        return made

    def operands(self, module: HloModule, arguments: list[np.ndarray], number: int) -> list[np.ndarray]:
        """Returns the arrays from which the last op computes a result."""
        copy = module.clone()
        copy.entry.set_root(copy.entry.add(Opcode.TUPLE, *copy.entry.root.operands[number].operands))
        return [np.asarray(a) for a in evaluate(copy, *arguments)]


def compositions(seed: int, *, every: bool) -> Iterator[Composition]:
    """Yields the compositions of each op: after all others, or after some, which depend on the seed."""
    for element_type in _TYPES if every else _TYPES[:1]:
        for number, opcode in enumerate(dict.fromkeys(link.opcode for link in links())):
            related = next((some for some in _RELATED if opcode in some), frozenset[Opcode]())
            first = tuple(
                link
                for turn, link in enumerate(links())
                if every or link.opcode in related or (turn - number - seed) % _SHARE == 0
            )
            last = tuple(link for link in links() if link.opcode == opcode)
            apart = element_type.is_floating and opcode in (Opcode.ADD, Opcode.SUBTRACT)
            made = Composition(opcode, element_type, last, first, apart)
            if made.is_possible:
                yield made


def _pairs(entry: HloComputation, shape: Shape) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Adds two parameters after another two."""
    for number in itertools.count(0, 2):
        yield entry.parameter(number, shape), entry.parameter(number + 1, shape)


def _values(element: ElementType, random: np.random.Generator) -> np.ndarray:
    if element.is_integral:
        return random.choice(special_values(element), _COUNT, replace=False)
    eps = 2.0**-element.mantissa_bits
    near = [1 + eps, -1 - eps, 1 + 2.0 ** -(element.mantissa_bits // 2 + 1)]
    some = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, *near, 0.5, -0.5, 2, -3, 0.75, 2.0**-9, -(2.0**7), 1.5]
    return np.array(some).astype(element.dtype)


def _other(value: HloInstruction, argument: HloInstruction) -> HloInstruction:
    """Returns another operand of the value's shape and type: its instruction's own, an argument, or a constant."""
    alike = [o for o in (*value.operands[::-1], argument) if o.shape == value.shape and o is not value]
    return alike[0] if alike else _constant(value, 3)


def _constant(value: HloInstruction, number: float) -> HloInstruction:
    assert value.parent is not None
    return value.parent.constant(np.asarray(number).astype(value.shape.dtype), value.shape)


def _add(value: HloInstruction, opcode: Opcode, *operands: HloInstruction, **attributes: Any) -> HloInstruction:
    assert value.parent is not None
    return value.parent.add(opcode, *operands, **attributes)


# -- links -------------------------------------------------------------------------------------------------------------


@cache
def links() -> tuple[Link, ...]:
    """Returns all links: ops of one and two operands by the op table, and those that choose and move elements."""
    found = [link for op in OPS.values() if op.is_elementwise for link in _elementwise(op)]
    found += [Link(name, opcode, make) for opcode, makers in _OTHERS.items() for name, make in makers.items()]
    return tuple(found)


def _elementwise(op: OpDef) -> Iterator[Link]:
    code = op.opcode
    if code == Opcode.CONVERT:
        for t in _CONVERTED:
            yield Link(f"convert.{t.value}", code, _conversion(t))
    elif code == Opcode.COMPARE:
        for how in ("EQ", "NE", "LT", "LE", "GT", "GE"):
            yield Link(f"compare.{how}", code, _comparison(how))
    elif {Trait.BITWISE, Trait.NONDETERMINISTIC} & set(op.traits) or op.missing_attribute({}) is not None:
        return
    elif op.arity == 1:
        yield Link(str(code), code, lambda v, _: _add(v, code, v))
    elif op.arity == 2:
        yield Link(f"{code}.left", code, lambda v, o: _add(v, code, v, o))
        yield Link(f"{code}.right", code, lambda v, o: _add(v, code, o, v))
        for number in (0, 1):
            yield Link(f"{code}.{number}", code, _with_number(code, number))


def _conversion(element_type: ElementType) -> Make:
    def convert(value: HloInstruction, _: HloInstruction) -> HloInstruction:
        if value.shape.element_type is element_type:
            raise InvalidArgumentError("a conversion to the same type is none")
        return _add(value, Opcode.CONVERT, value, shape=Shape(element_type, value.shape.dimensions))

    return convert


def _comparison(direction: str) -> Make:
    return lambda value, other: _add(value, Opcode.COMPARE, value, other, direction=direction)


def _with_number(opcode: Opcode, number: float) -> Make:
    return lambda value, _: _add(value, opcode, value, _constant(value, number))


def _chosen(value: HloInstruction, other: HloInstruction) -> HloInstruction:
    """Chooses between the operands of the comparison that the value is, or between the value and another."""
    if value.shape.element_type is _T.PRED and value.opcode == Opcode.COMPARE:
        return _add(value, Opcode.SELECT, value, *value.operands)
    return _add(value, Opcode.SELECT, _add(value, Opcode.COMPARE, other, other, direction="EQ"), value, other)


def _reshaped(value: HloInstruction, *dimensions: int) -> HloInstruction:
    return _add(value, Opcode.RESHAPE, value, shape=Shape(value.shape.element_type, dimensions))


def _transposed(value: HloInstruction, *order: int) -> HloInstruction:
    return _add(value, Opcode.TRANSPOSE, value, dimensions=order)


def _broadcast(value: HloInstruction, *, first: bool) -> HloInstruction:
    sizes = value.shape.dimensions
    shape = Shape(value.shape.element_type, (2, *sizes) if first else (*sizes, 2))
    kept = tuple(range(first, len(sizes) + first))
    return _add(value, Opcode.BROADCAST, value, shape=shape, dimensions=kept)


def _sliced(value: HloInstruction, start: int, stride: int) -> HloInstruction:
    parts = tuple(SliceDimension(min(start, n - 1), n, stride) for n in value.shape.dimensions)
    return _add(value, Opcode.SLICE, value, slice=parts)


def _padded(value: HloInstruction, low: int, high: int, interior: int) -> HloInstruction:
    padding = (PaddingDimension(low, high, interior),) * len(value.shape.dimensions)
    scalar = Shape(value.shape.element_type, ())
    assert value.parent is not None
    edge = value.parent.constant(np.asarray(1).astype(scalar.dtype), scalar)
    return _add(value, Opcode.PAD, value, edge, padding=padding)


def _dynamic(value: HloInstruction, start: int) -> HloInstruction:
    """Takes a slice whose start is a constant beyond the end, or before the beginning."""
    assert value.parent is not None
    places = [value.parent.constant(np.int32(start)) for _ in value.shape.dimensions]
    sizes = tuple(max(n - 1, 1) for n in value.shape.dimensions)
    return _add(value, Opcode.DYNAMIC_SLICE, value, *places, dynamic_slice_sizes=sizes)


def _rotated(value: HloInstruction) -> HloInstruction:
    return _transposed(value, *range(1, value.shape.rank), 0)


def _swapped(value: HloInstruction) -> HloInstruction:
    return _transposed(value, *range(value.shape.rank - 2), value.shape.rank - 1, value.shape.rank - 2)


_OTHERS: dict[Opcode, dict[str, Make]] = {
    Opcode.SELECT: {"select": _chosen},
    Opcode.CLAMP: {"clamp": lambda v, o: _add(v, Opcode.CLAMP, _constant(v, 0), v, _constant(v, 1))},
    Opcode.REDUCE_PRECISION: {
        "reduce-precision.5": lambda v, _: _add(v, Opcode.REDUCE_PRECISION, v, exponent_bits=5, mantissa_bits=10),
        "reduce-precision.8": lambda v, _: _add(v, Opcode.REDUCE_PRECISION, v, exponent_bits=8, mantissa_bits=7),
    },
    Opcode.TRANSPOSE: {"transpose.rotated": lambda v, _: _rotated(v), "transpose.swapped": lambda v, _: _swapped(v)},
    Opcode.RESHAPE: {
        "reshape.flat": lambda v, _: _reshaped(v, v.shape.num_elements),
        "reshape.wider": lambda v, _: _reshaped(v, 1, *v.shape.dimensions[::-1], 1),
    },
    Opcode.BROADCAST: {
        "broadcast.first": lambda v, _: _broadcast(v, first=True),
        "broadcast.last": lambda v, _: _broadcast(v, first=False),
    },
    Opcode.REVERSE: {
        "reverse.all": lambda v, _: _add(v, Opcode.REVERSE, v, dimensions=tuple(range(v.shape.rank))),
        "reverse.first": lambda v, _: _add(v, Opcode.REVERSE, v, dimensions=(0,)),
    },
    Opcode.SLICE: {"slice.start": lambda v, _: _sliced(v, 1, 1), "slice.stride": lambda v, _: _sliced(v, 0, 2)},
    Opcode.PAD: {"pad.edges": lambda v, _: _padded(v, 1, 2, 1), "pad.crop": lambda v, _: _padded(v, -1, 1, 0)},
    Opcode.CONCATENATE: {
        "concatenate.last": lambda v, o: _add(v, Opcode.CONCATENATE, v, o, dimensions=(v.shape.rank - 1,)),
        "concatenate.first": lambda v, o: _add(v, Opcode.CONCATENATE, o, v, dimensions=(0,)),
    },
    Opcode.DYNAMIC_SLICE: {
        "dynamic-slice.above": lambda v, _: _dynamic(v, 99),
        "dynamic-slice.below": lambda v, _: _dynamic(v, -9),
    },
}
"""Ops with attributes, which the table doesn't choose."""
