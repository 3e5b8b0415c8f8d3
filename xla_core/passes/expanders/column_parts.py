"""Reductions of columns whose elements a kernel that reduces rows computes, and the parts that the rows have there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from xla_core.analysis.indexing import ReducedRows, RowParts, reduced_rows
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.target import ParallelModel
from xla_core.traversal import reachable

_LEAST_ROWS = 8
"""Rows of a part, at least. Each reduction of columns then writes and reads a quarter of what a kernel of its own would
read of an operand.
"""

_NEAR = 64  # instructions that are searched for reductions of the same rows


def parts_beside_rows(reduction: HloInstruction, model: ParallelModel) -> int | None:
    """Returns into how many parts the rows of a reduction of columns are divided for a kernel that reduces the rows.

    The number is that of parts of each of `reduced_rows(reduction).outer` matrices. None if no such kernel is expected,
    or if the rows can't be divided into equal parts, enough for the device.
    """
    columns = reduced_rows(reduction)
    if columns is None or columns.inner < 2 or not columns.is_regular or not model.has_blocks:
        return None
    parts = RowParts(columns)
    if parts.kept_words(reduction.operands, [reduction]) > model.kept_words:
        return None
    if not _is_beside_rows(reduction, parts.rows):
        return None
    if columns.outer >= model.least_parts and columns.elements * columns.inner < model.split_reduction_elements:
        return 1  # the blocks have little to do each
    most = min(max(1, model.units // columns.outer), columns.elements // _LEAST_ROWS)
    count = next((n for n in range(most, 0, -1) if columns.elements % n == 0), 0)
    return count if count * columns.outer >= model.least_parts else None


def _is_beside_rows(reduction: HloInstruction, rows: ReducedRows) -> bool:
    """Whether an array that the reduction combines, or is computed from, is also reduced by rows.

    The reduction of rows doesn't depend on that of columns, so that one kernel can compute both.
    """
    size = rows.count * rows.elements

    def is_wide(instruction: HloInstruction) -> bool:
        return instruction.shape.is_array and instruction.shape.num_elements == size

    def sources(instruction: HloInstruction) -> Iterator[HloInstruction]:
        if _keeps_place(instruction):
            yield from filter(is_wide, instruction.operands)

    def users(instruction: HloInstruction) -> Iterator[HloInstruction]:
        for user in instruction.users:
            if reduced_rows(user) == rows or (is_wide(user) and _keeps_place(user)):
                yield user

    near = _nearest([reduction.operand(0)], sources)
    found = [i for i in _nearest(near, users) if reduced_rows(i) == rows]
    if not found:
        return False
    later = reachable([reduction], lambda i: i.users)
    return any(i not in later for i in found)


def _keeps_place(instruction: HloInstruction) -> bool:
    """Whether an element of the result needs the operands' elements at its own place in memory only."""
    return instruction.is_elementwise or instruction.opcode in (Opcode.RESHAPE, Opcode.BITCAST)


def _nearest(
    seeds: Iterable[HloInstruction], following: Callable[[HloInstruction], Iterable[HloInstruction]]
) -> list[HloInstruction]:
    """Like `reachable`, but returns the nearest instructions only."""
    found = dict.fromkeys(seeds)
    queue = deque(found)
    while queue and len(found) < _NEAR:
        for instruction in following(queue.popleft()):
            if instruction not in found:
                found[instruction] = None
                queue.append(instruction)
    return list(found)
