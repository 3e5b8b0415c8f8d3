"""OrientedProduct: a product of matrices, turned so that its columns are neighbours in the kernel's result."""

from __future__ import annotations

import dataclasses

from xla_core.analysis.indexing import Access, Index, IndexExpr, ProductSpace, has_neighbouring_rows
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.values.shape import Shape


@dataclasses.dataclass(frozen=True, slots=True)
class OrientedProduct:
    """A product with two sides: the lines of side 0 are its rows, and those of side 1 its columns.

    Attributes:
        space: the product as it is.
        operands: the number of the operand that has the rows, and of the operand that has the columns.
        batch: how many products of matrices there are.
        lines: the number of rows, and of columns.
        depth: the number of terms of each sum.
    """

    space: ProductSpace
    operands: tuple[int, int]
    batch: int
    lines: tuple[int, int]
    depth: int

    @staticmethod
    def of(space: ProductSpace, shape: Shape) -> OrientedProduct:
        """Turns a product for a kernel whose result has this shape."""
        batch, rows, columns, depth = space.sizes
        if has_neighbouring_rows(space, shape):
            return OrientedProduct(space, (1, 0), batch, (columns, rows), depth)
        return OrientedProduct(space, (0, 1), batch, (rows, columns), depth)

    @property
    def instruction(self) -> HloInstruction:
        """The dot or the convolution."""
        return self.space.product

    def operand(self, side: int) -> HloInstruction:
        """Returns the operand that has the rows (0) or the columns (1)."""
        return self.instruction.operand(self.operands[side])

    def turned(self, pair: tuple[int, int]) -> tuple[int, int]:
        """Returns something of the rows and of the columns of `space` for the sides."""
        return pair[self.operands[0]], pair[self.operands[1]]

    def index(self, batch: IndexExpr, row: IndexExpr, column: IndexExpr) -> Index:
        """Returns the index of an element of the result."""
        return self.space.index(batch, *((row, column) if self.operands == (0, 1) else (column, row)))

    def access(self, side: int, batch: IndexExpr, line: IndexExpr, term: IndexExpr) -> Access:
        """Returns the access to the operand of a side for a term of the sums of a line."""
        zero = IndexExpr.of(0)
        index = self.index(batch, *((line, zero) if side == 0 else (zero, line)))
        number = self.operands[side]
        access = self.space.accesses(index, term)[number]
        # Conditions are those of a convolution's window on the image; the kernel has all its elements.
        return access if number == 0 else Access(access.index, access.variables)
