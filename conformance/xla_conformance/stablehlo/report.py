"""Reports a run of StableHLO's own files, by folder and by op."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from xla_conformance.results import STABLEHLO_GROUP, Result, Run, State

_COLUMNS = ("files", "cases", "pass", "wrong", "file wrong", "not supported")


def _results(run: Run) -> list[Result]:
    return [r for r in run.results if r.group == STABLEHLO_GROUP and "file" in r.properties]


def _count(results: list[Result]) -> dict[str, int]:
    return {
        "files": len({r.properties["file"] for r in results}),
        "cases": len(results),
        "pass": sum(r.state is State.PASS for r in results),
        "wrong": sum(r.state.is_wrong for r in results),
        "file wrong": sum(r.state is State.FILE_WRONG for r in results),
        "not supported": sum(r.state is State.NOT_SUPPORTED for r in results),
    }


def _grouped(results: list[Result], names: Any) -> dict[str, dict[str, int]]:
    """Counts by the names that `names` returns for a result's properties, in order."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        for name in names(result.properties):
            groups.setdefault(name, []).append(result)
    return {name: _count(groups[name]) for name in sorted(groups)}


def to_json(run: Run) -> dict[str, Any]:
    """Counts by folder and by op (a case counts for every op in its text), wrong files, files that StableHLO itself
    doesn't run, and the number of cases that ran without a comparison. Empty for a run of other tests.
    """
    results = _results(run)
    if not results:
        return {}
    return {
        "stablehlo": {
            "folders": _grouped(results, lambda p: [p["folder"]]),
            "ops": _grouped(results, lambda p: p["ops"]),
            "files_wrong": {r.name: r.message for r in results if r.state is State.FILE_WRONG},
            "disabled": {
                r.properties["file"]: {"why": r.properties["disabled"], "state": r.state.value}
                for r in results
                if "disabled" in r.properties
            },
            "ran": sum(r.state is State.PASS and r.properties.get("passed_by") == "ran" for r in results),
        }
    }


def _ran(count: int) -> str:
    return f"{count} of the passing cases only ran: their results are not compared"


def tables(run: Run) -> Iterator[Table | str]:
    """The parts to print: a table of folders, a table of ops, and remarks on files."""
    found = to_json(run).get("stablehlo")
    if found is None:
        return
    for head, rows in (("folder", found["folders"]), ("op", found["ops"])):
        table = Table(head, *_COLUMNS, box=None, pad_edge=False)
        for name, counts in rows.items():
            style = "red" if counts["wrong"] else ""
            table.add_row(name, *(str(counts[c]) if counts[c] else "[dim]0" for c in _COLUMNS), style=style)
        yield table
        yield ""
    for name, proof in found["files_wrong"].items():
        yield f"[yellow]FILE_WRONG[/] {escape(name)}: {escape(proof)}"
    if found["ran"]:
        yield _ran(found["ran"])
    for file, what in found["disabled"].items():
        yield f"{escape(file)}: StableHLO itself doesn't run it ({escape(what['why'])}); here: {what['state']}"


def write(run: Run, directory: Path) -> list[Path]:
    """Writes stablehlo.md with the same tables and returns its path; nothing for a run of other tests."""
    found = to_json(run).get("stablehlo")
    if found is None:
        return []
    lines = [f"# StableHLO's own tests on {run.backend}", ""]
    for head, rows in (("folder", found["folders"]), ("op", found["ops"])):
        lines += [f"| {head} | {' | '.join(_COLUMNS)} |", f"|---|{'---:|' * len(_COLUMNS)}"]
        lines += [f"| {name} | {' | '.join(str(counts[c]) for c in _COLUMNS)} |" for name, counts in rows.items()]
        lines.append("")
    lines += [f"- {name}, a wrong file: {proof}" for name, proof in found["files_wrong"].items()]
    if found["ran"]:
        lines.append(f"- {_ran(found['ran'])}")
    lines += [
        f"- {file}, which StableHLO itself doesn't run ({what['why']}): {what['state']}"
        for file, what in found["disabled"].items()
    ]
    path = directory / "stablehlo.md"
    path.write_text("\n".join(lines).rstrip() + "\n")
    return [path]
