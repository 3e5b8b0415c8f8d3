"""Teams of threads that work on rows: their sizes, and the row of each."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.analysis.indexing import ReducedRows, floor_div, modulo
from xla_core.codegen.llvm.blocks.team import Team, TeamLayout
from xla_core.codegen.llvm.forms.kernel_form import KernelBody
from xla_core.codegen.llvm.ir.builder import IrBuilder
from xla_core.codegen.llvm.ir.module import Value
from xla_core.codegen.llvm.loops.index_values import IndexValues
from xla_core.sizes import ceil_div, power_below
from xla_core.target import ParallelModel
from xla_core.wording import counted

BLOCK = 256
"""Threads of a block, unless a row is too long for their registers, or there are few rows."""

MOST_CODE = 1024
"""HLO instructions in all copies of a kernel's body, at most, where elements are kept in registers."""


def described_rows(rows: ReducedRows) -> str:
    """Returns the number and the length of rows, for display."""
    return f"{counted(rows.count, 'row' if rows.inner == 1 else 'column')} of {rows.elements}"


def widest_element(body: KernelBody) -> int:
    """Returns the bytes of the widest element that a kernel reads or writes."""
    return max(leaf.element_type.byte_width for i in [*body.bound, *body.roots] for leaf in i.shape.leaves())


def team_stride(rows: ReducedRows, model: ParallelModel) -> int:
    """Returns the stride (see `TeamLayout`) of teams: neighbouring threads read neighbours in memory."""
    return 1 if rows.inner == 1 else min(power_below(2 * rows.count - 1), model.lanes)


def team_sizes(groups: int, most: int, stride: int) -> tuple[int, int]:
    """Returns the usual and the largest size of a team. Each of its threads has at least one of the groups of a row.

    Args:
        groups: how many groups of elements, each of which a thread takes at once, a row has.
        most: threads of a block.
        stride: see `TeamLayout`.
    """
    largest = power_below(max(1, min(groups, most // stride)))
    return min(largest, max(1, BLOCK // stride)), largest


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


def bind_row(
    b: IrBuilder, indices: IndexValues, rows: ReducedRows, team: Team, layout: TeamLayout, units: Value
) -> tuple[Value, Value]:
    """Binds the variables of the team's row. Returns the row's number, and whether the team has a row of its own.

    A team without one works on the last row again, and must store nothing. `units` is how many blocks come before.
    """
    number, is_row = b.add(b.mul(units, b.int_(layout.teams)), team.number), b.bool_(True)
    if rows.count % layout.teams:
        is_row = b.icmp("ult", number, b.int_(rows.count))
        number = b.intrinsic("umin", number, b.int_(rows.count - 1))
    row = indices.new("row", rows.count, number)
    indices.bind(rows.outer_variable, indices.value(floor_div(row, rows.inner)))
    indices.bind(rows.inner_variable, indices.value(modulo(row, rows.inner)))
    return number, is_row
