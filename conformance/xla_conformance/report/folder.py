"""The folder of a report: where it is, and that it can be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from xla_conformance.report.files import write_report
from xla_conformance.results import Run


def report_folder(report: Path | None, backend: str | None) -> Path:
    """The folder of the report: the given one, or else one in the user's cache that keeps the last."""
    if report is not None:
        return report.resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "xla-core", "conform", backend or "default")


def made_folder(out: Console, report: Path | None, backend: str | None) -> Path:
    """Makes the folder of the report, before the tests start: a temporary one if the user's cache can't have it.

    Raises:
        OSError: the folder was given, and nothing can be written there.
    """
    folder = report_folder(report, backend)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        if report is not None:
            raise
        made = Path(tempfile.mkdtemp(prefix="xla-report-"))
        text = f"nothing can be written to {folder} ({error.strerror}), so the report will be in {made}"
        out.print(text, markup=False, soft_wrap=True)
        return made


def write_and_name(
    out: Console, run: Run, folder: Path, earlier: dict[str, Any] | None = None, *, wanted: bool
) -> None:
    """Writes the report, and prints the paths of its files if the user gave the folder.

    Raises:
        OSError: the user gave the folder, and the report can't be written.
    """
    try:
        files = write_report(run, folder, earlier)
    except OSError as error:
        if wanted:
            raise
        out.print(f"the report can't be written to {folder}: {error}", markup=False, soft_wrap=True)
        return
    for path in files if wanted else ():
        out.print(str(path), markup=False, soft_wrap=True)
