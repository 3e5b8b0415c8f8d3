"""IndexSpace: the indices at which a kernel computes each fused instruction, and the number of evaluations.

A kernel is a nest of loops over the elements of its root. A value is computed once for each index, in the innermost
loop that the index depends on. The number of `evaluations` of an index is therefore the product of the sizes of the
loops around it. (XLA: xla/service/fusion_node_indexing_evaluation.h, which counts the indices only.)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from xla_core.analysis.indexing import (
    Access,
    Condition,
    Index,
    IndexExpr,
    ReducedRows,
    StartIndex,
    Variable,
    accumulates,
    memory_index,
    operand_accesses,
    placed,
    product_space,
    product_tile,
    reduced_rows,
    scanned_rows,
)
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.target import ParallelModel


def is_elementwise_use(user: HloInstruction, operand: HloInstruction) -> bool:
    """Whether `user` reads `operand` at the same index that it writes."""
    if not user.is_elementwise:
        return False
    shape = next(user.shape.leaves(), None)
    return shape is not None and shape.dimensions == operand.shape.dimensions


@dataclasses.dataclass(frozen=True, slots=True)
class Use:
    """How a kernel uses the values of an instruction at one index.

    Attributes:
        part: the part of the evaluations that are needed.
        least: how often the code around runs that is executed only where a condition holds, such as the operand of a
            pad. Accumulating instructions are computed as often, because their loops stay inside such code.
    """

    part: float = 1.0
    least: float = 0.0

    def and_also(self, other: Use) -> Use:
        """Returns the use where both are made."""
        return Use(min(1.0, self.part + other.part), max(self.least, other.least))


class IndexSpace:
    """The loops of one kernel, which run over the result of `root` in memory order.

    The work of a kernel without blocks of threads is divided into `parallel.units` units. Each unit computes values
    that depend on no loop. With blocks of threads, each element is computed by a thread, which computes everything that
    it needs, but for the reductions of `rows` and for scans, which a block computes together.

    Args:
        root: what the kernel computes.
        parallel: how the target divides work.
        rows: those that the reductions of the kernel reduce. The kernel's elements are those of the rows.
    """

    def __init__(self, root: HloInstruction, parallel: ParallelModel, rows: ReducedRows | None = None) -> None:
        shape = next(iter(root.shape.array_leaves()), root.shape)
        self._instruction = root
        self._rows = rows
        self._parallel = parallel
        self._has_blocks = parallel.has_blocks
        self._evaluations: dict[Variable, float] = {}
        self._accesses: dict[tuple[HloInstruction, Index], Sequence[Access]] = {}
        if rows is not None:
            self._units = 1.0
            self._evaluations = dict.fromkeys((rows.outer_variable, rows.inner_variable), float(rows.count))
            self._evaluations[rows.place_variable] = float(rows.count * rows.elements)
            self.root: Index = memory_index(shape, rows.position(shape, IndexExpr.of(rows.place_variable)))
            return
        variables = [Variable(("root", d), n, f"d{d}") for d, n in enumerate(shape.dimensions)]
        self.root = tuple(map(IndexExpr.of, variables))
        order = [d for d in reversed(shape.minor_to_major()) if shape.dimensions[d] != 1]
        inner = shape.dimensions[order[-1]] if order else 1
        if parallel.has_blocks:
            # Some lanes of each row compute what depends on the row only.
            self._units = shape.num_elements / max(1.0, inner / parallel.lanes)
            self._evaluations = dict.fromkeys(variables, self._units)
            self._evaluations.update((variables[d], float(shape.num_elements)) for d in order[-1:])
            return
        units, least = parallel.units, parallel.row_elements
        self._units = float(units if shape.num_elements > 1 else 1)
        outer = math.prod(shape.dimensions[d] for d in order[:-1])
        # If there are few rows, they are divided too, and each part computes the values that depend on the row only.
        chunks = (
            min(units / outer, inner / least) if 0 < outer < units and inner >= 2 * least and len(order) > 1 else 1.0
        )
        count = 1.0
        for d in order:
            count *= shape.dimensions[d]
            self._evaluations[variables[d]] = count if d == order[-1] else count * chunks

    def evaluations(self, index: Index) -> float:
        """Returns how often the kernel computes a value at `index`."""
        return self._most(index) or self._units

    def times(self, instruction: HloInstruction, index: Index, use: Use) -> float:
        """Returns how many elements of an instruction the kernel computes at `index`."""
        least = use.least if accumulates(instruction) else 0.0
        return max(self.evaluations(index), least) * use.part

    def use(self, user: HloInstruction, access: Access, index: Index, use: Use) -> Use:
        """Returns how the kernel uses the operand that `user`, computed at `index` for `use`, reads by an access."""
        least = use.least
        if access.conditions and not self._has_blocks and not self._has_loops_of_parts(user):
            least = max(least, self.evaluations(index))
        return Use(use.part * self.share(access.conditions), least)

    def _has_loops_of_parts(self, user: HloInstruction) -> bool:
        """Whether `user` is the root of the kernel, and each of its operands has loops of its own."""
        return user is self._instruction and user.opcode == Opcode.CONCATENATE

    def access(self, user: HloInstruction, number: int, index: Index, least: float = 0.0) -> Access:
        """Returns the access by which `user`, computed at `index`, reads its operand `number`.

        `least` is that of the use.
        """
        operand = user.operands[number]
        if is_elementwise_use(user, operand):
            return Access(index)
        if self._has_blocks and scanned_rows(user) is not None:  # a block computes each element of a row once
            return Access(() if number else index)
        known = self._accesses.get((user, index))
        if known is None:
            known = self._accesses[user, index] = self._in_place(user, operand_accesses(user, index))
            if self._rows is not None and reduced_rows(user) == self._rows:
                known = self._accesses[user, index] = placed(known, IndexExpr.of(self._rows.place_variable))
            else:
                for access, shared in zip(known, self._shared(user, len(known)), strict=True):
                    self._count(access, index, shared, least)
        return known[number]

    def share(self, conditions: Sequence[Condition]) -> float:
        """Returns the fraction of evaluations for which the conditions hold."""
        share = 1.0
        for condition in conditions:
            expr = condition.expr
            inside = min(expr.high, condition.high) - max(expr.low, condition.low) + 1
            share *= max(inside, 0) / (expr.high - expr.low + 1)
        return share

    def _in_place(self, user: HloInstruction, accesses: Sequence[Access]) -> Sequence[Access]:
        """Returns the accesses of `user`. The loops of a dynamic-update-slice run over its update only."""
        if user.opcode != Opcode.DYNAMIC_UPDATE_SLICE:
            return accesses
        shape = user.operand(1).shape
        variables = [Variable(("update", user, d), n, f"u{d}") for d, n in enumerate(shape.dimensions)]
        self._evaluations.update(dict.fromkeys(variables, float(shape.num_elements)))
        return [accesses[0], Access(tuple(map(IndexExpr.of, variables))), *accesses[2:]]

    def _count(self, access: Access, index: Index, shared: float, least: float) -> None:
        """Records the evaluations of the variables that an access at `index` adds.

        Each value that depends on them serves `shared` elements.
        """
        count = max(self._most(index) or (self._units if index else 1.0), least) / shared
        for variable in access.variables:
            if isinstance(variable.key, StartIndex):
                self._evaluations[variable] = self._most(variable.key.index) or 1.0
            else:
                count *= variable.extent
                self._evaluations[variable] = count

    def _shared(self, user: HloInstruction, operands: int) -> Sequence[float]:
        """For how many elements of `user` a block of threads computes an element of each operand once."""
        space = product_space(user) if self._has_blocks else None
        if space is None:
            return [1.0] * operands
        rows, columns = product_tile(space, user.shape, self._parallel)
        return [min(columns, space.sizes[2]), min(rows, space.sizes[1])]

    def _most(self, index: Index) -> float:
        return max((self._evaluations[v] for expr in index for v in expr.variables), default=0.0)
