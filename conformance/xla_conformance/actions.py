"""The actions of `xla conform`: to run the tests, and those that run no test, such as to compare two reports."""

from __future__ import annotations

import dataclasses
import itertools
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from xla_conformance.chosen import tests_named
from xla_conformance.expressions import compile_expression
from xla_conformance.next_steps import next_steps
from xla_conformance.progress import progress
from xla_conformance.report.compare import compare as compare_documents
from xla_conformance.report.compare import print_comparison
from xla_conformance.report.document import from_json, read_document
from xla_conformance.report.failure import lines_of
from xla_conformance.report.folder import last_folder, made_folder, write_and_name
from xla_conformance.report.sequence import remove_sequences, with_sequences
from xla_conformance.report.submission import problems_of
from xla_conformance.report.terminal import has_no_verdict, is_right, print_report
from xla_conformance.results import Result, Run, State
from xla_conformance.root_causes import find_root_causes
from xla_conformance.runner import Limits, run_rounds, run_suite
from xla_conformance.waivers import Waiver, apply_waivers, read_waivers
from xla_conformance.wording import counted
from xla_core.errors import InvalidArgumentError, NotFoundError


@dataclasses.dataclass(frozen=True, kw_only=True)
class TestRun:
    """A run of the tests; the fields are the command's options."""

    backend: str | None
    profile: str = "quick"
    expression: str = ""
    tests: tuple[str, ...] = ()
    last_failed: bool = False
    workers: int = 1
    settings: tuple[str, ...] = ()
    seed: int = 0
    test_seconds: float | None = None
    total_seconds: float | None = None
    patience: float = 1.0
    waivers: Path | None = None
    stablehlo_tests: Path | None = None
    evaluator: bool = False

    def run(self, out: Console, report: Path | None, earlier: Path | None) -> None:
        """Runs the tests, prints the report and writes it. Raises typer.Exit if the tests are not right."""
        if self.expression.strip():
            compile_expression(self.expression)
        if self.stablehlo_tests is not None:
            _require_files(self.stablehlo_tests)
        waivers = read_waivers(self.waivers) if self.waivers is not None else []
        folder = made_folder(out, report, self.backend)
        wanted = report is not None
        before = read_document(earlier) if earlier is not None else None
        if before is None and (wanted or self._names_tests):  # it is large
            before = _last(last_folder(report, self.backend))
        expression, only = self._chosen(before)
        shutil.rmtree(folder / "failures", ignore_errors=True)
        if not self._names_tests:  # else commands that were printed may name its files
            remove_sequences(folder)
        if self._has_rounds:
            out.print(f"rounds with the seeds {self.seed}, {self.seed + 1}, ... until the time is over")
        run = self._results(folder, expression, only)
        if self._selection and not run.results and not run.problem:
            raise InvalidArgumentError(
                f"{self._selection} matches no test",
                hint=_naming(self.stablehlo_tests is not None, by_id=bool(self.tests)),
            )
        run.selection = self._selection
        if before is not None and self._names_tests:
            run.results = with_sequences(run, from_json(before), folder)
        self._waive(run, waivers)
        version = run.environment.get("backend_version", "")
        out.print(f"[bold]{run.backend}[/] {version}, profile {run.profile}, seed {run.seed}".replace(" ,", ","))
        print_report(out, run, folder, next_steps(run))
        shown = before if wanted or earlier is not None else None
        write_and_name(out, run, folder, self.backend, shown, wanted=wanted)
        if not is_right(run):
            raise typer.Exit(3 if has_no_verdict(run) else 1)

    @property
    def _names_tests(self) -> bool:
        """Whether the tests to run are named one by one, by the user or by the last report."""
        return bool(self.tests) or self.last_failed

    @property
    def _selection(self) -> str:
        parts = [f"-k {self.expression!r}"] if self.expression else []
        parts += [f"--test {id}" for id in self.tests]
        parts += ["--lf"] if self.last_failed else []
        return " ".join(parts)

    def _chosen(self, before: dict[str, Any] | None) -> tuple[str, set[str] | None]:
        """The expression that chooses tests, and the ids of the tests to run; None for all."""
        if not self.last_failed:
            return self.expression, set(tests_named(self.tests)) or None
        if before is None:
            raise NotFoundError("there is no last report", hint="run the tests without --lf first")
        wrong = [r for r in from_json(before).wrong if not r.is_of_waiver]
        if not wrong:
            raise NotFoundError("no test was wrong in the last report")
        if all(r.is_of_stage for r in wrong):  # as opening the devices, which the tests of loading try
            return f"({self.expression}) and loading" if self.expression else "loading", None
        return self.expression, {r.id for r in wrong}

    def _results(self, folder: Path, expression: str, only: set[str] | None) -> Run:
        limits = Limits.of(self.profile, self.patience)
        if self.test_seconds is not None:
            limits = dataclasses.replace(limits, test=self.test_seconds)
        if self.total_seconds is not None:
            limits = dataclasses.replace(limits, total=self.total_seconds)
        with progress() as show:
            done = wrong = before = 0

            def count(total: int, result: Result) -> None:
                nonlocal done, wrong
                done += 1
                wrong += result.state.is_wrong
                show(done, before + total, result.group, f"{wrong} wrong" if wrong else "")

            def run(seed: int, limits: Limits) -> Run:
                nonlocal before
                before = done
                return run_suite(
                    self.backend,
                    self.profile,
                    expression=expression,
                    only=only,
                    workers=self.workers,
                    settings=self.settings,
                    stablehlo_tests=self.stablehlo_tests,
                    evaluator=self.evaluator,
                    seed=seed,
                    limits=limits,
                    patience=self.patience,
                    artifacts=folder / "failures",
                    progress=count,
                )

            return run_rounds(run, self.seed, limits) if self._has_rounds else run(self.seed, limits)

    @property
    def _has_rounds(self) -> bool:
        return self.profile == "stress" and not self.tests and self.stablehlo_tests is None

    def _waive(self, run: Run, waivers: list[Waiver]) -> None:
        complete = not run.selection and not run.problem
        run.results = apply_waivers(run.results, waivers, complete=complete)
        run.waivers = [{k: str(v) for k, v in dataclasses.asdict(w).items()} for w in waivers]


def explain(out: Console, folder: Path, id: str) -> None:
    """Prints everything that a report says of one test: of the one that is wrong where several match."""
    run = from_json(read_document(folder))
    found = [r for r in run.results if id in (r.id, r.name)] or [r for r in run.results if id in r.id]
    if not found:
        raise NotFoundError(f"the report in {folder} has no test {id!r}", hint="its report.json lists the ids")
    wrong = [r for r in found if r.state.is_wrong]
    if len(found) > 1 and len(wrong) != 1:
        tests = f"{len(found)} tests, of which {len(wrong)} are wrong" if wrong else f"{len(found)} tests"
        names = ", ".join(r.id for r in (wrong or found)[:5])
        raise InvalidArgumentError(f"{id!r} matches {tests}: {names}", hint="give a whole id")
    found = wrong or found
    (result,) = found
    out.print(f"{result.state.value} {result.id}, {result.seconds:.2f} s", markup=False, soft_wrap=True)
    for line in lines_of(run, result, find_root_causes(run.results), folder):
        out.print(f"  {line}", markup=False, soft_wrap=True)
    for key, value in result.properties.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        out.print(f"  {key}: {shown}", markup=False, soft_wrap=True)


def verify(out: Console, folder: Path) -> None:
    """Checks a submission, and exits with 1 if it is not right."""
    problems = problems_of(folder)
    for problem in problems:
        out.print(problem, markup=False, soft_wrap=True)
    if problems:
        out.print(f"[bold red]{folder} is not a right submission: {counted(len(problems), 'problem')}.", soft_wrap=True)
        raise typer.Exit(1)
    document = read_document(folder)
    run = from_json(document)
    waived = run.count(State.WAIVED)
    how = f"{run.profile}, {waived} waived" if waived else run.profile
    out.print(f"[bold green]{run.backend} conforms at the level {document['conforms']} ({how}), as {folder} shows.")


def compare(out: Console, before: Path, after: Path) -> None:
    """Compares two reports, and exits with 1 if there is a regression."""
    documents = [read_document(folder) for folder in (before, after)]
    backends = [document["backend"] for document in documents]
    if backends[0] != backends[1]:
        out.print(f"The reports are of two backends: {backends[0]}, then {backends[1]}.", markup=False, soft_wrap=True)
    found = compare_documents(*documents)
    print_comparison(out, found)
    if found.regressions:
        raise typer.Exit(1)


def coverage(out: Console) -> None:
    """Prints the promises that no test names, and the features of ops that no case covers, and exits with 1 if there
    are any.
    """
    from xla_conformance import promises
    from xla_conformance.chosen import passes_of
    from xla_conformance.ops import coverage as of_ops
    from xla_conformance.ops import generate

    cases = itertools.chain.from_iterable(generate(every_type=every_type) for every_type in passes_of("full"))
    parts: dict[str, Iterable[object]] = {
        "sentences of the contract that no test names": promises.uncovered(),
        "values of attributes, element types, sizes and operand counts that no case of an op meets": [
            f"{opcode}: {name} {value}" for opcode, name, value in of_ops.uncovered(cases)
        ],
    }
    missing = 0
    for title, entries in parts.items():
        listed = [str(entry) for entry in entries]
        missing += len(listed)
        for entry in listed:
            out.print(entry, markup=False, soft_wrap=True)
        out.print(f"[bold {'red' if listed else 'green'}]{len(listed)} {title}.")
    total, quick, full = of_ops.count_triples()
    missing += total - full
    out.print(
        f"[bold {'red' if full < total else 'green'}]{total - full} triples of values of three axes that no case of an "
        f"op meets, of {total:,}; the quick profile meets {quick / total:.0%}."
    )
    if missing:
        raise typer.Exit(1)


def support_matrix(out: Console, subject: str | None, expression: str, report: Path | None) -> None:
    """Runs every op in every element type, and exits with 1 if a result is wrong."""
    from xla_conformance.support.matrix import measure_support
    from xla_conformance.support.report import print_matrix
    from xla_core import Client

    if subject is None:
        with Client() as client:
            subject = client.platform_name
    with progress() as show:
        matrix = measure_support(subject, expression, lambda done, total, op: show(done, total, op, ""))
    print_matrix(out, matrix)
    if report is not None:
        out.print(str(matrix.write(report)), markup=False, soft_wrap=True)
    if not matrix.is_right:
        raise typer.Exit(1)


def _last(folder: Path) -> dict[str, Any] | None:
    """The report that the folder holds, if it has one that this version can read."""
    try:
        return read_document(folder)
    except (NotFoundError, InvalidArgumentError):
        return None


def _require_files(folder: Path) -> None:
    """Raises NotFoundError unless the folder has test files."""
    from xla_conformance.stablehlo.suite import suite_files

    if not folder.is_dir():
        raise NotFoundError(f"{folder} is not a directory")
    if not suite_files(folder):
        raise NotFoundError(
            f"no test files in {folder}",
            hint="looked for, below it too: *.mlir, and *.mlir.bc beside a *.mlir; StableHLO's repository has them in "
            "stablehlo/testdata and stablehlo/tests",
        )


def _naming(stablehlo: bool, *, by_id: bool = False) -> str:
    """A hint for --test or -k: how tests are named."""
    if by_id:
        return "--test takes the id or the name of one test, as a failure prints them, with its profile and seed"
    if stablehlo:
        return (
            'words match parts of names of folders and files: -k "interpret and reduce"; parts of a file are counted '
            'from 0: -k "interpret/compare.mlir:7"'
        )
    return 'words match parts of the names of tests: -k "dot and f32"'
