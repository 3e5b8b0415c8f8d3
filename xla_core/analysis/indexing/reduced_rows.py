"""ReducedRows: the elements that a reduction combines, as rows of an array in memory."""

from __future__ import annotations

import dataclasses
import math

from xla_core.analysis.indexing.expression import Index, IndexExpr, Variable
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.shape import Shape

OUTER, INNER, PLACE = "outer", "inner", "place"


@dataclasses.dataclass(frozen=True, slots=True)
class ReducedRows:
    """`outer` x `inner` rows of `elements` elements, each of which is reduced to one.

    Neighbours in a row are `inner` elements apart in memory. Rows whose neighbours are next to each other have an
    `inner` of 1; the columns of a matrix are rows too.

    Attributes:
        outer, inner: the numbers of rows.
        elements: the number of elements of a row.
        is_regular: whether an array of these elements is [outer, elements, inner] in memory. A row that isn't regular
            has several parts.
    """

    outer: int
    elements: int
    inner: int = 1
    is_regular: bool = True

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.outer * self.inner

    @property
    def outer_variable(self) -> Variable:
        return Variable(OUTER, self.outer, OUTER)

    @property
    def inner_variable(self) -> Variable:
        return Variable(INNER, self.inner, INNER)

    @property
    def place_variable(self) -> Variable:
        """The variable of an element within a row."""
        return Variable(PLACE, self.elements, PLACE)

    def fits(self, shape: Shape) -> bool:
        """Whether an array has one element a row, or all elements of the rows."""
        whole = self.is_regular and shape.num_elements == self.count * self.elements
        return whole or shape.num_elements == self.count

    def position(self, shape: Shape, place: IndexExpr) -> IndexExpr:
        """Returns the position in memory of an element of an array that `fits`, by the variables of its row."""
        outer, inner = IndexExpr.of(self.outer_variable), IndexExpr.of(self.inner_variable)
        if shape.num_elements != self.count:
            outer = outer * self.elements + place
        return outer * self.inner + inner


def is_of_row(index: Index) -> bool:
    """Whether an index is the same for all elements of a row, so that it has the variables of a row only."""
    return all(variable.key in (OUTER, INNER) for expr in index for variable in expr.variables)


def reduced_rows(instruction: HloInstruction) -> ReducedRows | None:
    """Returns the rows that a reduction combines; None for any other instruction, and if there are no elements."""
    if instruction.opcode != Opcode.REDUCE:
        return None
    shape = instruction.operand(0).shape
    reduced = set(instruction.attribute("dimensions"))
    minor = [d for d in shape.minor_to_major() if shape.dimensions[d] != 1]
    if not shape.num_elements:
        return None
    kept_inner = next((n for n, d in enumerate(minor) if d in reduced), len(minor))
    inner = math.prod(shape.dimensions[d] for d in minor[:kept_inner])
    elements = math.prod(shape.dimensions[d] for d in minor if d in reduced)
    outer = shape.num_elements // (inner * elements)
    count = sum(1 for d in minor if d in reduced)
    is_regular = all(d in reduced for d in minor[kept_inner : kept_inner + count])
    return ReducedRows(outer, elements, inner, is_regular)
