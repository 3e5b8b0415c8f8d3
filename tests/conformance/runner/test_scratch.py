"""The folders of workers go with the run, or with the next one where the run was killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from xla_conformance.runner.process import offset_of
from xla_conformance.runner.scratch import PREFIX, Scratch, remove_abandoned


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def test_a_folder_goes_when_it_is_removed() -> None:
    scratch = Scratch()
    (scratch.folder / "log").write_text("x")
    scratch.remove()
    scratch.remove()
    assert not scratch.folder.exists()


def test_folders_of_killed_processes_are_removed_and_others_stay(tmp_path: Path) -> None:
    code = (
        "import os\nfrom xla_conformance.runner.scratch import Scratch\nprint(Scratch().folder)\nos.sys.stdout.flush()"
    )
    code += "\nos.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.is_dir()
    other = tmp_path / f"{PREFIX}of-another-program"
    other.mkdir()
    mine = Scratch()
    remove_abandoned()
    assert not left.exists()
    assert other.exists()
    assert mine.folder.exists()
    mine.remove()


def test_a_log_that_has_become_long_is_emptied(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("ab") as stream:
        stream.write(b"some lines")
        stream.flush()
        assert offset_of(log) == len(b"some lines")
        stream.truncate(65 << 20)
        assert offset_of(log) == 0
        stream.write(b"more")
    assert log.read_bytes() == b"more"
