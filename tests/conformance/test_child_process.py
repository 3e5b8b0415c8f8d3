"""Processes that run the vendor's code, and what is left of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from xla_conformance.child_process import Enter, run_in_stages

from tests.fresh_process import ROOT


def hang(enter: Enter, argument: str) -> None:
    with enter("hang"):
        Path(argument).write_text(str(os.getpid()))
        time.sleep(100)


def print_much(enter: Enter, argument: str) -> None:
    with enter("print"):
        print("\n".join(["x" * 1000] * 3000))
        print(argument, flush=True)
        raise KeyError(argument)


def _is_there(process: int) -> bool:
    """Whether it runs. One that ended may remain as a zombie, if nobody waits for it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_process_that_hangs_ends_with_its_parent(tmp_path: Path) -> None:
    file = tmp_path / "number"
    code = "import sys\nfrom tests.conformance.test_child_process import hang\n"
    code += "from xla_conformance.child_process import run_in_stages\nrun_in_stages(hang, sys.argv[1], 100)"
    parent = subprocess.Popen([sys.executable, "-c", code, str(file)], cwd=ROOT)
    end = time.monotonic() + 60
    while not (file.exists() and file.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    child = int(file.read_text())
    assert _is_there(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 20
    while _is_there(child) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _is_there(child)


def test_a_failure_shows_the_last_lines_of_long_output() -> None:
    outcome = run_in_stages(print_much, "the last line", 60)
    assert outcome.stage == "print"
    assert "the last line" in outcome.output
    assert len(outcome.output) < 1 << 17
