"""Chooses the cases, runs them in batches, and writes their report."""

from __future__ import annotations

import dataclasses
import json
import shlex
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from xla_conformance.ahead_of_time.batches import batches_of, run_batch
from xla_conformance.ahead_of_time.cases import Choice, choose
from xla_conformance.ahead_of_time.machine import Machine
from xla_conformance.chosen import tests_named
from xla_conformance.environment import describe_environment
from xla_conformance.progress import progress
from xla_conformance.report.folder import write_and_name
from xla_conformance.report.terminal import print_report
from xla_conformance.results import GROUPS, Result, Run
from xla_core.backend import AheadOfTimeOptions, load_backend
from xla_core.cli import programs
from xla_core.errors import InvalidArgumentError

_RUN_GROUPS = ("executables", "ops", "programs")
_TEST_SECONDS = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class AheadOfTimeRun:
    """A run of programs that are compiled ahead of time; the fields are the command's options."""

    backend: str
    runner: str
    c_compiler: str
    profile: str = "quick"
    expression: str = ""
    tests: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    seed: int = 0
    workers: int = 1
    test_seconds: float | None = None

    def run(self, out: Console, folder: Path, *, show_files: bool) -> None:
        """Runs the cases, prints the results and writes the report to a folder.

        Raises:
            InvalidArgumentError: a setting is wrong, no case matches, or compiler and runner don't fit together.
            typer.Exit: with code 1, where a result is wrong.
        """
        start = time.monotonic()
        spec = load_backend(self.backend)
        compiler = spec.platform().compiler
        target, others = _target(self.settings)
        options = programs.compile_options(others)
        options = options.model_copy(update={"backend": spec.options.model_validate(options.backend)})
        machine = Machine(compiler, target, options, self.c_compiler, self.runner, self.test_seconds or _TEST_SECONDS)
        machine.check()
        order = "another" if machine.is_swapped else "the same"
        triple = target.triple or compiler.target_config.triple
        choice = choose(self.profile, self.expression, tests_named(self.tests), self.seed, triple)
        if not choice.cases:
            raise InvalidArgumentError(f"{self._selection} matches no case", hint='for example -k "dot and f32"')
        for line in (
            f"{self.backend} ahead of time for {triple}: {len(choice.cases)} cases; numbers in {order} byte order",
            *_left_out(choice),
        ):
            out.print(line, markup=False, soft_wrap=True)
        shutil.rmtree(folder / "failures", ignore_errors=True)
        results = self._results(machine, choice, folder / "failures")
        run = Run(
            self.backend,
            self.profile,
            results,
            time.monotonic() - start,
            environment=describe_environment()
            | {
                "backend_version": spec.version,
                "marks": [f"ahead of time for {triple}", *(f"with {setting}" for setting in self.settings)],
                "settings": list(self.settings),
                "runner": self.runner,
                "c_compiler": self.c_compiler,
            },
            selection=self._selection,
            seed=self.seed,
        )
        print_report(out, run, folder)
        write_and_name(out, run, folder, self.backend, wanted=show_files)
        if not run.passes:
            raise typer.Exit(1)

    @property
    def _selection(self) -> str:
        """The options that selected the tests, which are never all of the suite's."""
        words = [f"--runner {shlex.quote(self.runner)}", *(f"--test {id}" for id in self.tests)]
        return " ".join([*words, *([f"-k {self.expression!r}"] if self.expression else [])])

    def _results(self, machine: Machine, choice: Choice, artifacts: Path) -> list[Result]:
        results: list[Result] = []
        with progress() as show, ThreadPoolExecutor(self.workers) as pool:
            for found in pool.map(partial(run_batch, machine, artifacts), batches_of(choice.cases)):
                results += found
                wrong = sum(result.state.is_wrong for result in results)
                show(len(results), len(choice.cases), found[-1].group, f"{wrong} wrong" if wrong else "")
        return results


def _left_out(choice: Choice) -> list[str]:
    """The parts of the suite that don't run, and why."""
    groups = [group for group in GROUPS if group not in _RUN_GROUPS]
    lines = [f"left out: {', '.join(groups)}, and most of executables: they test a device and its client"]
    if choice.with_denormals:
        lines.append(
            f"left out: {choice.with_denormals} cases of products with denormal numbers, which a target may flush"
        )
    if choice.not_sampled:
        lines.append(f"left out: {choice.not_sampled} cases of ops, as quick runs a sample; --profile full runs all")
    return lines


def _target(settings: Sequence[str]) -> tuple[AheadOfTimeOptions, list[str]]:
    """The settings that are fields of AheadOfTimeOptions, such as triple, and the others."""
    fields, others = {"name": "model"}, []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in AheadOfTimeOptions.model_fields or name == "name":
            others.append(setting)
            continue
        try:
            fields[name] = json.loads(text)
        except ValueError:
            fields[name] = text
    return AheadOfTimeOptions.model_validate(fields), others
