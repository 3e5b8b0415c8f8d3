"""The picture of a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from xla_core import profiler
from xla_core.errors import InvalidArgumentError
from xla_core.profiler import Span
from xla_core.timeline import nesting_depths, plot_timeline


def spans(*times: tuple[int, int]) -> list[Span]:
    return [Span(f"s{number}", "c", start, end, "row", {}) for number, (start, end) in enumerate(times)]


def test_a_span_lies_below_those_that_it_is_in() -> None:
    assert nesting_depths(spans((0, 100), (10, 50), (20, 30), (30, 40), (60, 70), (100, 120))) == [0, 1, 2, 2, 1, 0]


def test_spans_that_overlap_lie_in_different_lanes() -> None:
    assert nesting_depths(spans((0, 10), (5, 15), (12, 20))) == [0, 1, 2]


@pytest.mark.parametrize("suffix", ["svg", "PNG", "pdf"])
def test_a_trace_becomes_a_picture(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"timeline.{suffix}"
    with profiler.trace(file) as trace:
        trace.add("kernel_of_mine", "stream", 0, 1000, "stream 7")
        trace.add("instant", "stream", 1000, 1000, "stream 7")
    assert file.stat().st_size > 1000
    if suffix == "svg":
        text = file.read_text()
        assert "kernel_of_mine" in text
        assert "stream 7" in text


def test_nothing_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="nothing was recorded"):
        plot_timeline([], tmp_path / "none.png")
