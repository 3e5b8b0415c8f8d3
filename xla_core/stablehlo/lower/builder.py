"""Adds HLO instructions to a computation, each with the metadata of the op that is being lowered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.hlo.attributes import OpMetadata
from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = ["Builder"]

NO_METADATA = OpMetadata()


class Builder:
    """Appends instructions to one computation."""

    def __init__(self, computation: HloComputation) -> None:
        self.computation = computation
        self.metadata: OpMetadata = NO_METADATA
        self.frontend_attributes: tuple[tuple[str, str], ...] = ()
        self.check: Callable[[HloInstruction], None] | None = None  # called for each instruction that is added

    def add(
        self,
        opcode: Opcode,
        *operands: HloInstruction,
        shape: Shape | None = None,
        name: str | None = None,
        **attributes: Any,
    ) -> HloInstruction:
        """Appends an instruction, as `HloComputation.add` does."""
        if self.frontend_attributes:
            attributes["frontend_attributes"] = self.frontend_attributes
        made = self.computation.add(opcode, *operands, shape=shape, name=name, metadata=self.metadata, **attributes)
        if self.check is not None:
            self.check(made)
        return made

    def constant(self, value: Literal | npt.ArrayLike, shape: Shape | None = None) -> HloInstruction:
        """A constant; a scalar with a `shape` is broadcast to it."""
        if not isinstance(value, Literal):
            array = np.asarray(value)
            value = Literal(array, None if shape is None else shape.with_dimensions(array.shape))
        constant = self.add(Opcode.CONSTANT, shape=value.shape, literal=value)
        return constant if shape is None else self.broadcast(constant, shape)

    def tuple(self, values: Sequence[HloInstruction]) -> HloInstruction:
        return self.add(Opcode.TUPLE, *values)

    def element(self, value: HloInstruction, index: int) -> HloInstruction:
        """One element of a tuple; of a `tuple` instruction, its operand."""
        if value.opcode == Opcode.TUPLE:
            return value.operand(index)
        return self.add(Opcode.GET_TUPLE_ELEMENT, value, index=index)

    def elements(self, value: HloInstruction) -> list[HloInstruction]:
        return [self.element(value, i) for i in range(len(value.shape.tuple_shapes))]

    def broadcast(self, value: HloInstruction, shape: Shape, dimensions: Sequence[int] = ()) -> HloInstruction:
        """HLO's broadcast: dimension i of `value` becomes dimension `dimensions[i]` of the result."""
        target = shape.with_dimensions(shape.dimensions).with_element_type(value.shape.element_type)
        if value.shape.dimensions == target.dimensions:
            return value
        return self.add(Opcode.BROADCAST, value, shape=target, dimensions=tuple(dimensions))

    def reshape(self, value: HloInstruction, dimensions: Sequence[int]) -> HloInstruction:
        dimensions = tuple(dimensions)
        return (
            value
            if value.shape.dimensions == dimensions
            else self.add(Opcode.RESHAPE, value, shape=value.shape.with_dimensions(dimensions))
        )

    def convert(self, value: HloInstruction, shape: Shape) -> HloInstruction:
        """The value with the element type of `shape`; a complex one gives its real part to a real type."""
        if value.shape.element_type.is_complex and not shape.element_type.is_complex:
            value = self.add(Opcode.REAL, value)
        if value.shape.element_type is shape.element_type:
            return value
        return self.add(Opcode.CONVERT, value, shape=value.shape.with_element_type(shape.element_type))
