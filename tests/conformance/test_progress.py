"""The progress of a long command without a terminal."""

from __future__ import annotations

import pytest
from xla_conformance import progress as progress_module
from xla_conformance.progress import progress


def test_a_log_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "SECONDS_BETWEEN_LINES", 0.0)
    with progress() as show:
        show(1, None, "tanh f32", "")
        show(1200, 4000, "sine f32", "2 wrong")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == ["1, 0 s: tanh f32", "1,200 of 4,000, 0 s: sine f32, 2 wrong"]


def test_a_short_command_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as show:
        show(1, 2, "tanh f32", "")
        show(2, 2, "sine f32", "")
    assert capsys.readouterr().err == ""
