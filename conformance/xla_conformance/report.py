"""Reports of a run: a table for people, and JSON and JUnit files for programs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xla_conformance.results import Result, Run, State
from xla_conformance.stablehlo import report as stablehlo_report

__all__ = ["print_report", "to_json", "write_report"]

_COLUMNS = (State.PASS, State.FAIL, State.ERROR, State.NOT_SUPPORTED)
_SHOWN_FAILURES = 20


def print_report(console: Console, run: Run) -> None:
    """Prints a row for each group, the first failures with their causes, and the verdict."""
    table = Table("group", *(s.value.replace("_", " ").lower() for s in _COLUMNS), "seconds", box=None, pad_edge=False)
    for group in run.groups:
        counts = [run.count(state, group) for state in _COLUMNS]
        seconds = sum(r.seconds for r in run.results if r.group == group)
        table.add_row(group, *map(_cell, _COLUMNS, counts), f"{seconds:.1f}")
    console.print(table)
    for line in stablehlo_report.tables(run):
        console.print(line, soft_wrap=isinstance(line, str))
    bad = [r for r in run.results if r.state in (State.FAIL, State.ERROR)]
    for result in bad[:_SHOWN_FAILURES]:
        console.print(f"[red]{result.state.value}[/] {result.group}: {escape(result.name)}", soft_wrap=True)
        console.print(f"    {_cause(result)}", markup=False, soft_wrap=True)
    if len(bad) > _SHOWN_FAILURES:
        console.print(f"... and {len(bad) - _SHOWN_FAILURES} more; --report DIR writes them all")
    if run.problem:
        console.print(run.problem, markup=False)
    console.print(f"[bold {'green' if run.conforms else 'red'}]{escape(verdict(run))}", soft_wrap=True)


def verdict(run: Run) -> str:
    """The verdict in one sentence."""
    if run.problem:
        return f"The suite could not run on {run.backend!r}."
    if not run.results:
        return "No test was chosen."
    passed, wrong = run.count(State.PASS), run.count(State.FAIL) + run.count(State.ERROR)
    unsupported = run.count(State.NOT_SUPPORTED)
    tail = f", {unsupported} not supported" if unsupported else ""
    if files := run.count(State.FILE_WRONG):
        tail += f", {files} where the file itself is wrong"
    if run.conforms and run.selection:
        what = f"{run.profile}, of a selection: -k {run.selection!r}"
        return f"{run.backend} passes ({what}): {passed} tests pass{tail}, in {run.seconds:.0f} s."
    if run.conforms:
        return f"{run.backend} conforms ({run.profile}): {passed} tests pass{tail}, in {run.seconds:.0f} s."
    return f"{run.backend} does not conform ({run.profile}): {wrong} of {len(run.results)} tests are wrong{tail}."


def to_json(run: Run) -> dict[str, Any]:
    """The whole run as plain data."""
    return {
        "backend": run.backend,
        "profile": run.profile,
        "selection": run.selection,
        "seed": run.seed,
        "conforms": run.conforms,
        "problem": run.problem,
        "seconds": round(run.seconds, 3),
        "environment": run.environment,
        "summary": {state.value: run.count(state) for state in State},
        "groups": {g: {state.value: run.count(state, g) for state in State} for g in run.groups},
        "ops": _by_op(run),
        **stablehlo_report.to_json(run),
        "results": [
            {
                "id": r.id,
                "group": r.group,
                "state": r.state.value,
                "seconds": round(r.seconds, 4),
                "message": r.message,
                **({"properties": r.properties} if r.properties else {}),
            }
            for r in run.results
        ],
    }


def _by_op(run: Run) -> dict[str, dict[str, Any]]:
    """Counts and the largest error by opcode."""
    ops: dict[str, dict[str, Any]] = {}
    for result in run.results:
        opcode = result.properties.get("opcode")
        if opcode is not None:
            entry = ops.setdefault(opcode, {**{state.value: 0 for state in State}, "max_ulp": 0.0})
            entry[result.state.value] += 1
            if result.state is State.PASS:
                entry["max_ulp"] = max(entry["max_ulp"], result.properties.get("max_ulp", 0.0))
    return ops


def write_report(run: Run, directory: Path) -> list[Path]:
    """Writes report.json, junit.xml and, for StableHLO's files, stablehlo.md; returns their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    as_json, as_junit = directory / "report.json", directory / "junit.xml"
    as_json.write_text(json.dumps(to_json(run), indent=1) + "\n")
    ElementTree.ElementTree(_junit(run)).write(as_junit, encoding="utf-8", xml_declaration=True)
    return [as_json, as_junit, *stablehlo_report.write(run, directory)]


def _junit(run: Run) -> ElementTree.Element:
    root = ElementTree.Element("testsuites", name=f"xla conform --backend {run.backend} --profile {run.profile}")
    for group in run.groups:
        results = [r for r in run.results if r.group == group]
        counts = {
            "tests": len(results),
            "failures": run.count(State.FAIL, group),
            "errors": run.count(State.ERROR, group),
            "skipped": run.count(State.NOT_SUPPORTED, group),
        }
        suite = ElementTree.SubElement(root, "testsuite", {"name": group, **{k: str(v) for k, v in counts.items()}})
        for result in results:
            case = ElementTree.SubElement(
                suite, "testcase", classname=group, name=result.name, time=f"{result.seconds:.4f}"
            )
            kind = {State.FAIL: "failure", State.ERROR: "error", State.NOT_SUPPORTED: "skipped"}.get(result.state)
            if kind is not None:
                ElementTree.SubElement(case, kind, message=_cause(result)).text = _printable(result.message)
    return root


def _cell(state: State, count: int) -> str:
    if not count:
        return "[dim]0"
    colors = {State.PASS: "green", State.FAIL: "red", State.ERROR: "red", State.NOT_SUPPORTED: "yellow"}
    return f"[{colors[state]}]{count}"


def _cause(result: Result) -> str:
    """The most useful line of a message: the first line that pytest marks as the error."""
    lines = [line.strip() for line in result.message.splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E ")]
    first, *more = marked or lines or [""]
    if first.endswith(":") and more:  # the heading of a list, whose entries are the causes
        first = f"{first} {more[0]}"
    return _printable(first)


def _printable(text: str) -> str:
    """The text without control characters, which XML doesn't allow."""
    return "".join(c for c in text if c in "\n\t" or c >= " ")
