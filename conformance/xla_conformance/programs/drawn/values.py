"""The values that a drawn program has so far, and how the operands of its next op are chosen among them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from xla_conformance.programs.patterns.values import Value
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode, Shape
from xla_core.passes import Builder

_T, _O = ElementType, Opcode
_Any = TypeVar("_Any")
_RECENT = 0.6
"""How often an operand is one of the last values, so that ops follow each other."""


@dataclasses.dataclass
class Drawing:
    """A computation that is being drawn.

    Attributes:
        types: the element types that its numbers may have.
        steps: what may come next.
        values: the arrays that operands are chosen from.
        depth: how deep its calls, loops and branches may be.
    """

    random: np.random.Generator
    module: HloModule
    computation: HloComputation
    types: Sequence[ElementType]
    steps: Sequence[Step]
    values: list[Value]
    depth: int

    @property
    def builder(self) -> Builder:
        return Builder(self.computation)

    def inner(self, name: str, shapes: Sequence[Shape]) -> Drawing:
        """A new computation with these parameters."""
        computation = self.module.add_computation(HloComputation(self.module.unique_name(name)))
        builder = Builder(computation)
        values = [Value(builder, computation.parameter(n, shape)) for n, shape in enumerate(shapes)]
        return Drawing(self.random, self.module, computation, self.types, self.steps, values, self.depth - 1)

    def of_tuple(self, name: str, shape: Shape) -> Drawing:
        """A new computation, whose values are the parts of its parameter."""
        made = self.inner(name, [shape])
        made.values = made.parts(made.values[0].instruction)
        return made

    def value(self, instruction: HloInstruction) -> Value:
        return Value(self.builder, instruction)

    def parts(self, instruction: HloInstruction) -> list[Value]:
        return [self.value(part) for part in self.builder.elements(instruction)]

    # -- choices -------------------------------------------------------------------------------------------------------

    def happens(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def number(self, low: int, high: int) -> int:
        """A number from `low` up to, but not including, `high`."""
        return int(self.random.integers(low, high))

    def one(self, choices: Sequence[_Any]) -> _Any:
        return choices[self.number(0, len(choices))]

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> Value | None:
        """One of the values, often a recent one."""
        found = [value for value in self.values if fits(value)]
        if not found:
            return None
        return self.one(found[-3:] if self.happens(_RECENT) else found)

    def array(self) -> Value:
        """A value of one dimension at least."""
        return self.pick(lambda value: value.shape.rank > 0) or self.values[0]

    def like(self, value: Value) -> Value:
        """Another value of the same shape and type, or a constant."""
        shape = value.shape
        other = self.pick(lambda v: v.shape == shape and v.instruction is not value.instruction)
        return other if other is not None and self.happens(0.9) else self.constant(shape)

    def constant(self, shape: Shape) -> Value:
        """An array of one number, of numbers in order, or of any."""
        element = shape.element_type
        low, high = (0, 2) if element is _T.PRED else (0 if not element.is_signed else -4, 9)
        kind = self.number(0, 4)
        if kind == 0 and shape.rank and element is not _T.PRED:
            iota = self.builder.add(_O.IOTA, shape=shape, iota_dimension=self.number(0, shape.rank))
            return self.value(iota)
        if kind == 1 and element.is_integral and element is not _T.PRED:
            low, high = element.integer_range
            return self.value(self.builder.constant(np.array(self.one([low, high, -1 if low else high - 1])), shape))
        sizes = shape.dimensions if kind == 2 else ()
        array = np.asarray(self.random.integers(low, high, sizes)).astype(element.dtype)
        return self.value(self.builder.constant(array, shape))

    def scalar(self) -> Value:
        """A number of type s32."""
        found = self.pick(lambda value: value.shape == Shape(_T.S32))
        if found is not None and self.happens(0.7):
            return found
        array = self.pick(lambda v: v.shape.element_type is _T.S32 and v.shape.rank > 0 and v.shape.num_elements > 0)
        if array is None:
            return self.constant(Shape(_T.S32))
        at = self.number(0, array.shape.num_elements)
        return array.form(array.shape.num_elements).cut(at, at + 1).form()


Step = Callable[[Drawing], Value | None]
"""Adds ops and returns the last one; None if no value is an operand for it."""
