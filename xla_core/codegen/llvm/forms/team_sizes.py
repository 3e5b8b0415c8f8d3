"""Sizes of teams of threads that work on rows."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.indexing import ReducedRows
from xla_core.codegen.llvm.blocks.team import TeamLayout
from xla_core.codegen.sizes import ceil_div, power_below
from xla_core.target import ParallelModel

BLOCK = 256
"""Threads of a block, unless a row is too long for their registers, or there are few rows."""

MOST_CODE = 1024
"""HLO instructions in all copies of a kernel's body, at most, where elements are kept in registers."""


def most_threads(registers: Sequence[Sequence[str]], stride: int, model: ParallelModel) -> int:
    """Returns how many threads a block may have, so that its shared memory has room for each combination alone.

    Args:
        registers: the types of the registers of each combination.
        stride: see `TeamLayout`.
        model: the target's.
    """
    threads = power_below(model.threads)
    while threads > 1:
        layout = TeamLayout(threads // stride, threads, stride, model.lanes)
        if max(map(layout.shared_bytes, registers)) <= model.shared_bytes:
            break
        threads //= 2
    return threads


def vector_width(rows: ReducedRows, model: ParallelModel, bytes_: int, most: int) -> int:
    """Returns how many neighbouring elements of a row, of `bytes_` bytes each, a thread takes at once: 1 to `most`."""
    if rows.inner > 1 or not rows.is_regular:
        return 1
    width, least = max(1, model.vector_bytes // bytes_), max(model.lanes, 2)
    while width > 1 and (rows.elements % width or width > most or rows.elements < width * least):
        width //= 2
    return width


def rows_at_once(rows: ReducedRows, team: int, most: int, model: ParallelModel) -> int:
    """Returns how many rows a block of at most `most` threads takes, with a team for each, if there are many rows."""
    found = max(team, min(most, BLOCK)) // team
    while found // 2 * team >= model.lanes and ceil_div(rows.count, found) < model.units and found > 1:
        found //= 2
    return found
