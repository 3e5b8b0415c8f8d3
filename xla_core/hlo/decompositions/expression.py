"""HloExpression: an instruction with Python's operators, for lowerings and decompositions that are formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from xla_core.elementary.operators import Operators
from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.values.shape import Shape

Number: TypeAlias = HloInstruction | complex | np.generic
Operand: TypeAlias = "HloExpression | Number"


class HloExpression(Operators[Number]):
    """An instruction to whose computation the operators add instructions.

    An operand may be a number, which becomes a constant of the type and dimensions of the other operand. A scalar is
    broadcast to the dimensions of the other operand. Comparisons give pred, and `>>` shifts in zeros.
    """

    __slots__ = ("b", "i")
    __array_ufunc__ = None  # numpy's scalars leave operators to this class

    def __init__(self, b: Builder, i: HloInstruction) -> None:
        self.b = b
        self.i = i

    @property
    def shape(self) -> Shape:
        return self.i.shape

    @property
    def element_type(self) -> ElementType:
        return self.i.shape.element_type

    def op(self, opcode: str, *others: Operand, **attributes: Any) -> HloExpression:
        operands = [self.i, *(self.like(other).i for other in others)]
        wide = max((o.shape.dimensions for o in operands), key=len)
        operands = [o if o.shape.rank or not wide else self.b.broadcast(o, wide) for o in operands]
        return HloExpression(self.b, self.b.add(Opcode(opcode), *operands, **attributes))

    def like(self, other: Operand) -> HloExpression:
        if isinstance(other, HloExpression):
            return other
        instruction = (
            other if isinstance(other, HloInstruction) else self.b.constant(other, self.shape.without_layout())
        )
        return HloExpression(self.b, instruction)

    def compare(self, direction: str, other: Operand) -> HloExpression:
        return self.op(Opcode.COMPARE, other, direction=direction)

    def select(self, on_true: HloExpression, on_false: HloExpression) -> HloExpression:
        return self.op(Opcode.SELECT, on_true, on_false)

    def __lshift__(self, count: Operand) -> HloExpression:
        return self.op(Opcode.SHIFT_LEFT, count)

    def __rshift__(self, count: Operand) -> HloExpression:
        return self.op(Opcode.SHIFT_RIGHT_LOGICAL, count)

    def real(self) -> HloExpression:
        return self.op(Opcode.REAL)

    def imag(self) -> HloExpression:
        return self.op(Opcode.IMAG)

    def astype(self, element_type: ElementType | type[np.generic]) -> HloExpression:
        kind = element_type if isinstance(element_type, ElementType) else ElementType.from_numpy(element_type)
        return HloExpression(self.b, self.b.convert(self.i, self.shape.with_element_type(kind)))

    def bits(self, element_type: ElementType) -> HloExpression:
        """Reinterprets the bits as another type of the same width."""
        shape = self.shape.without_layout().with_element_type(element_type)
        return HloExpression(self.b, self.b.add(Opcode.BITCAST_CONVERT, self.i, shape=shape))

    def reshape(self, dimensions: Sequence[int]) -> HloExpression:
        return HloExpression(self.b, self.b.reshape(self.i, dimensions))


def expressions(b: Builder, *instructions: HloInstruction) -> list[HloExpression]:
    return [HloExpression(b, i) for i in instructions]
