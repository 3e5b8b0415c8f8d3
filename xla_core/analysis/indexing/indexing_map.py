"""IndexingMap: a printable map from an index of a result to the index of the operand element that is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from xla_core.analysis.indexing.access import Condition
from xla_core.analysis.indexing.expression import Index, IndexExpr, Variable
from xla_core.analysis.indexing.operand_accesses import operand_accesses
from xla_core.hlo.ir.instruction import HloInstruction


@dataclasses.dataclass(frozen=True, slots=True)
class IndexingMap:
    """(dimensions)[symbols] -> results.

    Attributes:
        dimensions: the variables of the result's dimensions.
        symbols: the other variables, for loops of the instruction and values known only at run time.
        results: the operand's index.
        conditions: the operand is read only where all of them hold.
    """

    dimensions: tuple[Variable, ...]
    symbols: tuple[Variable, ...]
    results: Index
    conditions: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        symbols = f"[{', '.join(map(str, self.symbols))}]" if self.symbols else ""
        text = f"({', '.join(map(str, self.dimensions))}){symbols} -> ({', '.join(map(str, self.results))})"
        domain = [f"{v} in [{v.low}, {v.high}]" for v in (*self.dimensions, *self.symbols)]
        return ", ".join([text, "domain: " + ", ".join(domain), *map(str, self.conditions)] if domain else [text])


def dimension_variables(dimensions: Sequence[int]) -> tuple[Variable, ...]:
    """Returns the variables d0, d1, ... of an array of `dimensions`."""
    return tuple(Variable(("d", d, extent), extent, f"d{d}") for d, extent in enumerate(dimensions))


def indexing_map(instruction: HloInstruction) -> IndexingMap:
    """Returns the map from an index of the instruction's result to the index of its first operand."""
    shape = next(instruction.shape.leaves())
    dimensions = dimension_variables(shape.dimensions)
    access = operand_accesses(instruction, tuple(map(IndexExpr.of, dimensions)))[0]
    return IndexingMap(dimensions, access.variables, access.index, access.conditions)
