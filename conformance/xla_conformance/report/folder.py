"""The folder of a report: where it is, and that it can be written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from xla_conformance.report.files import write_report
from xla_conformance.results import Run

_ELSEWHERE = "elsewhere"
"""A file in the user's cache that names the folder of the last report if that is not in the cache."""


def last_folder(report: Path | None, backend: str | None) -> Path:
    """The folder of the last report: the given one, or else that of the backend's last run, wherever it wrote."""
    if report is not None:
        return report.resolve()
    cache = _cache(backend)
    try:
        elsewhere = Path((cache / _ELSEWHERE).read_text())
    except OSError:
        return cache
    return elsewhere if (elsewhere / "report.json").exists() else cache


def _cache(backend: str | None) -> Path:
    """The folder in the user's cache for reports of runs without --report."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "xla-core", "conform", backend or "default")


def made_folder(out: Console, report: Path | None, backend: str | None) -> Path:
    """Makes the folder of the report, before the tests start: a temporary one if the user's cache can't have it.

    Raises:
        OSError: the folder was given, and nothing can be written there.
    """
    folder = report.resolve() if report is not None else _cache(backend)
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
    out: Console, run: Run, folder: Path, backend: str | None, earlier: dict[str, Any] | None = None, *, wanted: bool
) -> None:
    """Writes the report, keeps where it is, and prints the paths of its files if the user gave the folder.

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
    with contextlib.suppress(OSError):  # the cache can't be written
        _remember(folder, _cache(backend))
    for path in files if wanted else ():
        out.print(str(path), markup=False, soft_wrap=True)


def _remember(folder: Path, cache: Path) -> None:
    """Keeps in the user's cache where the last report is."""
    if folder == cache:
        (cache / _ELSEWHERE).unlink(missing_ok=True)
        return
    cache.mkdir(parents=True, exist_ok=True)
    (cache / _ELSEWHERE).write_text(str(folder))
