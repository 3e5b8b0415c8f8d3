"""The builder by which decompositions and passes add instructions in place of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.hlo.computation import HloComputation
from xla_core.hlo.instruction import HloInstruction
from xla_core.hlo.literal import Literal
from xla_core.hlo.module import HloModule
from xla_core.hlo.opcode import Opcode
from xla_core.hlo.shape import Shape

__all__ = ["Builder"]


class Builder:
    """Adds instructions to a computation, with the metadata of the instruction that they replace."""

    def __init__(self, computation: HloComputation) -> None:
        self.computation = computation
        self.source: HloInstruction | None = None
        self.added: list[HloInstruction] = []

    @property
    def module(self) -> HloModule:
        """The module of the computation, to which a rewrite adds the computations that it needs."""
        module = self.computation.module
        assert module is not None
        return module

    def add(
        self, opcode: Opcode, *operands: HloInstruction, shape: Shape | None = None, **attributes: Any
    ) -> HloInstruction:
        """Adds an instruction; the arguments are those of `HloComputation.add`."""
        metadata = None if self.source is None else self.source.metadata
        new = self.computation.add(opcode, *operands, shape=shape, metadata=metadata, **attributes)
        self.added.append(new)
        return new

    def undo(self, first: int = 0) -> None:
        """Removes the added instructions from number `first` on. Those that have users by now stay."""
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
        """Adds the same op on other operands. Without `shape`, the result has the instruction's shape without its
        layout.
        """
        new = instruction.clone(operands, shape=shape or instruction.shape.without_layout(), **changed)
        self.computation.add_instruction(new)
        self.added.append(new)
        return new

    def constant(self, value: npt.ArrayLike, shape: Shape) -> HloInstruction:
        """Adds a constant of `shape`. A scalar `value` is broadcast where `shape` is not scalar."""
        array = np.asarray(value)
        if array.ndim == 0 and shape.rank:
            scalar = self.constant(array, shape.with_dimensions(()))
            return self.add(Opcode.BROADCAST, scalar, shape=shape.without_layout(), dimensions=())
        literal = Literal(array.astype(shape.dtype), shape.without_layout())
        return self.add(Opcode.CONSTANT, shape=literal.shape, literal=literal)

    def compare(self, x: HloInstruction, y: HloInstruction, direction: str) -> HloInstruction:
        """Adds a compare. `direction` is EQ, NE, GE, GT, LE or LT."""
        return self.add(Opcode.COMPARE, x, y, direction=direction)

    def reshape(self, operand: HloInstruction, dimensions: Sequence[int]) -> HloInstruction:
        """Adds a reshape; returns the operand itself where it has these dimensions already."""
        if operand.shape.dimensions == tuple(dimensions):
            return operand
        return self.add(Opcode.RESHAPE, operand, shape=operand.shape.with_dimensions(dimensions))

    def transpose(self, operand: HloInstruction, permutation: Sequence[int]) -> HloInstruction:
        """Adds a transpose; returns the operand itself where the permutation is the identity."""
        if list(permutation) == sorted(permutation):
            return operand
        return self.add(Opcode.TRANSPOSE, operand, dimensions=tuple(permutation))

    def broadcast(
        self, operand: HloInstruction, result: Sequence[int], dimensions: Sequence[int] = ()
    ) -> HloInstruction:
        """Adds a broadcast; returns the operand itself where it has the result's dimensions already."""
        if operand.shape.dimensions == tuple(result) and tuple(dimensions) == tuple(range(len(result))):
            return operand
        shape = operand.shape.with_dimensions(result)
        return self.add(Opcode.BROADCAST, operand, shape=shape, dimensions=tuple(dimensions))

    def convert(self, operand: HloInstruction, like: Shape) -> HloInstruction:
        """Adds a convert to the element type of `like`; returns the operand itself where it has that type already."""
        if operand.shape.element_type is like.element_type:
            return operand
        return self.add(
            Opcode.CONVERT, operand, shape=operand.shape.without_layout().with_element_type(like.element_type)
        )
