"""One self-contained HTML page of a report: levels, groups, failures, the matrix of ops and types, and the trend."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jinja2

from xla_conformance.report.badge import badge
from xla_conformance.report.compare import compare
from xla_conformance.report.failure import bisection, promises_of
from xla_conformance.results import State, by_cause
from xla_core.hlo import ElementType

_WRONG = tuple(state.value for state in State if state.is_wrong)


def page(document: dict[str, Any], earlier: dict[str, Any] | None = None) -> str:
    """Returns the page of a report. With an earlier report, it shows the changes since then."""
    types = {kind for op in document["ops"].values() for kind in op["types"]}
    return _template().render(
        report=document,
        badge=badge(document),
        states=[(s.value, s.title, s.meaning) for s in State],
        wrong=sorted((r for r in document["results"] if r["state"] in _WRONG), key=lambda r: by_cause(r["id"])),
        waived=[r for r in document["results"] if r["state"] == State.WAIVED.value],
        types=[t.value for t in ElementType if t.value in types],
        matrix={op: {kind: _cell(m) for kind, m in e["types"].items()} for op, e in document["ops"].items()},
        trend=None if earlier is None else compare(earlier, document),
        earlier=earlier,
        promises=lambda r: [*promises_of(r.get("failure", {}), r.get("properties", {}))],
        bisection=lambda f: bisection(document["backend"], document["environment"], f, Path("failures", f["folder"])),
    )


def _cell(measured: dict[str, Any]) -> dict[str, str]:
    """The class, the text and the title of a cell of the matrix."""
    counts = ", ".join(f"{measured[s.value]} {s.title}" for s in State if measured.get(s.value))
    if any(measured.get(s) for s in _WRONG):
        return {"kind": "wrong", "text": "wrong", "title": counts}
    if measured.get("WAIVED"):
        return {"kind": "waived", "text": "waived", "title": counts}
    if measured.get("PASS"):
        ulp = measured["max_ulp"]
        return {"kind": "pass", "text": f"{ulp:.3g}" if ulp else "=", "title": f"{counts}; largest error {ulp:g} ULP"}
    return {"kind": "none", "text": "-", "title": counts}


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("xla_conformance.report", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("page.html.j2")
