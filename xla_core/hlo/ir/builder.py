"""Builds HLO: adds instructions to a computation, and makes the computations that ops apply to scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.attributes import OpMetadata, PaddingDimension, SliceDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Shape


class Builder:
    """Adds instructions to a computation.

    Attributes:
        metadata: the metadata of the added instructions: that of the op which is lowered, or of the instruction which
            is replaced.
        frontend_attributes: the frontend attributes of the added instructions.
        added: the instructions that were added, so that a rewrite can be undone.
        check: if given, it is called with each instruction that is added.
    """

    def __init__(self, computation: HloComputation, metadata: OpMetadata | None = None) -> None:
        self.computation = computation
        self.metadata = metadata
        self.frontend_attributes: tuple[tuple[str, str], ...] = ()
        self.added: list[HloInstruction] = []
        self.check: Callable[[HloInstruction], None] | None = None

    @property
    def hlo_module(self) -> HloModule:
        """The module of the computation, to which a rewrite adds the computations that it needs."""
        module = self.computation.module
        assert module is not None
        return module

    def add(
        self,
        opcode: Opcode,
        *operands: HloInstruction,
        shape: Shape | None = None,
        name: str | None = None,
        **attributes: Any,
    ) -> HloInstruction:
        """Adds an instruction; the arguments are those of `HloComputation.add`."""
        if self.frontend_attributes:
            attributes["frontend_attributes"] = self.frontend_attributes
        new = self.computation.add(opcode, *operands, shape=shape, name=name, metadata=self.metadata, **attributes)
        self.added.append(new)
        if self.check is not None:
            self.check(new)
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
        layout. It keeps its metadata if that names a place in the program.
        """
        new = instruction.clone(operands, shape=shape or instruction.shape.without_layout(), **changed)
        own = new.metadata
        if self.metadata is not None and own.text_location is None and own.location is None:
            new.metadata = self.metadata
        self.computation.add_instruction(new)
        self.added.append(new)
        return new

    def constant(self, value: Literal | npt.ArrayLike, shape: Shape | None = None) -> HloInstruction:
        """Adds a constant, of the element type of `shape` if given. A scalar `value` is broadcast to `shape`."""
        if not isinstance(value, Literal):
            array = np.asarray(value)
            value = Literal(array, None if shape is None else shape.with_dimensions(array.shape))
        constant = self.add(Opcode.CONSTANT, shape=value.shape, literal=value)
        return constant if shape is None else self.broadcast(constant, shape.dimensions)

    def tuple(self, values: Sequence[HloInstruction]) -> HloInstruction:
        return self.add(Opcode.TUPLE, *values)

    def element(self, value: HloInstruction, index: int) -> HloInstruction:
        """Adds the get-tuple-element; returns the operand itself of a tuple instruction."""
        if value.opcode == Opcode.TUPLE:
            return value.operand(index)
        return self.add(Opcode.GET_TUPLE_ELEMENT, value, index=index)

    def elements(self, value: HloInstruction) -> list[HloInstruction]:
        return [self.element(value, i) for i in range(len(value.shape.tuple_shapes))]

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
        if operand.shape.dimensions == tuple(result) and tuple(dimensions) in ((), tuple(range(len(result)))):
            return operand
        shape = operand.shape.with_dimensions(result)
        return self.add(Opcode.BROADCAST, operand, shape=shape, dimensions=tuple(dimensions))

    def slice_in_dim(
        self, operand: HloInstruction, dimension: int, start: int, limit: int, stride: int = 1
    ) -> HloInstruction:
        """Adds a slice of one dimension; returns the operand itself where that is all of it."""
        if (start, limit, stride) == (0, operand.shape.dimensions[dimension], 1):
            return operand
        slices = [SliceDimension(0, n) for n in operand.shape.dimensions]
        slices[dimension] = SliceDimension(start, limit, stride)
        return self.add(Opcode.SLICE, operand, slice=(*slices,))

    def pad_in_dim(
        self, operand: HloInstruction, dimension: int, low: int, high: int, value: complex = 0
    ) -> HloInstruction:
        """Adds a pad of one dimension; returns the operand itself where there is nothing to add."""
        if not low and not high:
            return operand
        padding = [PaddingDimension(0, 0)] * operand.shape.rank
        padding[dimension] = PaddingDimension(low, high)
        edge = self.constant(value, operand.shape.with_dimensions(()))
        return self.add(Opcode.PAD, operand, edge, padding=(*padding,))

    def reduce(
        self, operand: HloInstruction, opcode: Opcode, initial: complex, dimensions: Sequence[int]
    ) -> HloInstruction:
        """Adds a reduce by a binary op, which starts from a number."""
        start = self.constant(initial, operand.shape.with_dimensions(()))
        body = scalar_computation(opcode, operand.shape.element_type, module=self.hlo_module)
        return self.add(Opcode.REDUCE, operand, start, dimensions=tuple(dimensions), to_apply=body)

    def convert(self, operand: HloInstruction, like: Shape) -> HloInstruction:
        """Adds a convert to the element type of `like`; returns the operand itself where it has that type already."""
        if operand.shape.element_type is like.element_type:
            return operand
        return self.add(
            Opcode.CONVERT, operand, shape=operand.shape.without_layout().with_element_type(like.element_type)
        )


def scalar_computation(
    opcode: Opcode, element_type: ElementType, *, module: HloModule | None = None, name: str | None = None
) -> HloComputation:
    """Makes a computation of a binary op on two scalars, as reduce takes it; adds it to `module` if given."""
    computation = HloComputation(name or f"{opcode}_{element_type}")
    scalar = Shape(element_type)
    computation.set_root(computation.add(opcode, computation.parameter(0, scalar), computation.parameter(1, scalar)))
    return computation if module is None else module.add_computation(computation)


def comparator(
    direction: str, *element_types: ElementType, key: int = 0, type: str | None = None, module: HloModule | None = None
) -> HloComputation:
    """Makes a comparator for sort. It compares the scalars of operand number `key`; the other operands don't matter.

    Args:
        direction: LT sorts in ascending order, GT in descending order.
        element_types: the element types of the sorted operands.
        type: TOTALORDER orders NaNs and puts -0 before +0.
    """
    computation = HloComputation(f"compare_{direction.lower()}")
    parameters = [
        computation.parameter(i, Shape(t)) for i, t in enumerate(t for each in element_types for t in (each, each))
    ]
    attributes: dict[str, Any] = {"direction": direction} | ({"type": type} if type else {})
    computation.set_root(computation.add(Opcode.COMPARE, parameters[2 * key], parameters[2 * key + 1], **attributes))
    return computation if module is None else module.add_computation(computation)
