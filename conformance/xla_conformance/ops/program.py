"""The program of a case under construction: a module with one op under test in its entry, and the parameters' fills."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xla_conformance.ops.arranged import arranged
from xla_conformance.ops.fills import Fill, is_free
from xla_conformance.ops.values import patterns
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloComputation, HloInstruction, HloModule, Opcode, Shape


def unsigned_type(element_type: ElementType) -> ElementType:
    """Returns the unsigned type of the same width as a type.

    Raises:
        InvalidArgumentError: there is none.
    """
    for found in ElementType:
        if found.is_unsigned and found.bit_width == element_type.bit_width:
            return found
    raise InvalidArgumentError(f"there is no unsigned type of the width of {element_type.value}")


def add_leaves(computation: HloComputation, value: HloInstruction) -> list[HloInstruction]:
    """Adds what takes the arrays out of a value, and returns them; an array is its own only one."""
    if not value.shape.is_tuple:
        return [value]
    count = len(value.shape.tuple_shapes)
    parts = [computation.add(Opcode.GET_TUPLE_ELEMENT, value, index=i) for i in range(count)]
    return [leaf for part in parts for leaf in add_leaves(computation, part)]


class Program:
    """A module in the making.

    Attributes:
        type: the element type of the case; where expected results need more precision, a wider one.
        fills: the functions that make the argument of each parameter.
    """

    def __init__(self, opcode: Opcode, element_type: ElementType) -> None:
        self.opcode, self.type = opcode, element_type
        self.module = HloModule(opcode)
        self.entry = HloComputation("main")
        self.fills: list[Fill] = []

    def parameter(
        self, dimensions: Sequence[int] = (), element_type: ElementType | None = None, fill: Fill = patterns
    ) -> HloInstruction:
        """Adds a parameter of the entry, of the case's element type unless another is given.

        It gets random bits by default, so that an element at a wrong place shows.
        """
        self.fills.append(fill)
        return self.entry.parameter(len(self.fills) - 1, Shape(element_type or self.type, tuple(dimensions)))

    def add(
        self, opcode: Opcode, *operands: HloInstruction, shape: Shape | None = None, **attributes: Any
    ) -> HloInstruction:
        return self.entry.add(opcode, *operands, shape=shape, **attributes)

    def shape(self, dimensions: Sequence[int] = (), element_type: ElementType | None = None) -> Shape:
        return Shape(element_type or self.type, tuple(dimensions))

    def computation(self, name: str, types: Sequence[ElementType], root: Callable[..., Any]) -> HloComputation:
        """Adds a computation of scalars. `root` gets the computation and its parameters, and returns its root."""
        made = HloComputation(name)
        made.set_root(root(made, *(made.parameter(i, Shape(t)) for i, t in enumerate(types))))
        return self.module.add_computation(made)

    def finish(self, root: HloInstruction) -> None:
        self.entry.set_root(root)
        self.module.add_computation(self.entry, entry=True)

    def arguments(self, random: np.random.Generator) -> list[np.ndarray]:
        """Makes the arguments."""
        return [fill(p.shape, random) for fill, p in zip(self.fills, self.entry.parameters, strict=True)]

    def arranged(
        self, arguments: Sequence[np.ndarray], arrangement: str, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Arranges the values of those arguments in which they may be anywhere (`ARRANGEMENTS`)."""
        return [
            arranged(arrangement, values, random) if free else values
            for values, free in zip(arguments, self.free(), strict=True)
        ]

    def free(self) -> list[bool]:
        """Returns for each parameter whether the values of its argument may be anywhere in it."""
        return [is_free(f, p.shape.element_type) for f, p in zip(self.fills, self.entry.parameters, strict=True)]
