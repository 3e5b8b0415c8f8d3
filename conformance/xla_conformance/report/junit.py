"""A run as JUnit's XML, for continuous integration."""

from __future__ import annotations

from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from xla_conformance.report.failure import lines_of, printable
from xla_conformance.results import Run, State

_KINDS = {
    State.FAIL: Failure,
    State.CRASH: Error,
    State.TIMEOUT: Error,
    State.DEVICE_LOST: Error,
    State.SUITE_ERROR: Error,
    State.NOT_SUPPORTED: Skipped,
    State.WAIVED: Skipped,
}


def write_junit(run: Run, file: Path) -> None:
    """Writes a suite for each group. Tests that are not supported or waived are skipped."""
    document = JUnitXml(f"xla conform --backend {run.backend} --profile {run.profile}")
    for group in run.groups:
        suite, cases = TestSuite(group), []
        for result in run.results:
            if result.group != group:
                continue
            case = TestCase(printable(result.name), group, round(result.seconds, 4))  # as in report.json
            kind = _KINDS.get(result.state)
            if kind is not None:
                verdict = kind(printable(result.message), result.state.value)
                verdict.text = printable("\n".join(lines_of(run, result)))
                case.result = [verdict]
            cases.append(case)
        suite.add_testcases(cases)  # one by one, each counts all again
        document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]
    document.write(str(file), pretty=True)
