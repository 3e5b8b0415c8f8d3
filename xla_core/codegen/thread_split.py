"""Plans how the threads of a grid divide the elements of a section of a kernel.

The elements are rows of groups of neighbouring elements, which are the lanes of a vector. A thread computes the same
group of several rows. Values that don't depend on the row, such as an element of a broadcast vector, are then computed
once a thread, and the position within a row is divided once a thread. Indexing maps decide where the elements are best
cut into rows.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence

from xla_core.analysis.indexing import FloorDiv, FusionAccesses, IndexExpr, Loops, Variable
from xla_core.codegen.loop_plan import Section
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.sizes import ceil_div
from xla_core.target import ParallelModel
from xla_core.wording import counted

_DIVISION = 4.0  # the cost of a division by a constant, in accesses of memory


@dataclasses.dataclass(frozen=True, slots=True)
class ThreadSplit:
    """The parts of a section's elements.

    Attributes:
        row, column: the row, and the group of elements within it.
        width: elements of a group.
        rows_at_once: how many rows the threads work on at once. Each thread then goes on to the row that is this number
            of rows further.
        vectors: positions in memory of the first elements of groups that lie as neighbours at a multiple of `width`.
    """

    row: Variable
    column: Variable
    width: int
    rows_at_once: int
    vectors: Collection[IndexExpr] = ()

    @property
    def units(self) -> int:
        """The number of threads."""
        return self.rows_at_once * self.column.extent

    @property
    def steps(self) -> int:
        """How many rows a thread computes, at most."""
        return ceil_div(self.row.extent, self.rows_at_once)

    def position(self, lane: IndexExpr) -> IndexExpr:
        """Returns the position in the section of an element of a group."""
        row, column = IndexExpr.of(self.row), IndexExpr.of(self.column)
        return row * (self.column.extent * self.width) + column * self.width + lane

    def __str__(self) -> str:
        each = f"{self.steps} x {self.width} elements" if self.steps > 1 else counted(self.width, "element")
        return f"{counted(self.row.extent, 'row')} of {self.column.extent * self.width}, {each} a thread"


def split_threads(
    section: Section,
    extents: Sequence[int],
    bound: Collection[HloInstruction],
    loops: Loops,
    model: ParallelModel,
    most: int,
) -> ThreadSplit:
    """Returns the split that needs the fewest accesses and divisions for each element.

    Args:
        section: the section whose elements are divided.
        extents: its loops, split where an index would be divided.
        bound, loops: see `FusionAccesses`.
        model: the target's.
        most: elements of a group, at most.
    """
    count = math.prod(extents)
    while most > 1 and count < most * model.units * model.lanes:  # too few threads
        most //= 2
    lengths = [0, *(math.prod(extents[n:]) for n in range(1, len(extents)))]
    found: list[tuple[float, ThreadSplit]] = []
    for length in dict.fromkeys(lengths):
        widths = [w for w in (most, 1) if (length or count) % w == 0] if most > 1 else [1]
        found += [_evaluated(section, count, length or w, w, bound, loops, model) for w in dict.fromkeys(widths)]
    return min(found, key=lambda pair: pair[0])[1]


def _evaluated(
    section: Section,
    count: int,
    length: int,
    width: int,
    bound: Collection[HloInstruction],
    loops: Loops,
    model: ParallelModel,
) -> tuple[float, ThreadSplit]:
    """Returns the cost of an element in rows of `length` elements, and the split."""
    rows, columns = count // length, length // width
    steps = ceil_div(rows * columns, model.resident_threads) if model.resident_threads else 1
    split = ThreadSplit(
        Variable((section.space, "row"), rows, "row"),
        Variable((section.space, "column"), columns, "column"),
        width,
        ceil_div(rows, min(steps, rows)),
    )
    lane = Variable((section.space, "lane"), width, "lane")
    accesses = FusionAccesses(bound, loops)
    section.visit(accesses, split.position(IndexExpr.of(lane)))
    vectors: dict[IndexExpr, None] = {}
    cost = 0.0

    def often(variables: Collection[Variable], copies: int) -> float:
        return copies / (1 if split.row in variables else split.steps)

    for position in [*(load.position for load in accesses.loads), *accesses.values]:
        first = position.substitute({lane: IndexExpr.of(0)})
        is_vector = width > 1 and position == first + IndexExpr.of(lane) and first.is_multiple_of(width)
        if is_vector:
            vectors[first] = None
        cost += often(position.variables, 1 if is_vector or lane not in position.variables else width)
    for division in dict.fromkeys(d for expr in accesses.exprs for d in _divisions(expr)):
        cost += _DIVISION * often(division.variables, width if lane in division.variables else 1)
    return cost / width, dataclasses.replace(split, vectors=frozenset(vectors))


def _divisions(expr: IndexExpr) -> Iterator[FloorDiv]:
    for atom in expr.terms:
        if isinstance(atom, FloorDiv):
            yield atom
            yield from _divisions(atom.dividend)
