"""Writes the files of a report into a folder, which is a submission that `xla conform --verify` checks."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from xla_conformance.report.document import to_json
from xla_conformance.report.junit import write_junit
from xla_conformance.results import Run
from xla_conformance.stablehlo import report as stablehlo_report

MANIFEST = "manifest.json"
VIEWS = ("junit.xml", "index.html", "badge.svg")
"""The files that follow from report.json."""


def write_report(run: Run, folder: Path, earlier: dict[str, Any] | None = None) -> list[Path]:
    """Writes report.json, junit.xml, index.html, badge.svg, for StableHLO's files stablehlo.md, and manifest.json.

    Args:
        run: the run to report.
        folder: where the files go; made if it doesn't exist.
        earlier: an earlier report, with which the page compares this run.

    Returns:
        The paths of the files.
    """
    from xla_conformance.report.badge import badge
    from xla_conformance.report.page import page

    folder.mkdir(parents=True, exist_ok=True)
    document = to_json(run)
    files = [folder / name for name in ("report.json", *VIEWS)]
    files[0].write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    write_junit(run, files[1])
    files[2].write_text(page(document, earlier), encoding="utf-8")
    files[3].write_text(badge(document), encoding="utf-8")
    files += stablehlo_report.write(run, folder)
    manifest = folder / MANIFEST
    manifest.write_text(json.dumps({"files": hashes(folder)}, indent=1) + "\n", encoding="utf-8")
    return [*files, manifest]


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file below the folder but the manifest, by its path."""
    files = sorted(f for f in folder.rglob("*") if f.is_file() and f != folder / MANIFEST)
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
