"""Access: the element of an operand that is read, and when."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from xla_core.analysis.indexing.expression import Index, IndexExpr, Variable
from xla_core.hlo.instruction import HloInstruction


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """low <= expr <= high. Where it doesn't hold, the operand is not read."""

    expr: IndexExpr
    low: int
    high: int

    @property
    def is_true(self) -> bool:
        """Whether it holds for all values of the variables."""
        return self.low <= self.expr.low and self.expr.high <= self.high

    def __str__(self) -> str:
        return f"{self.expr} in [{self.low}, {self.high}]"


@dataclasses.dataclass(frozen=True, slots=True)
class Access:
    """How an operand is read.

    Attributes:
        index: the element that is read, for each value of `variables`.
        variables: those that the instruction adds to the index at which it is computed, such as the loops over reduced
            dimensions.
        conditions: the element is read only where all of them hold.
    """

    index: Index
    variables: tuple[Variable, ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class StartIndex:
    """The key of a variable whose value an operand of integers has at run time, clamped to [0, extent).

    Attributes:
        instruction, operand: the instruction, and the number of the operand.
        index: the element of that operand.
    """

    instruction: HloInstruction
    operand: int
    index: Index


AccessRule = Callable[[HloInstruction, Index], Sequence[Access]]
"""(instruction, index of its result) -> an access for each operand."""


def whole(instruction: HloInstruction, number: int) -> Access:
    """An access to every element of an operand."""
    operand = instruction.operands[number]
    if not operand.shape.is_array:
        return Access(())
    return ranging(instruction, [IndexExpr.of(0)] * operand.shape.rank, range(operand.shape.rank), number)


def ranging(
    instruction: HloInstruction, index: Sequence[IndexExpr], dimensions: Iterable[int], number: int = 0
) -> Access:
    """An access to all elements along `dimensions` of an operand, and at `index` in the others."""
    operand = instruction.operands[number]
    found, variables = list(index), []
    for d in dimensions:
        extent = operand.shape.dimensions[d]
        variable = Variable((instruction, number, d, tuple(index)), extent, f"s{d}")
        found[d] = IndexExpr.of(variable)
        if extent != 1:
            variables.append(variable)
    return Access(tuple(found), tuple(variables))
