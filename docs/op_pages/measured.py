"""Measurements of an op: where it is supported, and its errors (`docs/data`)."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from xla_conformance.accuracy.frame import Row
from xla_conformance.accuracy.report import from_json

from .markdown import table

__all__ = ["measured"]

DATA = Path(__file__).parents[1] / "data"
_MARKS = {"pass": "✓", "unsupported": "not supported", "wrong": "**wrong**", "error": "**error**", "": ""}


def measured(name: str, opcodes: Sequence[str]) -> Iterator[str]:
    support = {subject: cells for subject, ops in _support().items() if (cells := ops.get(name))}
    alike: dict[tuple[str, ...], list[str]] = {}
    for column in dict.fromkeys(c for cells in support.values() for c in cells):
        alike.setdefault(tuple(_MARKS[cells.get(column, "")] for cells in support.values()), []).append(column)
    if alike:
        rows = [(" ".join(f"`{c}`" for c in columns), *marks) for marks, columns in alike.items()]
        yield table(("in these types", *support), rows)
    errors = [row for row in _accuracy() if _is_about(row, name)]
    for unit in dict.fromkeys(row.unit for row in errors):
        some = [row for row in errors if row.unit == unit]
        types = list(dict.fromkeys(row.element_type for row in some))
        cell = {(row.function, row.subject, row.element_type): row for row in some}
        lines = [
            (f, s, *(_error(cell.get((f, s, t))) for t in types))
            for f, s in dict.fromkeys((row.function, row.subject) for row in some)
        ]
        yield f"Largest error, in {unit} ([how it is measured](../accuracy.md)):\n\n" + table(
            ("function", "", *(f"`{t}`" for t in types)), lines
        )


def _is_about(row: Row, name: str) -> bool:
    """Tells whether a measurement is of this op, by its name, or by the group or first word of several forms of it."""
    op, function = name.rpartition(".")[2], row.function.replace("-", "_")
    if op in ("fft", "convert"):
        return row.group == op
    first = re.split(r"[ ,]", function)[0]
    return (
        op == function
        or (op in ("reduce", "reduce_window") and first == op)
        or (op == "dot_general" and first == "dot")
    )


def _error(row: Row | None) -> str:
    return "" if row is None else f"{row.measured.error:.3g}" if row.measured is not None else "–"


@functools.cache
def _support() -> dict[str, dict[str, dict[str, str]]]:
    """Subject -> op -> element type -> state."""
    found = [json.loads(f.read_text()) for f in (DATA / "support").glob("*.json")]
    return {d["subject"]: d["ops"] for d in sorted(found, key=lambda d: (d["subject"] != "evaluator", d["subject"]))}


@functools.cache
def _accuracy() -> list[Row]:
    files = sorted((DATA / "accuracy").glob("*/accuracy.json"))
    return [row for file in files for row in from_json(json.loads(file.read_text()))]
