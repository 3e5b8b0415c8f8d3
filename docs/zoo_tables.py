"""The table of the zoo of broken backends for the site, from `docs/data/zoo/zoo.json`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["missed", "summary"]

DATA = Path(__file__).parent / "data" / "zoo" / "zoo.json"
_VERDICTS = ("quick", "full", "stress", "missed", "without effect")


def mutants() -> dict[str, dict[str, Any]]:
    """Each mutant by name, with what it breaks, its fault and its verdict."""
    found: dict[str, dict[str, Any]] = json.loads(DATA.read_text())
    return found


def summary() -> str:
    """Counts the mutants by level and verdict, as Markdown."""
    rows: dict[str, Counter[str]] = {}
    for name, mutant in mutants().items():
        rows.setdefault(name.partition("/")[0], Counter())[mutant["verdict"]] += 1
    columns = ("what is broken", "mutants", "found by quick", "only by full", "only by stress", *_VERDICTS[-2:])
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for level, counts in [*rows.items(), ("all", sum(rows.values(), Counter()))]:
        cells = " | ".join(str(counts[verdict]) for verdict in _VERDICTS)
        lines.append(f"| {level} | {counts.total()} | {cells} |")
    return "\n".join(lines)


def missed() -> str:
    """Lists the mutants that no test finds, as Markdown."""
    lines = ["| mutant | breaks | fault |", "|---|---|---|"]
    for name, mutant in mutants().items():
        if mutant["verdict"] == "missed":
            fault = mutant["fault"].replace("|", "\\|")
            lines.append(f"| `{name}` | `{mutant['breaks']}` | {fault} |")
    return "\n".join(lines) if len(lines) > 2 else "None."
