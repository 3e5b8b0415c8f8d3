"""Compares a platform with JAX's CPU, and keeps the figures as data for the documentation.

The causes of failures are data too, in `causes.toml` beside the figures.
"""

from __future__ import annotations

import fnmatch
import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.xla_core.pjrt.jax_suite.running import Outcome
from tests.xla_core.pjrt.jax_suite.selection import Selection

_DATA = Path(__file__).parents[4] / "docs" / "data" / "jax_suite"


def known_cause(test: str) -> str | None:
    """Returns why a test is known to fail on our platforms, by the first pattern of its name."""
    table = tomllib.loads((_DATA / "causes.toml").read_text())
    return next((row["cause"] for row in table["failure"] if fnmatch.fnmatchcase(test, row["tests"])), None)


def compare(ours: Mapping[str, Outcome], reference: Mapping[str, Outcome], selection: Selection) -> dict[str, Any]:
    """Makes a file's row of the table.

    Its failures are those of tests that JAX's CPU passes or skips, each with its error.
    """
    failures = {
        test: f"{outcome.kind}: {outcome.message}"
        for test, outcome in sorted(ours.items())
        if outcome.is_failure and not reference.get(test, outcome).is_failure
    }
    return {
        "cases": selection.cases,
        "share": selection.share,
        "seed": selection.seed,
        "ours": _counts(ours),
        "reference": _counts(reference),
        "skipped by ours alone": sum(
            outcome.kind == "skipped" and reference.get(test, outcome).kind == "passed"
            for test, outcome in ours.items()
        ),
        "failures": failures,
    }


def _counts(outcomes: Mapping[str, Outcome]) -> dict[str, int]:
    kinds = Counter("failed" if outcome.is_failure else outcome.kind for outcome in outcomes.values())
    return {kind: kinds[kind] for kind in ("passed", "failed", "skipped")}


def store(platform: str, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Replaces the rows of files in the documentation's data."""
    path = _DATA / f"{platform}.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    table.update(rows)
    path.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n")
