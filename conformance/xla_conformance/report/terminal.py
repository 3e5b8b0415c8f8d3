"""The report for a terminal."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from xla_conformance.levels import conforms, scores
from xla_conformance.report.failure import SEQUENCE, lines_of
from xla_conformance.results import STABLEHLO_GROUP, Result, Run, State, by_cause
from xla_conformance.root_causes import find_root_causes
from xla_conformance.stablehlo import report as stablehlo_report
from xla_conformance.wording import counted

_WHOLE_FAILURES = 3
_SHOWN_OF_A_GROUP = 5
_ALWAYS = (State.PASS, State.FAIL, State.NOT_SUPPORTED)
_COLORS = {State.PASS: "green", State.NOT_SUPPORTED: "yellow", State.WAIVED: "yellow", State.FILE_WRONG: "yellow"}


def print_report(console: Console, run: Run, folder: Path | None = None, steps: Sequence[str] = ()) -> None:
    """Prints a row for each group, the first failures, the next steps, the levels and the verdict. `folder` is where
    the report's files are, and `steps` are the lines of the next steps.
    """
    columns = [s for s in State if s in _ALWAYS or run.count(s)]
    table = Table("group", *(s.title for s in columns), "seconds", box=None, pad_edge=False)
    for group in run.groups:
        seconds = sum(r.seconds for r in run.results if r.group == group)
        table.add_row(group, *(_cell(s, run.count(s, group)) for s in columns), f"{seconds:.1f}")
    console.print(table)
    for line in stablehlo_report.tables(run):
        console.print(line, soft_wrap=isinstance(line, str))
    _print_failures(console, run, folder)
    for result in run.results:
        if result.state is State.WAIVED:
            console.print(
                f"[yellow]WAIVED[/] {result.group}: {escape(f'{result.name}: {result.message}')}", soft_wrap=True
            )
    for result in run.results:
        if SEQUENCE in result.properties:
            console.print(f"{result.name} {result.properties[SEQUENCE]}", markup=False, soft_wrap=True)
    for line in steps:
        console.print(line, markup=False, soft_wrap=True)
    if run.problem:
        console.print(run.problem, markup=False, soft_wrap=True)
    if without := next((r for r in run.results if r.state is State.SUITE_ERROR), None):
        console.print(f"{without.name}: {without.message}", markup=False, soft_wrap=True)
    if not run.selection:
        for score in scores(run):
            console.print(str(score), markup=False, soft_wrap=True)
    for text in run.environment.get("warnings", ()):
        console.print(f"[yellow]warning:[/] {escape(text)}", soft_wrap=True)
    console.print(f"[bold {'green' if is_right(run) else 'red'}]{escape(verdict(run))}", soft_wrap=True)


def _print_failures(console: Console, run: Run, folder: Path | None) -> None:
    """Prints a few failures of each group. Those that others depend on come first; of their dependents only the names
    are printed.
    """
    roots = find_root_causes(run.results)
    of_roots = {id for root in roots for id in root.dependents}
    first = {id for root in roots for id in root.tests}
    own = sorted((r for r in run.wrong if r.id not in of_roots), key=lambda r: (by_cause(r.id), r.id not in first))
    shown: list[Result] = []
    rest: Counter[str] = Counter()
    for group, results in itertools.groupby(own, key=lambda r: r.group):
        several = list(results)
        shown += several[:_SHOWN_OF_A_GROUP]
        rest[group] += len(several[_SHOWN_OF_A_GROUP:])
    for number, result in enumerate(shown):
        console.print(f"[red]{result.state.value}[/] {result.group}: {escape(result.name)}", soft_wrap=True)
        for line in lines_of(run, result, roots, folder, brief=number >= _WHOLE_FAILURES, whole=False):
            console.print(f"    {line}", markup=False, soft_wrap=True)
    for root in roots:
        names = sorted({_name(run, id) for id in root.dependents})
        text = f"{counted(len(names), 'more wrong test')} {root.why}:"
        console.print(f"[red]{text}[/] {escape(', '.join(names))}", soft_wrap=True)
    if rest.total():
        counts = ", ".join(f"{count} of {group}" for group, count in rest.items() if count)
        console.print(f"... and {rest.total()} more: {counts}; the report's folder has them all", soft_wrap=True)
    if any("module" in result.failure for result in shown[_WHOLE_FAILURES:]):
        console.print(f"Only the first {_WHOLE_FAILURES} failures show their HLO; --explain ID shows that of any.")


def _name(run: Run, id: str) -> str:
    return next(r.name for r in run.results if r.id == id)


def is_right(run: Run) -> bool:
    """Whether the command succeeds: the tests of a selection pass, or the backend conforms at some level."""
    return run.passes and (bool(run.selection or conforms(run)) or _of_stablehlo(run.results))


def has_no_verdict(run: Run) -> bool:
    """Whether this machine, not the backend, is why the run doesn't pass."""
    return bool(run.count(State.SUITE_ERROR)) and not run.wrong


def verdict(run: Run) -> str:
    """The verdict in one sentence."""
    if not run.results:
        return f"The suite could not run on {run.backend!r}." if run.problem else "No test was chosen."
    total = len(run.results)
    if has_no_verdict(run):
        lost = run.count(State.SUITE_ERROR)
        return (
            f"There is no verdict on {run.backend}: this machine had no room for the files of {lost} of {total} tests."
        )
    passed, wrong = run.count(State.PASS), len(run.wrong)
    rest = [
        f"{run.count(State.NOT_SUPPORTED)} not supported" if run.count(State.NOT_SUPPORTED) else "",
        f"{run.count(State.WAIVED)} waived" if run.count(State.WAIVED) else "",
        f"{run.count(State.FILE_WRONG)} where the file itself is wrong" if run.count(State.FILE_WRONG) else "",
        f"{run.not_run} not run" if run.not_run else "",
    ]
    tail = "".join(f", {part}" for part in rest if part)
    marks = "".join(f", {mark}" for mark in run.environment.get("marks", ()))
    rounds = f" and {len(run.seeds)} rounds" if len(run.seeds) > 1 else ""
    passing = f"{passed} {'test passes' if passed == 1 else 'tests pass'}{tail}, in {run.seconds:.0f} s{rounds}."
    if run.passes and run.selection:
        return f"{run.backend} passes ({run.profile}{marks}, of a selection: {run.selection}): {passing}"
    if run.passes and _of_stablehlo(run.results):
        return f"{run.backend} passes StableHLO's tests: {passing}"
    level = conforms(run)
    if level:
        return f"{run.backend} conforms at the level {level} ({run.profile}{marks}): {passing}"
    if run.passes:
        return f"{run.backend} does not conform ({run.profile}{marks}): it reaches no level. {passing}"
    incomplete = "not all tests ran" if run.problem or run.not_run else "no test passes"
    reason = f"{wrong} of {counted(total, 'test')} {'is' if wrong == 1 else 'are'} wrong" if wrong else incomplete
    if run.selection:
        return f"{run.backend} does not pass ({run.profile}{marks}, of a selection: {run.selection}): {reason}{tail}."
    return f"{run.backend} does not conform ({run.profile}{marks}): {reason}{tail}."


def _of_stablehlo(results: list[Result]) -> bool:
    return any(r.group == STABLEHLO_GROUP for r in results)


def _cell(state: State, count: int) -> str:
    return f"[{_COLORS.get(state, 'red')}]{count}" if count else "[dim]0"
