"""Spans and the Chrome trace that they become."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from xla_core import profiler


def test_off_a_span_is_nothing() -> None:
    assert profiler.active is None
    with profiler.span("a", anything=1):
        pass
    assert profiler.span("a") is profiler.span("b")


def test_spans_of_threads_and_tracks(tmp_path: Path) -> None:
    with profiler.trace(tmp_path / "t.json") as trace:
        with profiler.span("outer", "compile", module="m"), profiler.span("inner"):
            pass
        thread = threading.Thread(target=lambda: trace.add("elsewhere", "x", 5, 1005), name="worker")
        thread.start()
        thread.join()
        trace.add("on device", "stream", 10, 20, "stream 7")
        with pytest.raises(ValueError, match="no"), profiler.span("failing"):
            raise ValueError("no")
    assert profiler.active is None
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    spans = {e["name"]: e for e in events if e["ph"] == "X"}
    rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
    assert set(spans) == {"outer", "inner", "elsewhere", "on device", "failing"}
    assert spans["outer"]["args"] == {"module": "m"}
    assert spans["outer"]["ts"] <= spans["inner"]["ts"]
    assert spans["inner"]["dur"] <= spans["outer"]["dur"]
    assert spans["elsewhere"]["dur"] == 1.0
    assert rows[spans["elsewhere"]["tid"]] == "worker"
    assert rows[spans["on device"]["tid"]] == "stream 7"
    assert spans["failing"]["args"] == {"error": "ValueError: no"}


def test_a_trace_within_a_trace_adds_to_it(tmp_path: Path) -> None:
    with profiler.trace() as outer:
        with profiler.trace(tmp_path / "inner.json") as inner, profiler.span("a"):
            pass
        assert inner is outer
        assert profiler.active is outer
    assert "a" in (tmp_path / "inner.json").read_text()
