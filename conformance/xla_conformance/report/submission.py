"""Checks a report's folder as a submission: `xla conform --verify DIR`."""

from __future__ import annotations

import datetime
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xla_core as xla
from xla_conformance import __version__
from xla_conformance.levels import scores
from xla_conformance.report.document import from_json, read_document, to_json
from xla_conformance.report.files import MANIFEST, VIEWS, hashes, write_report
from xla_conformance.results import State
from xla_conformance.runner import collect_tests
from xla_conformance.waivers import Waiver
from xla_core.errors import NotFoundError

_DERIVED = ("conforms", "passes", "summary", "groups", "levels", "ops")
_NEEDED = ("suite_version", "core_version", "contract_version", "backend_version", "device")
_TREND = re.compile(r'<section id="trend">.*?</section>\n', re.DOTALL)


def problems_of(folder: Path) -> list[str]:
    """Returns the problems of a submission; none if it is right.

    Raises:
        NotFoundError: there is no such folder.
        InvalidArgumentError: its report.json is not a report.
    """
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {folder}")
    document = read_document(folder)
    problems = [*_files(folder), *_whole(document), *_derived(document), *_waivers(document)]
    return problems or [*_views(folder, document), *_complete(document)]


def _files(folder: Path) -> Iterator[str]:
    manifest = folder / MANIFEST
    try:
        listed = dict(json.loads(manifest.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield f"{MANIFEST} can't be read: {error}"
        return
    found = hashes(folder)
    yield from (f"{name} is listed in {MANIFEST} and missing" for name in listed if name not in found)
    yield from (f"{name} is not listed in {MANIFEST}" for name in found if name not in listed)
    changed = [name for name in listed if name in found and found[name] != listed[name]]
    yield from (f"{name} was changed: its hash is another" for name in changed)


def _whole(document: dict[str, Any]) -> Iterator[str]:
    environment = document["environment"]
    yield from (f"the environment lacks {key}" for key in _NEEDED if not environment.get(key))
    for what, key, ours in (("the suite", "suite_version", __version__), ("xla-core", "core_version", xla.__version__)):
        if (version := environment.get(key)) and version != ours:
            yield f"it was made by version {version} of {what}, this is {ours}"
    if document["selection"]:
        yield f"only a selection of the tests ran: {document['selection']}"
    if document["problem"] or document["not_run"]:
        yield f"not all tests ran: {document['problem'] or document['not_run']}"
    ids = [r["id"] for r in document["results"]]
    if len(set(ids)) != len(ids):
        yield "a test has two results"
    if not document["conforms"]:
        yield "it does not conform"


def _views(folder: Path, document: dict[str, Any]) -> Iterator[str]:
    """The files that don't show what report.json says. The page may also have the changes since an earlier report."""
    with tempfile.TemporaryDirectory() as made:
        write_report(from_json(document), Path(made))
        for name in VIEWS:
            texts = [
                _TREND.sub("", (place / name).read_text(encoding="utf-8"), count=1) for place in (folder, Path(made))
            ]
            if texts[0] != texts[1]:
                yield f"{name} does not show what report.json says"


def _complete(document: dict[str, Any]) -> Iterator[str]:
    """Whether it has every test of the suite, and no other."""
    wanted = collect_tests(document["profile"], document["seed"])
    found = {r["id"] for r in document["results"]}
    if missing := sorted(wanted - found):
        yield f"{len(missing)} tests of the suite are missing: {', '.join(missing[:3])}"
    if unknown := sorted(found - wanted):
        yield f"{len(unknown)} tests are not of the suite: {', '.join(unknown[:3])}"


def _derived(document: dict[str, Any]) -> Iterator[str]:
    """The fields that don't follow from the results."""
    run = from_json(document)
    again = json.loads(json.dumps(to_json(run)))
    for key in _DERIVED:
        if again[key] != document[key]:
            yield f"{key} does not follow from the results"
    for score in scores(run):
        if document["conforms"] == score.level and not score.reached:
            yield f"the results do not reach the level {score.level}: next, {score.next}"


def _waivers(document: dict[str, Any]) -> Iterator[str]:
    waivers = [
        Waiver(w["tests"], w["reason"], w["link"], datetime.date.fromisoformat(w["expires"]))
        for w in document["waivers"]
    ]
    today = datetime.date.today()
    yield from (f"the waiver of {w.tests} expired on {w.expires}" for w in waivers if w.expires < today)
    for result in document["results"]:
        if result["state"] == State.WAIVED.value and not any(w.matches(result["id"]) for w in waivers):
            yield f"{result['id']} is waived, and no waiver covers it"
