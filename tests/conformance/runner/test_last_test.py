"""The record that a worker leaves of the test that it runs."""

from __future__ import annotations

from pathlib import Path

from xla_conformance.last_test import LastTest


def test_the_last_test_and_its_properties_are_left(tmp_path: Path) -> None:
    parent, worker = LastTest(tmp_path), LastTest(tmp_path)
    assert parent.read() == ("", {})
    worker.begin("a.py::long[name]")
    worker.add("opcode", "add")
    worker.begin("a.py::b")
    worker.add("opcode", "tanh")
    worker.add("max_ulp", 1.5)
    worker.add("max_ulp", 2.0)
    assert parent.read() == ("a.py::b", {"opcode": "tanh", "max_ulp": 2.0})


def test_a_property_that_was_half_written_is_left_out(tmp_path: Path) -> None:
    worker = LastTest(tmp_path)
    worker.begin("a.py::b")
    worker.add("opcode", "tanh")
    file = tmp_path / "test"
    file.write_text(file.read_text()[:-4])
    assert LastTest(tmp_path).read() == ("a.py::b", {})


def test_without_room_the_worker_knows_that_nothing_is_left(tmp_path: Path) -> None:
    assert LastTest(tmp_path).begin("a.py::b") is True
    (tmp_path / "file").touch()
    worker = LastTest(tmp_path / "file")
    assert worker.begin("a.py::b") is False
    worker.add("opcode", "tanh")
    assert worker.read() == ("", {})
