"""Runs the tests of one of JAX's files with pytest, and records what happens to each in a file of JSON lines.

This file is a program: it runs in a process of its own, which a test may end. A line with `started` comes before each
test and one with `outcome` after it, so that the reader of the record knows in which test a process ended.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import IO, Any

import pytest

MESSAGE = 300
"""Characters of an error's text that are kept."""


def is_chosen(test: str, share: float, seed: int) -> bool:
    """Whether a test belongs to the share of the tests. The choice depends on its name and the seed alone."""
    digest = hashlib.sha256(f"{seed} {test}".encode()).digest()
    return int.from_bytes(digest[:8], "little") < share * 2.0**64


class Recorder:
    """A plugin of pytest."""

    def __init__(self, record: IO[str], share: float, seed: int, only: set[str], without: set[str]) -> None:
        self.record, self.share, self.seed, self.only, self.without = record, share, seed, only, without
        self.outcome, self.message = "passed", ""

    def write(self, **line: Any) -> None:
        self.record.write(json.dumps(line) + "\n")
        self.record.flush()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self._is_wanted(item.nodeid)]

    def _is_wanted(self, test: str) -> bool:
        if test in self.without or (self.only and test not in self.only):
            return False
        return is_chosen(test, self.share, self.seed)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.outcome, self.message = "passed", ""
        self.write(started=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed" and self.outcome == "passed":
            self.outcome, self.message = report.outcome, _message(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.write(test=nodeid, outcome=self.outcome, message=self.message)


def _message(report: pytest.TestReport) -> str:
    """Returns the error or the reason, without the folder of the tests, which is each machine's own."""
    if isinstance(report.longrepr, tuple):  # of a skipped test: file, line, reason
        text = str(report.longrepr[2])
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash is not None else str(report.longrepr)
    return text.replace(f"{os.getcwd()}/", "")[:MESSAGE]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=300, help="seconds for one test")
    parser.add_argument("--only", type=Path, help="a file with the names of the tests to run")
    parser.add_argument("--without", type=Path, help="a file with the names of tests to leave out")
    args = parser.parse_args()
    only, without = (set(path.read_text().splitlines()) if path else set() for path in (args.only, args.without))
    sys.argv = sys.argv[:1]  # JAX's tests read it
    sys.path[:0] = [str(args.file.parent), str(args.file.parent.parent)]

    import jax

    importlib.import_module("jax._src.test_util")  # defines jax_test_dut
    config: Any = jax.config
    config.update("jax_test_dut", "cpu")
    os.chdir(args.file.parent)
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=short", f"--timeout={args.limit}"]
    with args.record.open("a") as record:
        recorder = Recorder(record, args.share, args.seed, only, without)
        return int(pytest.main([args.file.name, *options], plugins=[recorder]))


if __name__ == "__main__":
    sys.exit(main())
