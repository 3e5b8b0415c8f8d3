"""Runs StableHLO's own test files on anything that runs HLO.

    for case in cases(find_tests() / "interpret" / "add.mlir"):
        outcome = run_case(case, run=lambda module, arrays: xla.evaluate(module, *arrays))

A file is split at `// -----`. A part with `expected-error` must be refused at the given line with the given message. A
part with checks runs, and its values are compared. Any other part must be read and verified, and the lowerings of its
CHLO ops must run. A portable artifact (`.mlir.bc`) must be the same module as the text beside it.
"""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from xla_conformance.stablehlo.functions import run_functions
from xla_conformance.stablehlo.parallel import ParallelRun, evaluate_programs
from xla_conformance.stablehlo.program import Program, Run, entries, run_on_evaluator
from xla_conformance.stablehlo.trees import tree
from xla_core.errors import XlaError
from xla_core.stablehlo import OPS, lower, parse_bytecode, parse_text, split_modules, verify


@dataclasses.dataclass(frozen=True)
class Case:
    """One part of a file.

    `errors` are the (line, pattern) pairs of expected errors. `disabled` says why StableHLO itself doesn't run the
    file; empty if it does.
    """

    file: Path
    index: int
    source: str = dataclasses.field(repr=False)
    errors: tuple[tuple[int, re.Pattern[str]], ...] = ()
    disabled: str = ""

    @property
    def name(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}:{self.index}"

    @property
    def ops(self) -> list[str]:
        """The StableHLO and CHLO ops in the text, sorted."""
        return sorted({name for name in _OP.findall(self.source) if name in OPS})


_OP = re.compile(r"(?<![#!\w.])(?:stablehlo|chlo)\.[a-z_][\w-]*")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a case. `checks` is the number of compared values. `detail` describes the problem, or is "ran" for
    a case that passed without a comparison. `proof` says why the file is wrong, if that is proved.
    """

    case: Case
    passed: bool
    checks: int = 0
    detail: str = ""
    proof: str = ""


def find_tests() -> Path | None:
    """The folder of StableHLO's tests: $STABLEHLO_TESTS or ../shared/stablehlo-tests; None if there is none."""
    given = os.environ.get("STABLEHLO_TESTS")
    path = Path(given) if given else Path(__file__).resolve().parents[4] / "shared" / "stablehlo-tests"
    return path if path.is_dir() else None


def suite_files(root: Path) -> list[Path]:
    """Every test file below the folder, in order, without the texts beside portable artifacts."""
    artifacts = sorted(p for p in root.rglob("*.mlir.bc") if p.with_suffix("").exists())
    texts = {p.with_suffix("") for p in artifacts}
    return sorted([*artifacts, *(p for p in root.rglob("*.mlir") if p not in texts)])


def cases(file: Path) -> list[Case]:
    """The parts of a file; their line numbers are those of the file."""
    if file.suffix == ".bc":
        return [Case(file, 0, file.with_suffix("").read_text(encoding="utf-8"))]
    text = file.read_text(encoding="utf-8")
    disabled = re.match(r"\s*// RUN-DISABLED(?:\(([^)]*)\))?", text)
    reason = "" if disabled is None else disabled[1] or "no reason given"
    return [Case(file, i, part, _expected_errors(part), reason) for i, part in enumerate(split_modules(text))]


def _expected_errors(part: str) -> tuple[tuple[int, re.Pattern[str]], ...]:
    found = []
    for number, line in enumerate(part.split("\n"), 1):
        match = re.search(r"expected-error(-re)?\s*@?\s*([+-]\d+|above|below)?\s*\{\{(.*)\}\}", line)
        if match is None:
            continue
        regex, offset, text = match.groups()
        target = number + {"above": -1, "below": 1, None: 0}.get(
            offset, 0 if offset is None or offset.isalpha() else int(offset)
        )
        found.append((target, re.compile(_pattern(text) if regex else re.escape(text), re.S)))
    return tuple(found)


def _pattern(text: str) -> str:
    """The regular expression of a FileCheck pattern, in which regular expressions are in double braces."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))


def run_case(case: Case, run: Run = run_on_evaluator, run_parallel: ParallelRun = evaluate_programs) -> Outcome:
    """Runs a case. An XlaError makes it fail; any other exception is raised."""
    if case.errors:
        return _run_refused(case)
    try:
        if case.file.suffix == ".bc":
            return _run_artifact(case)
        module = parse_text(case.source, str(case.file))
        verify(module)
        checks = 0
        for name in entries(module):
            program = Program(module, name, run, run_parallel)
            problem, done = program.check()
            checks += done
            if problem is not None:
                return Outcome(case, False, checks, f"@{name}: {problem}", program.proof())
        if not checks and "chlo" in case.file.parts:
            problem, checks, ran = run_functions(module, run)
            if problem is not None:
                return Outcome(case, False, checks, problem)
            if ran and not checks:
                return Outcome(case, True, 0, "ran")
        return Outcome(case, True, checks)
    except XlaError as error:
        return Outcome(case, False, 0, str(error))


def _run_refused(case: Case) -> Outcome:
    try:
        module = parse_text(case.source, str(case.file))
        verify(module)
        if "chlo" in case.file.parts:  # these files show what a rewriting pass refuses, as our lowering does
            for name in module.functions:
                lower(module, name)
    except XlaError as error:
        line = error.location.line if error.location is not None else 0
        message = error.message
        for target, pattern in case.errors:
            if pattern.search(message) and target == line:
                return Outcome(case, True, 1)
        wanted = "; ".join(f"line {t}: {p.pattern}" for t, p in case.errors)
        return Outcome(case, False, 0, f"refused at line {line}: {message}; expected {wanted}")
    return Outcome(case, False, 0, f"accepted; expected {case.errors[0][1].pattern}")


def _run_artifact(case: Case) -> Outcome:
    """Checks that the artifact and the text beside it are the same module."""
    text = parse_text(case.source, str(case.file))
    artifact = parse_bytecode(case.file.read_bytes(), str(case.file))
    verify(text)
    verify(artifact)
    want, got = tree(text), tree(artifact)
    if want == got:
        return Outcome(case, True, len(text.functions))
    differ = [n for n in {*want.functions, *got.functions} if want.functions.get(n) != got.functions.get(n)]
    return Outcome(
        case, False, 0, f"artifact and text differ in {', '.join(sorted(differ)[:5]) or 'the module itself'}"
    )
