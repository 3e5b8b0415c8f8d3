"""Access: the index and the conditions of a read of an operand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from xla_core.analysis.indexing.expression import FloorDiv, Index, IndexExpr, Variable
from xla_core.hlo.ir.instruction import HloInstruction


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """low <= expr <= high. Where it doesn't hold, the operand is not read."""

    expr: IndexExpr
    low: int
    high: int

    @staticmethod
    def of(expr: IndexExpr, low: int, high: int) -> Condition:
        """Returns the condition low <= expr <= high. A condition on a quotient becomes one on its dividend."""
        while len(expr.terms) == 1:
            ((atom, factor),) = expr.terms.items()
            if not isinstance(atom, FloorDiv) or factor != 1:
                break
            low, high = (low - expr.constant) * atom.divisor, (high - expr.constant + 1) * atom.divisor - 1
            expr = atom.dividend
        return Condition(expr, low, high)

    @property
    def is_true(self) -> bool:
        """Whether the condition holds for all values of the variables."""
        return self.low <= self.expr.low and self.expr.high <= self.high

    @property
    def is_false(self) -> bool:
        """Whether the condition holds for no values of the variables."""
        return self.expr.high < self.low or self.high < self.expr.low or self.high < self.low

    def __str__(self) -> str:
        return f"{self.expr} in [{self.low}, {self.high}]"


@dataclasses.dataclass(frozen=True, slots=True)
class Access:
    """A read of one element of an operand, for each value of some variables.

    Attributes:
        index: the index of the element that is read, an expression of `variables` and those of the result.
        variables: the instruction's variables besides those of its result, such as the loops over reduced dimensions.
        conditions: the element is read only where all of them hold.
    """

    index: Index
    variables: tuple[Variable, ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class StartIndex:
    """The key of a variable whose value is an element of an integer operand, which is known only at run time.

    The value is clamped to [0, extent).

    Attributes:
        instruction, operand: the instruction, and the number of the operand.
        index: the element of that operand.
    """

    instruction: HloInstruction
    operand: int
    index: Index


AccessRule = Callable[[HloInstruction, Index], Sequence[Access]]
"""(instruction, index of its result) -> an access for each operand."""


def whole_operand(instruction: HloInstruction, number: int) -> Access:
    """Returns the access to every element of an operand."""
    operand = instruction.operands[number]
    if not operand.shape.is_array:
        return Access(())
    rank = operand.shape.rank
    return whole_dimensions(instruction, [IndexExpr.of(0)] * rank, range(rank), number)


def whole_operands(instruction: HloInstruction, first: int = 0) -> list[Access]:
    """Returns the accesses to every element of each operand from `first` on."""
    return [whole_operand(instruction, number) for number in range(first, len(instruction.operands))]


def whole_dimensions(
    instruction: HloInstruction, index: Sequence[IndexExpr], dimensions: Iterable[int], number: int = 0
) -> Access:
    """Returns the access to all elements along `dimensions` of an operand, at `index` in the other dimensions."""
    operand = instruction.operands[number]
    place, variables = list(index), []
    for d in dimensions:
        extent = operand.shape.dimensions[d]
        variable = Variable((instruction, number, d, tuple(index)), extent, f"s{d}")
        place[d] = IndexExpr.of(variable)
        if extent != 1:
            variables.append(variable)
    return Access(tuple(place), tuple(variables))
