"""What was measured, as a table to read, JSON, and Markdown."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_conformance.accuracy.frame import Measured, Row, Worst

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["from_json", "markdown", "print_rows", "to_json", "write_report"]

_SHOWN = 30


def figure(error: float) -> str:
    """An error with three digits, never less than it is."""
    if not math.isfinite(error):
        return str(error)
    if error == 0:
        return "0"
    scale = 10.0 ** (2 - max(0, math.floor(math.log10(error))))
    return f"{math.ceil(error * scale - 1e-9) / scale:g}"


# -- to read -----------------------------------------------------------------------------------------------------------


def print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Tables of functions by types with the largest errors, where they are, and the verdict."""
    from rich.markup import escape
    from rich.table import Table

    for subject, group, unit, some in _tables(rows):
        types = _unique(r.element_type for r in some)
        title = f"{subject}: {group}, largest error in {unit}"
        if len(types) <= 2:
            table = Table("function", *(h for t in types for h in (t, "at")), title=title, box=None, pad_edge=False)
        else:
            table = Table("function", *types, title=title, box=None, pad_edge=False)
        for function in _unique(r.function for r in some):
            cells = {r.element_type: r for r in some if r.function == function}
            shown: list[str] = []
            for t in types:
                row = cells.get(t)
                shown.append(_cell(row) if row else "")
                if len(types) <= 2:
                    shown.append(
                        escape(row.measured.worst.arguments) if row and row.measured and row.measured.worst else ""
                    )
            table.add_row(function, *shown)
        console.print(table)
        console.print()
    bad = [r for r in rows if not r.holds]
    for row in bad[:_SHOWN]:
        console.print(f"[red]{row.subject} {row.group} {row.function} {row.element_type}[/]: {escape(reason(row))}")
    if len(bad) > _SHOWN:
        console.print(f"... and {len(bad) - _SHOWN} more; --report DIR writes them all")
    unsupported = sum(not r.supported for r in rows)
    points = sum(r.measured.points for r in rows if r.measured)
    tail = f", {unsupported} not supported" if unsupported else ""
    if bad:
        console.print(f"[bold red]{len(bad)} of {len(rows)} checks are beyond their bounds{tail}.")
    else:
        console.print(f"[bold green]All {len(rows)} checks are within their bounds{tail}: {points:,} points.")


def _cell(row: Row) -> str:
    if row.measured is None:
        return "[dim]-[/]" if not row.supported else "[red]error[/]"
    text = figure(row.measured.error)
    return text if row.holds else f"[red]{text}[/]"


def reason(row: Row) -> str:
    """Why a row doesn't hold."""
    found = row.measured
    if found is None:
        return row.problem
    parts = []
    if row.bound is not None and found.error > row.bound:
        parts.append(f"{figure(found.error)} {row.unit}, allowed {row.bound:g}, at {found.worst}")
    if found.wrong:
        parts.append(f"{found.wrong} special values are wrong, first {found.first_wrong}")
    return "; ".join(parts)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _tables(rows: Sequence[Row]) -> list[tuple[str, str, str, list[Row]]]:
    keys = dict.fromkeys((r.subject, r.group, r.unit) for r in rows)
    return [(*k, [r for r in rows if (r.subject, r.group, r.unit) == k]) for k in keys]


# -- for machines ------------------------------------------------------------------------------------------------------


def to_json(rows: Sequence[Row], environment: dict[str, Any]) -> dict[str, Any]:
    """Everything that is known. NaN and infinity are strings, which all readers of JSON take."""
    return {"environment": environment, "rows": [{**_plain(r), "holds": r.holds} for r in rows]}


def _plain(row: Row) -> dict[str, Any]:
    data = dataclasses.asdict(row)
    data["seconds"] = round(row.seconds, 3)
    if data["measured"] is not None:
        for key in ("error", "rounded"):
            value = data["measured"][key]
            data["measured"][key] = float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return data


def from_json(data: dict[str, Any]) -> list[Row]:
    """The rows of `to_json`."""
    rows = []
    for entry in data["rows"]:
        fields = {k: v for k, v in entry.items() if k not in ("holds", "measured")}
        rows.append(Row(**fields, measured=_measured(entry["measured"])))
    return rows


def _measured(data: dict[str, Any] | None) -> Measured | None:
    if data is None:
        return None
    worst, first = (Worst(**data[k]) if data[k] else None for k in ("worst", "first_wrong"))
    return Measured(data["points"], float(data["error"]), worst, data["wrong"], first, float(data["rounded"]))


def write_report(rows: Sequence[Row], environment: dict[str, Any], directory: Path) -> list[Path]:
    """Writes accuracy.json and accuracy.md."""
    directory.mkdir(parents=True, exist_ok=True)
    data, page = directory / "accuracy.json", directory / "accuracy.md"
    data.write_text(json.dumps(to_json(rows, environment), indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join(f"## {s}: {g}\n\n{markdown(some)}" for s, g, _, some in _tables(rows))
    page.write_text(f"# Accuracy\n\n{text}\n", encoding="utf-8")
    return [data, page]


def markdown(rows: Sequence[Row], *, where: bool = True) -> str:
    """A Markdown table: a row a function, a column a type. Rows of several subjects stand as `evaluator / cpu`."""
    subjects = _unique(r.subject for r in rows)
    types = _unique(r.element_type for r in rows)
    by_key = {(r.function, r.element_type, r.subject): r for r in rows}
    lines = [["function", *types], ["---", *("---:" for _ in types)]]
    for function in _unique(r.function for r in rows):
        cells = [
            " / ".join(_markdown_cell(by_key.get((function, t, s))) for s in subjects)
            if any((function, t, s) in by_key for s in subjects)
            else ""
            for t in types
        ]
        lines.append([f"`{function}`", *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(row: Row | None) -> str:
    if row is None or row.measured is None:
        return "-"
    return figure(row.measured.error) if row.holds else f"**{figure(row.measured.error)}**"
