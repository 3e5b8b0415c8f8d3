"""The files of a report."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from xla_conformance.report.document import to_json
from xla_conformance.report.files import hashes, write_report

from tests.conformance.report.runs import RESULTS, run_of, whole_run


def test_junit(tmp_path: Path) -> None:
    paths = write_report(run_of(*RESULTS), tmp_path / "new" / "folder")
    assert [p.name for p in paths] == ["report.json", "junit.xml", "index.html", "badge.svg", "manifest.json"]
    suites = {s.get("name"): s for s in ElementTree.parse(paths[1]).getroot()}
    assert (suites["ops"].get("tests"), suites["ops"].get("failures"), suites["ops"].get("skipped")) == ("3", "1", "1")
    assert suites["streams"].get("errors") == "1"
    failure = next(iter(suites["ops"].iter("failure")))
    assert failure.get("message") == "wrong  & <b>."
    assert "got 1.5, wanted 1.25" in failure.text


def test_the_manifest_has_every_file(tmp_path: Path) -> None:
    (tmp_path / "failures").mkdir()
    (tmp_path / "failures" / "a.npy").write_bytes(b"x")
    write_report(run_of(*RESULTS), tmp_path)
    listed = json.loads((tmp_path / "manifest.json").read_text())["files"]
    assert listed == hashes(tmp_path)
    assert set(listed) == {"report.json", "junit.xml", "index.html", "badge.svg", "failures/a.npy"}


class _Structure(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.loads: list[str] = []
        self.cells: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if "id" in found:
            self.ids.add(found["id"])
        if tag in ("script", "link", "img", "iframe"):
            self.loads.append(tag)
        if tag == "td" and "title" in found:
            self.cells.setdefault(found["class"], []).append(found["title"])
        if tag not in ("meta", "rect", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def structure(page: Path) -> _Structure:
    found = _Structure()
    found.feed(page.read_text())
    assert found.open == []
    assert found.loads == [], "the page must need no other file"
    return found


def test_the_page(tmp_path: Path) -> None:
    write_report(run_of(*RESULTS), tmp_path)
    found = structure(tmp_path / "index.html")
    assert {"levels", "groups", "failures", "matrix", "environment"} <= found.ids
    assert found.cells["pass"] == ["dot f32: 1 pass; largest error 3 ULP"]
    text = (tmp_path / "index.html").read_text()
    assert "Chip &lt;1&gt;" in text
    assert "Does not conform." in text
    assert "simulated" in text
    assert "[]" not in text


def test_the_page_says_what_changed(tmp_path: Path) -> None:
    from xla_conformance.results import State

    write_report(whole_run(tanh=State.FAIL), tmp_path, to_json(whole_run()))
    assert "trend" in structure(tmp_path / "index.html").ids
    text = " ".join((tmp_path / "index.html").read_text().split())
    assert "1 regression, 0 mended, 0 new tests; level everything &rarr; none" in text


@pytest.mark.parametrize(("whole", "said"), [(True, "everything, quick, simulated"), (False, "does not conform")])
def test_the_badge(whole: bool, said: str, tmp_path: Path) -> None:
    write_report(whole_run() if whole else run_of(*RESULTS), tmp_path)
    badge = ElementTree.parse(tmp_path / "badge.svg").getroot()
    assert badge.get("aria-label") == f"chip: xla conform: {said}"
