"""Writes a run as JSON of the schema `report.schema.json`, and reads it."""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
from pathlib import Path
from typing import Any

import jsonschema

from xla_conformance.levels import conforms, scores
from xla_conformance.report.failure import command_of
from xla_conformance.results import Result, Run, State
from xla_conformance.root_causes import find_root_causes
from xla_conformance.stablehlo import report as stablehlo_report
from xla_core.errors import InvalidArgumentError, NotFoundError

FORMAT = 1
"""The version of the schema."""


def to_json(run: Run) -> dict[str, Any]:
    """The whole run as plain data."""
    depends = {id: root.name for root in find_root_causes(run.results) for id in root.dependents}
    return {
        "format": FORMAT,
        "backend": run.backend,
        "profile": run.profile,
        "selection": run.selection,
        "seed": run.seed,
        **({"seeds": run.seeds} if run.seeds else {}),
        "conforms": conforms(run) or None,
        "passes": run.passes,
        "problem": run.problem,
        "not_run": run.not_run,
        "seconds": round(run.seconds, 3),
        "environment": run.environment,
        "waivers": run.waivers,
        "summary": {state.value: run.count(state) for state in State},
        "groups": {g: {state.value: run.count(state, g) for state in State} for g in run.groups},
        "levels": [
            {
                "name": s.level,
                "what": s.what,
                "reached": s.reached and not run.selection,
                "ops_working": s.ops_working,
                "ops": s.ops,
                "types": list(s.types),
                "claimed_percent": s.claimed,
                "next": s.next,
            }
            for s in scores(run)
        ],
        "ops": _by_op(run),
        **stablehlo_report.to_json(run),
        "results": [_result(run, r, depends) for r in run.results],
    }


def _result(run: Run, result: Result, depends: dict[str, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": result.id,
        "group": result.group,
        "state": result.state.value,
        "seconds": round(result.seconds, 4),
        "message": result.message,
    }
    if result.state.is_wrong and (command := command_of(run, result)):
        entry["command"] = command
    if result.id in depends:
        entry["depends_on"] = depends[result.id]
    optional = {"properties": result.properties, "details": result.details, "failure": result.failure}
    return entry | {key: _plain(value) for key, value in optional.items() if value}


def _plain(value: Any) -> Any:
    """The value with infinities and NaN as text, which JSON has no numbers for."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _by_op(run: Run) -> dict[str, dict[str, Any]]:
    """Counts and the largest error by opcode, and by element type below it."""
    ops: dict[str, dict[str, Any]] = {}
    for result in run.results:
        opcode = result.properties.get("opcode")
        if opcode is None:
            continue
        op = ops.setdefault(opcode, {**_zeros(), "types": {}})
        kind = result.properties.get("element_type", "")
        for entry in (op, op["types"].setdefault(kind, _zeros())):
            entry[result.state.value] += 1
            if result.state is State.PASS:
                entry["max_ulp"] = max(entry["max_ulp"], result.properties.get("max_ulp") or 0.0)
    return ops


def _zeros() -> dict[str, Any]:
    return {**{state.value: 0 for state in State}, "max_ulp": 0.0}


@functools.cache
def schema() -> dict[str, Any]:
    """The JSON schema of a report."""
    text = importlib.resources.files("xla_conformance.report").joinpath("report.schema.json").read_text("utf-8")
    return dict(json.loads(text))


def read_document(path: Path) -> dict[str, Any]:
    """Reads a report.json, given itself or its folder.

    Raises:
        NotFoundError: there is none.
        InvalidArgumentError: it isn't a report.
    """
    file = path / "report.json" if path.is_dir() else path
    if not file.is_file():
        raise NotFoundError(f"there is no report {file}", hint="`xla conform --report DIR` writes one")
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        jsonschema.validate(document, schema())
    except (ValueError, jsonschema.ValidationError) as error:
        message = error.message if isinstance(error, jsonschema.ValidationError) else str(error)
        raise InvalidArgumentError(f"{file} is not a report of `xla conform`: {message}") from error
    return dict(document)


def from_json(document: dict[str, Any]) -> Run:
    """The run that a document describes."""
    results = [
        Result(
            id=r["id"],
            state=State(r["state"]),
            seconds=r["seconds"],
            message=r["message"],
            properties=r.get("properties", {}),
            details=r.get("details", ""),
            failure=r.get("failure", {}),
        )
        for r in document["results"]
    ]
    return Run(
        backend=document["backend"],
        profile=document["profile"],
        results=results,
        seconds=document["seconds"],
        problem=document["problem"],
        environment=document["environment"],
        selection=document["selection"],
        seed=document["seed"],
        not_run=document["not_run"],
        waivers=document["waivers"],
        seeds=document.get("seeds", []),
    )
