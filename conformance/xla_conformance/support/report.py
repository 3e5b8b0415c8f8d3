"""The matrix for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_conformance.support.cells import CellState

if TYPE_CHECKING:
    from rich.console import Console

    from xla_conformance.support.matrix import SupportMatrix

_STYLES = {CellState.UNSUPPORTED: "yellow", CellState.WRONG: "bold red", CellState.ERROR: "red"}


def print_matrix(console: Console, matrix: SupportMatrix) -> None:
    """Prints the cells that don't pass, by op and reason, and the number of cells in each state."""
    from rich.markup import escape
    from rich.table import Table

    table = Table("op", "", "types", "why", box=None, pad_edge=False)
    whole = 0
    for op, row in matrix.cells.items():
        reasons: dict[tuple[CellState, str], list[str]] = {}
        for column, cell in row.items():
            if cell.state is not CellState.PASS:
                reasons.setdefault((cell.state, cell.reason), []).append(column)
        whole += not reasons
        for (state, reason), columns in reasons.items():
            table.add_row(op, f"[{_STYLES[state]}]{state.value}[/]", " ".join(columns), escape(reason))
    if table.row_count:
        console.print(table)
        console.print()
    counts = matrix.counts()
    cells = ", ".join(f"{counts[s]} {s.value}" for s in CellState if counts[s])
    style = "bold green" if matrix.is_right else "bold red"
    console.print(f"[{style}]{matrix.subject}: {whole} of {len(matrix.cells)} ops run in every type: {cells}.")
