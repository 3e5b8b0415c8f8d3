"""The tables of `accuracy.md`, from the report that `xla accuracy` wrote and from the table of bounds."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.frame import Row
from xla_conformance.accuracy.report import from_json, markdown

__all__ = ["REPORTS", "eight_bits", "group", "sixteen_bits", "summary", "wide"]

REPORTS = Path(__file__).parent / "data" / "accuracy"
_WIDE = ("f32", "f64")
_SIXTEEN = ("bf16", "f16")


@functools.cache
def _rows() -> tuple[Row, ...]:
    """Reads the rows of every report, in the order of the folders."""
    files = sorted(REPORTS.glob("*/accuracy.json"))
    return tuple(row for file in files for row in from_json(json.loads(file.read_text(encoding="utf-8"))))


def _unique(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _of(name: str, types: Sequence[str] | None = None) -> list[Row]:
    return [r for r in _rows() if r.group == name and (types is None or r.element_type in types)]


def wide() -> str:
    """Real functions of f32 and f64: bounds, what was measured, and where f32 on the backend is worst."""
    found = {(r.function, r.element_type, r.subject): r for r in _of("real", _WIDE)}
    evaluator, backend = _unique([r.subject for r in _rows()])
    head = ["function"]
    for t in _WIDE:
        head += [f"{t} {evaluator}", f"{t} {backend}", "bound"]
    lines = [[*head, f"f32 {backend} worst at"], ["---", *["---:"] * 6, "---"]]
    for function in _unique([r.function for r in _of("real", _WIDE)]):
        cells = [f"`{function}`"]
        for t in _WIDE:
            cells += [_cell(found[function, t, s]) for s in (evaluator, backend)]
            cells.append(f"{bound('real', function, t, 'emitter'):g}")
        measured = found[function, "f32", backend].measured
        cells.append(f"`{measured.worst.arguments}`" if measured is not None and measured.worst is not None else "")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: Row) -> str:
    return markdown([row]).rsplit("|", 2)[1].strip()


def sixteen_bits() -> str:
    """Real functions of f16 and bf16."""
    return markdown(_of("real", _SIXTEEN))


def eight_bits() -> str:
    """Real functions of 8 bits and fewer: the largest error of each type over all functions, and of which function."""
    rows = [r for r in _of("real") if r.element_type not in (*_WIDE, *_SIXTEEN)]
    lines = [["type", "subject", "functions", "largest error", "of"], ["---", "---", "---:", "---:", "---"]]
    for element_type in _unique([r.element_type for r in rows]):
        for subject in _unique([r.subject for r in rows]):
            some = [r for r in rows if (r.element_type, r.subject) == (element_type, subject) and r.measured]
            worst = max(some, key=lambda r: r.measured.error if r.measured else 0.0)
            lines.append([f"`{element_type}`", subject, str(len(some)), _cell(worst), f"`{worst.function}`"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def group(name: str) -> str:
    """Another group, `evaluator / backend`."""
    rows = _of(name)
    units = _unique([r.unit for r in rows])
    parts = []
    for unit in units:
        parts.append(f"In units of {unit}:\n\n{markdown([r for r in rows if r.unit == unit])}")
    return "\n\n".join(parts)


def summary() -> str:
    """Counts the checks and points of each group and subject, and the checks beyond their bounds."""
    lines = [
        ["group", "subject", "checks", "results compared", "beyond bounds"],
        ["---", "---", "---:", "---:", "---:"],
    ]
    for name in _unique([r.group for r in _rows()]):
        for subject in _unique([r.subject for r in _rows()]):
            some = [r for r in _of(name) if r.subject == subject]
            points = sum(r.measured.points for r in some if r.measured)
            beyond = sum(not r.holds for r in some)
            lines.append([name, subject, str(len(some)), f"{points:,}", str(beyond)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
