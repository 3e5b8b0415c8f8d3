"""One failure as text: the fault, the operands, and the command that runs the test alone."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xla_conformance.promises import PROMISES
from xla_conformance.results import Result, Run
from xla_conformance.root_causes import RootCause
from xla_conformance.runner.minimal import part_with_result
from xla_core.errors import XlaError
from xla_core.hlo import HloModule

SEQUENCE = "passes_now"
"""The property of a test that passes and was wrong in the report before, which says how it may be wrong again."""
_BRIEF_DETAILS = 12
_MODULE_LINES = 40  # of HLO, on a terminal
_LINE = 800


def lines_of(
    run: Run,
    result: Result,
    roots: Sequence[RootCause] = (),
    folder: Path | None = None,
    *,
    brief: bool = False,
    whole: bool = True,
) -> Iterator[str]:
    """Yields the lines that explain a result.

    Args:
        run: the run that the result belongs to.
        result: a test's result, which need not be a failure.
        roots: the roots of the run's failures.
        folder: where the run's report is.
        brief: leave out the module and most of the details.
        whole: show the whole module, not only the part with the wrong result.
    """
    failure = result.failure
    yield printable(result.message)
    yield from promises_of(result.failure, result.properties)
    if "got" in failure:
        at = f" at [{','.join(map(str, failure['index']))}]" if "index" in failure else ""
        ulp = f", {failure['ulp']:g} ULP apart" if "ulp" in failure else ""
        yield f"result {failure.get('result', 0)}{at}: got {failure['got']}, wanted {failure['wanted']}{ulp}"
    if operands := failure.get("operands"):
        yield f"operands there: {', '.join(operands)}"
    if failure.get("seed", run.seed) != run.seed:
        yield f"seed of its data: {failure['seed']}"
    for root in roots:
        if result.id in root.dependents:
            yield f"it {root.why}: mend {root.tests[0]} first"
    if not brief and "module" in failure:
        yield from _module(failure, whole)
    details = printable(result.details).splitlines()
    yield from details[-_BRIEF_DETAILS:] if brief else details
    if folder is not None and failure.get("files"):
        data = folder / "failures" / failure["folder"]
        yield f"data: {data} ({', '.join(_ranges(failure['files']))})"
        if not brief and (command := bisection(run.backend, run.environment, failure, data)):
            yield f"which pass or instruction: {command}"
    if command := command_of(run, result):
        yield f"alone: {command}"
    if sequence := result.properties.get(SEQUENCE):
        yield sequence


def command_of(run: Run, result: Result, tests: Sequence[str] = ()) -> str:
    """The command that runs this test alone, or with those that are wrong only together with it; "" for a waiver.

    With another seed, the suite has other tests.

    Args:
        tests: what --test names instead.
    """
    if result.is_of_waiver:
        return ""
    seed = result.properties.get("seed", run.seed)
    words = ["xla", "conform", "--backend", run.backend, "--profile", run.profile, "--seed", str(seed)]
    words += [word for setting in run.environment.get("settings", []) for word in ("--set", setting)]
    for option, key in (("--runner", "runner"), ("--cc", "c_compiler"), ("--patience", "patience")):
        if key in run.environment:
            words += [option, str(run.environment[key])]
    if result.is_of_stage:
        return shlex.join([*words, "-k", "loading"])
    tests = tests or result.properties.get("together", [result.id])
    return shlex.join([*words, *(word for test in tests for word in ("--test", test))])


def bisection(backend: str, environment: Mapping[str, Any], failure: Mapping[str, Any], data: Path) -> str:
    """The command that finds the pass or the instruction that computes a result wrongly; "" if nothing can be bisected.

    Args:
        backend: the name of the backend.
        environment: that of the run.
        failure: the data of the failure.
        data: the folder with the failure's files.
    """
    if "minimal.mlir" not in failure.get("files", ()) or "runner" in environment:
        return ""
    words = ["xla", "bisect", "--backend", backend, str(data / "minimal.mlir"), "--input", str(data)]
    return shlex.join([*words, *(word for setting in environment.get("settings", []) for word in ("--set", setting))])


def _module(failure: Mapping[str, Any], whole: bool) -> Iterator[str]:
    """The failure's program, or the part that computes the wrong result if that is half or less and not `whole`."""
    lines = failure["module"].strip().splitlines()
    heading = "HLO:"
    if not whole and "got" in failure:
        try:
            part = _lines_of_part(part_with_result(failure["module"], failure.get("result", 0)))
        except XlaError:  # the program is StableHLO
            part = lines
        if 2 * len(part) <= len(lines):
            heading, lines = f"HLO of this result, {len(part)} lines of {len(lines)}:", part
    shown = lines if whole else lines[:_MODULE_LINES]
    yield from (heading, *(f"  {_shortened(line)}" for line in shown))
    if len(shown) < len(lines):
        yield f"  ... and {len(lines) - len(shown)} more lines"


def _lines_of_part(part: HloModule) -> list[str]:
    """The lines of a part of a program, without the parameters that only other parts use."""
    unused = tuple(f"%{p.name} = " for p in part.entry.parameters if not p.users and p is not part.entry.root)
    return [line for line in part.to_text().strip().splitlines() if not line.strip().startswith(unused)]


def _ranges(files: Sequence[str]) -> Iterator[str]:
    """The names; of more than two that differ only in their number, in a row, the first and the last one."""
    for _, group in itertools.groupby(files, key=lambda name: re.sub(r"\d+", "", name)):
        names = list(group)
        yield from names if len(names) <= 2 else [f"{names[0]} to {names[-1]}"]


def _shortened(line: str) -> str:
    """The line without the middle of a long constant, which the data of the failure has whole."""
    return line if len(line) <= _LINE else f"{line[: _LINE // 2]} ... {line[-_LINE // 4 :]}"


def printable(text: str) -> str:
    """The text without control characters, which XML doesn't allow."""
    if text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or (c >= " " and c not in "\x7f\ufffe\uffff"))


def promises_of(failure: Mapping[str, Any], properties: Mapping[str, Any]) -> Iterator[str]:
    """The sentences of the contract that the failure names, or else the only one that its test names."""
    named = failure["promise"].split() if "promise" in failure else properties.get("promises", [])
    if len(named) == 1 or "promise" in failure:
        for id in named:
            if id in PROMISES:
                sentence = PROMISES[id].sentence
                yield f"the contract ({id}) says of {sentence.member}: {sentence.text}"
