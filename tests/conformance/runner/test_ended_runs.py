"""Runs that end before all tests ran, by their time limit or by a signal, say what they did and leave a report."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from xla_conformance.report.document import read_document
from xla_conformance.runner import Limits, run_suite

from tests.conformance.runner.broken_backends import HANGING, broken_at

Put = Callable[[str, str], str]


def test_the_total_time_holds(put_backend: Put) -> None:
    run = run_suite(
        put_backend("hanging", HANGING),
        expression="test_op[popcnt-s16 or test_op[xor-s16",
        limits=Limits(test=100, stage=100, total=12),
    )
    running = r"; (test_ops\.py::test_op\[.* ran|the .* (was|were) being .*ed) for \d+ s"  # on a slow machine no test has begun
    assert re.fullmatch("the total time of 12 s is over" + running, run.problem)
    assert run.not_run or not run.results
    assert not run.passes
    assert run.seconds < 60


@pytest.mark.parametrize(
    ("stage", "doing"), [("executor", "the devices were being opened"), ("close", "the devices were being closed")]
)
def test_a_run_whose_time_is_over_says_what_hung(put_backend: Put, stage: str, doing: str) -> None:
    run = run_suite(
        put_backend(f"{stage}_hangs", broken_at(stage, "hangs")),
        expression="test_probe_answers",
        limits=Limits(test=100, stage=100, total=20),
    )
    assert re.search(rf"; {doing} for \d+ s and last printed 'no such driver'$", run.problem)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda n: n.name)
def test_an_interrupted_run_leaves_nothing_running(put_backend: Put, tmp_path: Path, number: signal.Signals) -> None:
    backend = put_backend("hanging", HANGING)
    command = [sys.executable, "-m", "xla_core.cli", "conform", "--backend", backend, "-n", "2"]
    command += ["-k", "test_op[popcnt-s16"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "XDG_CACHE_HOME": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not workers_of(backend):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(number)
    assert process.wait(30) != 0
    while workers_of(backend):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def workers_of(backend: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"--xla-backend={backend}" in entry.read_text().split("\0"):
                found.append(entry.parent.name)
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
def test_an_interrupted_run_leaves_a_partial_report(put_backend: Put, tmp_path: Path, number: signal.Signals) -> None:
    """Also where a shell that started it in the background has SIGINT ignored."""
    backend, report = put_backend("hanging", HANGING), tmp_path / "report"
    command = [sys.executable, "-m", "xla_core.cli", "conform", "--backend", backend, "--report", str(report)]
    command += ["-k", "test_spec_says or test_op[popcnt-s16"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process inherits it
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 120
    while not any(programs_of(worker) for worker in workers_of(backend)):  # the kernel hangs soon after
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(number)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "it was interrupted, so this report is partial" in printed
    document = read_document(report)
    assert document["problem"].startswith("it was interrupted, so this report is partial")
    assert document["not_run"] > 0
    assert document["conforms"] is None
    assert not document["passes"]
    assert any(r["group"] == "loading" and r["state"] == "PASS" for r in document["results"])


def programs_of(worker: str) -> bool:
    """Whether a worker has compiled a program."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{worker}/cmdline").read_text().split("\0")
        (scratch,) = [word.partition("=")[2] for word in words if word.startswith("--xla-scratch=")]
        return Path(scratch, "program.hlo").exists()
    return False
