"""RowParts: rows that some reductions reduce, and that others add up, or combine otherwise, over the rows of a part."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence

from xla_core.analysis.indexing.expression import Index, IndexExpr
from xla_core.analysis.indexing.fusion_accesses import memory_index
from xla_core.analysis.indexing.reduced_rows import ReducedRows, reduced_rows
from xla_core.hlo.ir.instruction import HloInstruction


@dataclasses.dataclass(frozen=True, slots=True)
class RowParts:
    """Rows whose elements are neighbours, and their columns, each of which reduces the rows of a part to one element.

    The gradients of a layer normalization are an example. That of the operand needs sums of each row, and that of the
    scale is a sum over all rows. The rows are divided into parts, so that several blocks of threads compute it.

    Attributes:
        columns: as rows of a reduction; `columns.outer` is the number of parts.
    """

    columns: ReducedRows

    @property
    def rows(self) -> ReducedRows:
        """The rows of all parts."""
        return ReducedRows(self.count * self.length, self.columns.inner)

    @property
    def count(self) -> int:
        """The number of parts."""
        return self.columns.outer

    @property
    def length(self) -> int:
        """The number of rows of a part."""
        return self.columns.elements

    def is_column(self, instruction: HloInstruction) -> bool:
        """Whether an instruction reduces the rows of each part to one."""
        return reduced_rows(instruction) == self.columns

    def terms(self, column: HloInstruction, place: IndexExpr) -> Sequence[tuple[HloInstruction, Index]]:
        """What a reduction of columns reads of a row at a place, by the variables of the row: (operand, index)."""
        position = IndexExpr.of(self.rows.outer_variable) * self.rows.elements + place
        operands = column.operands[: len(column.operands) // 2]
        return [(operand, memory_index(operand.shape, position)) for operand in operands]

    def kept_words(self, operands: Iterable[HloInstruction], columns: Iterable[HloInstruction]) -> int:
        """Returns how many 32-bit registers a block needs for a row of the operands and for reductions of columns."""
        wide = (self.rows.elements, self.rows.count * self.rows.elements)
        arrays = [o.shape for o in operands if o.shape.is_array and o.shape.num_elements in wide]
        arrays += [leaf for column in columns for leaf in column.shape.leaves()]
        return self.rows.elements * sum(max(1, shape.element_type.byte_width // 4) for shape in arrays)


def row_parts(kinds: Collection[ReducedRows | None]) -> RowParts | None:
    """Returns the parts if reductions reduce rows and their columns, and nothing else."""
    columns = [rows for rows in kinds if rows is not None and rows.inner > 1]
    if len(kinds) != 2 or len(columns) != 1 or not columns[0].is_regular:
        return None
    parts = RowParts(columns[0])
    return parts if parts.rows in kinds else None
