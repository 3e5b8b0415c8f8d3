"""Reports of measurements: tables for the terminal, JSON, and Markdown."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_conformance.accuracy.frame import Measured, Row, Worst
from xla_core.hlo import ElementType

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 30  # the most failures to print
_COLUMNS = 5  # the most types in a table


def figure(error: float) -> str:
    """Formats an error with three digits, or two below 1, rounded up."""
    if not math.isfinite(error):
        return str(error)
    if error == 0:
        return "0"
    exponent = math.floor(math.log10(error))
    scale = 10.0 ** (2 - exponent if exponent >= 0 else 1 - exponent)
    return f"{math.ceil(error * scale - 1e-9) / scale:g}"


# -- to read -----------------------------------------------------------------------------------------------------------


def print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Prints tables of the largest errors by function and type, their arguments, and the verdict."""
    from rich.markup import escape
    from rich.table import Table

    for subject, group, unit, some in _tables(rows):
        every = _types(some)
        title = f"{subject}: {group}, largest error in {unit}"
        for types in (every[i : i + _COLUMNS] for i in range(0, len(every), _COLUMNS)):
            table = Table("function", *types, "largest at", title=title, box=None, pad_edge=False)
            for function in _unique(r.function for r in some):
                cells = {r.element_type: r for r in some if r.function == function}
                shown = [_cell(cells[t]) if t in cells else "" for t in types]
                table.add_row(function, *shown, escape(_largest_at([cells[t] for t in types if t in cells])))
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


def _largest_at(rows: Sequence[Row]) -> str:
    """The arguments of the largest error of some types."""
    found = [(r.measured.error, r) for r in rows if r.measured is not None and r.measured.worst is not None]
    if not found:
        return ""
    worst = max(found, key=lambda pair: pair[0])[1]
    assert worst.measured is not None
    assert worst.measured.worst is not None
    return f"{worst.element_type}: {worst.measured.worst.arguments}"


def reason(row: Row) -> str:
    """The reason why a row doesn't hold."""
    found = row.measured
    if found is None:
        return row.problem
    parts = []
    if row.bound is None:
        parts.append("it has no bound in bounds.toml")
    elif found.error > row.bound:
        parts.append(f"{figure(found.error)} {row.unit}, allowed {row.bound:g}, at {found.worst}")
    if found.wrong:
        parts.append(f"{found.wrong} special values are wrong, first {found.first_wrong}")
    return "; ".join(parts)


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _types(rows: Sequence[Row]) -> list[str]:
    """The element types, in their usual order."""
    order = {t.value: i for i, t in enumerate(ElementType)}
    return sorted({r.element_type for r in rows}, key=lambda t: order.get(t, len(order)))


def _tables(rows: Sequence[Row]) -> list[tuple[str, str, str, list[Row]]]:
    keys = dict.fromkeys((r.subject, r.group, r.unit) for r in rows)
    return [(*k, [r for r in rows if (r.subject, r.group, r.unit) == k]) for k in keys]


# -- for machines ------------------------------------------------------------------------------------------------------


def to_json(rows: Sequence[Row], environment: dict[str, Any]) -> dict[str, Any]:
    """The rows as plain data. NaN and infinity are strings, because JSON has no such numbers."""
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
    """Writes accuracy.json, with one row in each line, and accuracy.md."""
    directory.mkdir(parents=True, exist_ok=True)
    data, page = directory / "accuracy.json", directory / "accuracy.md"
    content = to_json(rows, environment)
    lines = ",\n".join(json.dumps(row) for row in content["rows"])
    data.write_text(f'{{"environment": {json.dumps(environment)}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    parts = [
        f"## {subject}: {group}\n\nLargest errors in {unit}.\n\n{markdown(some)}\n\n{worst_markdown(some)}"
        for subject, group, unit, some in _tables(rows)
    ]
    page.write_text("\n\n".join(["# Accuracy", *parts]) + "\n", encoding="utf-8")
    return [data, page]


def markdown(rows: Sequence[Row]) -> str:
    """A Markdown table with a row for each function and a column for each type. Subjects share cells: `1 / 2`."""
    subjects = _unique(r.subject for r in rows)
    types = _types(rows)
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
    return _table(lines)


def worst_markdown(rows: Sequence[Row]) -> str:
    """A Markdown table with a row for each check: its largest error, the arguments and the result there."""
    lines = [["function", "type", "bound", "error", "at", "got", "exact, rounded", "points"], ["---"] * 8]
    for row in rows:
        if row.measured is None or row.measured.worst is None:
            continue
        worst, limit = row.measured.worst, "" if row.bound is None else f"{row.bound:g}"
        cells = (worst.arguments, worst.got, worst.expected)
        shown = [f"`{row.function}`", row.element_type, limit, _markdown_cell(row), *cells, f"{row.measured.points:,}"]
        lines.append([cell.replace("|", "\\|") for cell in shown])
    return _table(lines)


def _table(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(row: Row | None) -> str:
    if row is None or row.measured is None:
        return "-"
    return figure(row.measured.error) if row.holds else f"**{figure(row.measured.error)}**"
