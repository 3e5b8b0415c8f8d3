"""The tables of JAX's own tests for the site, from `docs/data/jax_suite`."""

from __future__ import annotations

import fnmatch
import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

__all__ = ["causes", "summary"]

DATA = Path(__file__).parent / "data" / "jax_suite" / "xla_cpu.json"


def rows() -> dict[str, dict[str, Any]]:
    """The row of each file of tests."""
    found: dict[str, dict[str, Any]] = json.loads(DATA.read_text())
    return found


def summary() -> str:
    """Counts the outcomes by file, as Markdown."""
    lines = [
        "| file | part | passed | failed | skipped | JAX's CPU passed | failed | skipped | of JAX's CPU's share |",
        "|---" * 9 + "|",
    ]
    ours: Counter[str] = Counter()
    reference: Counter[str] = Counter()
    for name, row in rows().items():
        part = "all" if row["share"] == 1 else f"{row['share']:.0%}"
        lines.append(_line(f"`{name}_test`", f"{part}, {row['cases']} cases", row["ours"], row["reference"]))
        ours.update(row["ours"])
        reference.update(row["reference"])
    return "\n".join([*lines, _line("all", "", ours, reference)])


def _line(name: str, part: str, ours: dict[str, int], reference: dict[str, int]) -> str:
    counts = [str(outcomes[kind]) for outcomes in (ours, reference) for kind in ("passed", "failed", "skipped")]
    share = f"{100 * _share(ours) / _share(reference):.2f} %" if _share(reference) else ""
    return f"| {' | '.join([name, part, *counts, share])} |"


def _share(outcomes: dict[str, int]) -> float:
    ran = outcomes["passed"] + outcomes["failed"]
    return outcomes["passed"] / ran if ran else 1.0


def causes() -> str:
    """Lists the failures of tests that JAX's CPU passes or skips by their causes, as Markdown."""
    known = tomllib.loads((DATA.parent / "causes.toml").read_text())["failure"]
    by_cause: dict[str, list[str]] = {}
    for row in rows().values():
        for test in row["failures"]:
            cause = next((row["cause"] for row in known if fnmatch.fnmatchcase(test, row["tests"])), "Not known.")
            by_cause.setdefault(cause, []).append(test.replace(".py::", "::"))
    lines = ["| cause | tests |", "|---|---|"]
    for cause, tests in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {cause} | {', '.join(f'`{test}`' for test in tests)} |")
    return "\n".join(lines) if by_cause else "None."
