"""Adds the instructions that are to stand for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = ["Builder"]


class Builder:
    """Adds instructions to a computation with the metadata of the one that they are to replace."""

    def __init__(self, computation: HloComputation) -> None:
        self.computation = computation
        self.source: HloInstruction | None = None
        self.added: list[HloInstruction] = []

    def add(
        self, opcode: Opcode, *operands: HloInstruction, shape: Shape | None = None, **attributes: Any
    ) -> HloInstruction:
        """As `HloComputation.add`."""
        metadata = None if self.source is None else self.source.metadata
        new = self.computation.add(opcode, *operands, shape=shape, metadata=metadata, **attributes)
        self.added.append(new)
        return new

    def undo(self, first: int = 0) -> None:
        """Removes what was added, from number `first` on, but for what others use by now."""
        for new in reversed(self.added[first:]):
            if not new.user_count and not new.is_root:
                self.computation.remove(new)
        del self.added[first:]

    def clone(
        self,
        instruction: HloInstruction,
        operands: Sequence[HloInstruction],
        *,
        shape: Shape | None = None,
        **changed: Any,
    ) -> HloInstruction:
        """The same op on other operands. `shape` None keeps the shape, without its layout."""
        new = instruction.clone(operands, shape=shape or instruction.shape.without_layout(), **changed)
        self.computation.add_instruction(new)
        self.added.append(new)
        return new

    def constant(self, value: npt.ArrayLike, shape: Shape) -> HloInstruction:
        """A constant of `shape`; a scalar value becomes a broadcast where the shape isn't one."""
        array = np.asarray(value)
        if array.ndim == 0 and shape.rank:
            scalar = self.constant(array, shape.with_dimensions(()))
            return self.add(Opcode.BROADCAST, scalar, shape=shape.without_layout(), dimensions=())
        literal = Literal(array.astype(shape.dtype), shape.without_layout())
        return self.add(Opcode.CONSTANT, shape=literal.shape, literal=literal)

    def compare(self, x: HloInstruction, y: HloInstruction, direction: str) -> HloInstruction:
        """`compare` in a direction: EQ, NE, GE, GT, LE, LT."""
        return self.add(Opcode.COMPARE, x, y, direction=direction)

    def reshape(self, operand: HloInstruction, dimensions: Sequence[int]) -> HloInstruction:
        """The operand itself where it has these dimensions."""
        if operand.shape.dimensions == tuple(dimensions):
            return operand
        return self.add(Opcode.RESHAPE, operand, shape=operand.shape.with_dimensions(dimensions))

    def transpose(self, operand: HloInstruction, permutation: Sequence[int]) -> HloInstruction:
        """The operand itself where nothing moves."""
        if list(permutation) == sorted(permutation):
            return operand
        return self.add(Opcode.TRANSPOSE, operand, dimensions=tuple(permutation))

    def broadcast(
        self, operand: HloInstruction, result: Sequence[int], dimensions: Sequence[int] = ()
    ) -> HloInstruction:
        """The operand itself where it has the result's dimensions already."""
        if operand.shape.dimensions == tuple(result) and tuple(dimensions) == tuple(range(len(result))):
            return operand
        shape = operand.shape.with_dimensions(result)
        return self.add(Opcode.BROADCAST, operand, shape=shape, dimensions=tuple(dimensions))

    def convert(self, operand: HloInstruction, like: Shape) -> HloInstruction:
        """The operand in the element type of `like`."""
        if operand.shape.element_type is like.element_type:
            return operand
        return self.add(
            Opcode.CONVERT, operand, shape=operand.shape.without_layout().with_element_type(like.element_type)
        )
