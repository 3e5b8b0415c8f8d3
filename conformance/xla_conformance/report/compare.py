"""Compares two reports: `xla conform --compare A B`."""

from __future__ import annotations

import dataclasses
from typing import Any

from rich.console import Console
from rich.markup import escape

from xla_conformance.results import State
from xla_conformance.wording import counted

_ORDER = [*(state.value for state in State if state.is_wrong), "NOT_SUPPORTED", "WAIVED", "missing"]
_SHOWN = 40


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The changes from an earlier report to a later one.

    Attributes:
        regressions: tests that passed and don't any more, and new ones that are wrong: (id, state before, state after,
            message).
        mended: tests that pass now and did not, in the same form.
        new: ids of tests that the earlier report doesn't have.
        errors: ops whose largest error changed: (op and type, ULP before, ULP after).
        level: the levels, before and after; "" for none.
    """

    regressions: list[tuple[str, str, str, str]]
    mended: list[tuple[str, str, str, str]]
    new: list[str]
    errors: list[tuple[str, float, float]]
    level: tuple[str, str]

    @property
    def counts(self) -> str:
        """How many tests have changed, as in "1 regression, 2 mended, 0 new tests"."""
        regressions, new = counted(len(self.regressions), "regression"), counted(len(self.new), "new test")
        return f"{regressions}, {len(self.mended)} mended, {new}"


def compare(before: dict[str, Any], after: dict[str, Any]) -> Comparison:
    """Compares two reports. Where the later one is of a selection, tests that it doesn't have are no regressions."""
    old = {r["id"]: r for r in before["results"]}
    new = {r["id"]: r for r in after["results"]}
    regressions, mended = [], []
    for id, entry in old.items():
        later = new.get(id)
        state = later["state"] if later is not None else "missing"
        message = later["message"] if later is not None else "the later report has no such test"
        if state == entry["state"] or (later is None and after["selection"]):
            continue
        if entry["state"] == "PASS":
            regressions.append((id, "PASS", state, message))
        elif state == "PASS":
            mended.append((id, entry["state"], state, message))
        elif state in _wrong() and entry["state"] not in _wrong():
            regressions.append((id, entry["state"], state, message))
    added = [r for id, r in new.items() if id not in old]
    regressions += [(r["id"], "not tested", r["state"], r["message"]) for r in added if r["state"] in _wrong()]
    regressions.sort(key=lambda r: _ORDER.index(r[2]) if r[2] in _ORDER else len(_ORDER))
    return Comparison(
        regressions,
        mended,
        [r["id"] for r in added],
        _errors(before["ops"], after["ops"]),
        (before["conforms"] or "", after["conforms"] or ""),
    )


def _wrong() -> set[str]:
    return {state.value for state in State if state.is_wrong}


def _errors(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, float, float]]:
    changed = []
    for op, entry in after.items():
        for kind, measured in entry["types"].items():
            old = before.get(op, {}).get("types", {}).get(kind, {})
            if old.get("PASS") and measured["PASS"] and old["max_ulp"] != measured["max_ulp"]:
                changed.append((f"{op} {kind}".strip(), old["max_ulp"], measured["max_ulp"]))
    return sorted(changed, key=lambda c: c[1] - c[2])


def print_comparison(console: Console, found: Comparison) -> None:
    """Prints regressions, mended tests, changed errors and the levels."""
    for id, was, now, message in found.regressions[:_SHOWN]:
        console.print(f"[red]{was} -> {now}[/] {escape(id)}: {escape(message)}", soft_wrap=True)
    for id, was, now, _ in found.mended[:_SHOWN]:
        console.print(f"[green]{was} -> {now}[/] {escape(id)}", soft_wrap=True)
    for name, was_ulp, now_ulp in found.errors[:_SHOWN]:
        console.print(f"{escape(name)}: largest error {was_ulp:g} -> {now_ulp:g} ULP", soft_wrap=True)
    before, after = (level or "none" for level in found.level)
    console.print(f"[bold {'red' if found.regressions else 'green'}]{found.counts}; level {before} -> {after}.")
