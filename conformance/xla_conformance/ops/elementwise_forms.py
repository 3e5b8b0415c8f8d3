"""Forms: the variants of an elementwise op for each element type, made from the op table.

The variants of an op are its attributes, the types of a conversion, operands that are scalars (`scalar`), and operands
that are scalar constants (`constant`), which compilers simplify by value.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xla_conformance.ops import values
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    OPS,
    AttributeKind,
    ElementType,
    HloComputation,
    HloInstruction,
    HloModule,
    Opcode,
    OpDef,
    Shape,
    Trait,
)

_T = ElementType


Attributes = tuple[tuple[str, Any], ...]


@dataclasses.dataclass(frozen=True)
class Form:
    """A variant of an op, for operands of one element type.

    Attributes:
        operands: the element type of each operand.
        attributes: the op's attributes; the module has an instruction for each entry.
        results: the element types of results, where the operands don't determine it; the module has an instruction
            for each.
        scalars: the operands that are scalars.
        constant: the operand that is a scalar constant, of several values.
        repeats: whether the module also has instructions whose operands are one array.
    """

    opcode: Opcode
    operands: tuple[ElementType, ...]
    attributes: tuple[Attributes, ...] = ((),)
    results: tuple[ElementType, ...] = ()
    scalars: frozenset[int] = frozenset()
    constant: int | None = None
    repeats: bool = False

    @property
    def op(self) -> OpDef:
        return OPS[self.opcode]

    @property
    def variant(self) -> str:
        parts = []
        if len(self.attributes) > 1:
            first, last = ("_".join(str(v) for _, v in self.attributes[i]) for i in (0, -1))
            parts.append(f"{first}.to.{last}")
        parts += [f"to.{t}" for t in dict.fromkeys((*self.results[:1], *self.results[-1:]))]
        parts += ["scalar." + ".".join(map(str, sorted(self.scalars)))] if self.scalars else []
        parts += [f"constant.{self.constant}"] if self.constant is not None else []
        return "-".join(parts)

    def module(self, dimensions: Sequence[int], change: Mapping[ElementType, ElementType] | None = None) -> HloModule:
        """Makes the module, with some element types replaced by others."""
        types = [(change or {}).get(t, t) for t in self.operands]
        module, entry = HloModule(self.opcode), HloComputation("main")
        inner, declared = self.shapes(tuple(dimensions))
        results: list[HloInstruction] = []
        if self.constant is None:
            shapes = [Shape(t, () if i in self.scalars else inner) for i, t in enumerate(types)]
            operands = [entry.parameter(i, shape) for i, shape in enumerate(shapes)]
            results = [
                entry.add(self.opcode, *(operands[i] for i in chosen), shape=shape, **dict(some))
                for chosen, some in self.instructions
                for shape in declared
            ]
        else:
            x = entry.parameter(0, Shape(types[1 - self.constant], inner))
            shape = Shape(types[self.constant], inner)
            for number, value in enumerate(constants(self.operands[self.constant])):
                constant = entry.constant(value.astype(shape.dtype), shape)
                pair = (x, constant) if self.constant else (constant, x)
                results.append(entry.add(self.opcode, *pair, **dict(self.attributes[number % len(self.attributes)])))
        entry.set_root(results[0] if len(results) == 1 else entry.add(Opcode.TUPLE, *results))
        module.add_computation(entry, entry=True)
        return module

    @property
    def instructions(self) -> list[tuple[tuple[int, ...], Attributes]]:
        """The numbers of each instruction's operands, and its attributes.

        If operands repeat, some instructions have one array for all operands of its type, such as x - x.
        """
        every, last = tuple(range(len(self.operands))), len(self.operands) - 1
        alike = tuple(last if t is self.operands[last] else i for i, t in enumerate(self.operands))
        repeated = self.attributes[::3] if self.repeats and alike != every and not self.scalars else ()
        return [*((every, some) for some in self.attributes), *((alike, some) for some in repeated)]

    def shapes(self, dimensions: tuple[int, ...]) -> tuple[tuple[int, ...], Sequence[Shape | None]]:
        """Returns the dimensions of operands, and the declared results: None if the operands determine it."""
        if not self.results:
            return dimensions, [None]
        before, after = self.operands[0].bit_width, self.results[0].bit_width
        wider, narrower = dimensions, dimensions
        if Trait.BITWISE in self.op.traits:  # the last dimension has the parts of wider elements
            wider = (*dimensions, after // before) if after > before else dimensions
            narrower = (*dimensions, before // after) if after < before else dimensions
        return wider, [Shape(t, narrower) for t in self.results]

    def without(self, held: Container[ElementType]) -> Form | None:
        """Returns the form for results of the types that a device holds, if it holds those of the operands too."""
        kept = tuple(t for t in self.results if t in held)
        if not all(t in held for t in self.operands) or (self.results and not kept):
            return None
        return dataclasses.replace(self, results=kept)

    @property
    def is_valid(self) -> bool:
        """Whether the op takes these operands, by its shape rule."""
        try:
            self.module((3,))
        except InvalidArgumentError:
            return False
        return True


@functools.cache
def constants(element: ElementType) -> list[np.ndarray]:
    """Returns the scalar constants that compilers are likely to know identities for."""
    with np.errstate(all="ignore"):
        if element is _T.PRED:
            return [np.array(False), np.array(True)]
        if element.is_complex:
            return [np.array(z).astype(element.dtype) for z in (0, 1, -1, 1j, 2, complex(0, -0.0), 0.5)]
        if element.is_floating:
            given = np.array([0, -0.0, 1, -1, 2, 0.5, 3, -2, np.inf, np.nan]).astype(element.dtype)
            known = values.special_values(element)
            return [v.copy() for v in (*given, *known[-2:])]
        low, high = element.integer_range
        width = element.bit_width
        numbers = [0, 1, -1, 2, 3, 8, 7, low, high, width - 1, width]
        return [np.array(n).astype(element.dtype) for n in dict.fromkeys(numbers) if low <= n <= high]


def forms(op: OpDef, element: ElementType, *, every_pair: bool = True) -> Iterator[Form]:
    """Yields the forms of an elementwise op for an element type that are valid.

    Args:
        every_pair: whether attributes have all pairs of their values, or each value once or more.
    """
    assert isinstance(op.arity, int)
    types = tuple(_T.PRED if i == op.predicate_operand else element for i in range(op.arity))
    if op.opcode == Opcode.STOCHASTIC_CONVERT:  # the second operand has as many random bits
        random = next((t for t in _T if t.is_unsigned and t.bit_width == element.bit_width), None)
        if random is None or not element.is_floating:
            return
        types = (element, random)
    for attributes in _attributes(op, element, every_pair):
        plain = Form(op.opcode, types, attributes)
        for results in _results(plain):
            form = dataclasses.replace(plain, results=results)
            if not form.is_valid:
                continue
            yield form
            if results:
                continue
            for count in range(1, len(types)):
                for scalars in itertools.combinations(range(len(types)), count):
                    some = dataclasses.replace(form, scalars=frozenset(scalars))
                    if some.is_valid:
                        yield some
            if len(types) == 2:
                yield from (dataclasses.replace(form, constant=i) for i in range(2))


def _results(form: Form) -> Sequence[tuple[ElementType, ...]]:
    """Returns the types to declare for results, each tuple in a module: () if the operands determine the type."""
    shapes = [Shape(t, (3,)) for t in form.operands]
    attributes = form.op.complete(dict(form.attributes[0]))

    def accepts(result: ElementType | None) -> bool:
        try:
            form.op.shape(shapes, attributes, result and Shape(result, (3,)))
        except InvalidArgumentError:
            return False
        return True

    if accepts(None):
        return [()]
    own = form.operands[0]
    others = [t for t in _T if t.is_array and t is not own]
    if form.opcode == Opcode.STOCHASTIC_CONVERT:
        others = [t for t in others if t.is_signed or t.is_unsigned]
    if not any(map(accepts, (own, *others))):
        return []
    groups: dict[object, list[ElementType]] = {}
    for t in others:
        if dataclasses.replace(form, results=(t,)).is_valid:
            kind = t.bit_width if Trait.BITWISE in form.op.traits else (t.is_integral, t.bit_width > 8)
            groups.setdefault(kind, []).append(t)
    return [tuple(group) for group in groups.values()]


@functools.cache
def _simple_forms(opcode: Opcode, element: ElementType) -> tuple[Form, ...]:
    some = [f for f in forms(OPS[opcode], element) if f.constant is None]
    each = [dataclasses.replace(f, results=(t,)) for f in some for t in f.results] + [f for f in some if not f.results]
    return tuple(dataclasses.replace(f, attributes=(one,)) for f in each for one in f.attributes)


def simple_forms(op: OpDef, element: ElementType) -> Sequence[Form]:
    """Returns the forms of one instruction each, without constants."""
    return _simple_forms(op.opcode, element)


_ATTRIBUTES_EACH = 25
"""The most instructions with different attributes in a module."""

_ORDERS: Mapping[str, Callable[[ElementType], bool]] = {
    "FLOAT": lambda t: t.is_floating or t.is_complex,
    "TOTALORDER": lambda t: t.is_floating,
    "SIGNED": lambda t: t.is_signed,
    "UNSIGNED": lambda t: t.is_unsigned or t is _T.PRED,
}
"""The types of comparisons that fit an element type."""


def _attributes(op: OpDef, element: ElementType, every_pair: bool) -> Iterator[tuple[Attributes, ...]]:
    """Yields the values of an op's attributes, several instructions' at a time."""
    choices: dict[str, list[Any]] = {}
    for name, attribute in op.attributes.items():
        if attribute.kind is AttributeKind.ENUM:
            some = [v for v in attribute.values if v not in _ORDERS or _ORDERS[v](element)]
            choices[name] = [*([None] if attribute.default is None else []), *some]
        elif attribute.kind is AttributeKind.INT:  # the bits of a format
            most = {"exponent_bits": element.exponent_bits, "mantissa_bits": element.mantissa_bits}.get(name, 0)
            choices[name] = list(range(most + 2))
    rows = list(itertools.product(*choices.values()))
    if not every_pair and len(rows) > _ATTRIBUTES_EACH:
        longest = max(map(len, choices.values()))
        rows = [tuple(v[(i * (1 + n)) % len(v)] for n, v in enumerate(choices.values())) for i in range(longest)]
    every = [tuple((k, v) for k, v in zip(choices, row, strict=True) if v is not None) for row in rows]
    valid = [a for a in every if _accepts(op, element, a)]
    for start in range(0, len(valid), _ATTRIBUTES_EACH):
        yield tuple(valid[start : start + _ATTRIBUTES_EACH])


def _accepts(op: OpDef, element: ElementType, attributes: Attributes) -> bool:
    """Whether the op takes the attributes; an op without any always does."""
    if not attributes:
        return op.missing_attribute({}) is None
    assert isinstance(op.arity, int)
    return Form(op.opcode, (element,) * op.arity, (attributes,)).is_valid
