"""The exception of a test, as a sentence and details."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import xla_conformance
from xla_conformance.failures import Failure
from xla_conformance.runner import explanation
from xla_conformance.runner.explanation import Explanation, explain, lacks_room, save_failure

from xla_core.errors import InternalError


def explained(code: str, **names: object) -> Explanation:
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        exec(compile(code, "vendor/driver.py", "exec"), names)
    return explain(caught.value)


def test_an_assertion_is_its_message() -> None:
    found = explained("assert 1 == 2, 'a copy is late.'")
    assert found.sentence == "a copy is late."
    assert "vendor/driver.py:1 in <module>" in found.details


def test_what_pytest_adds_is_a_detail() -> None:
    found = explain(AssertionError("a copy is late.\nassert 1 == 2\n +  where 1 = f()"))
    assert (found.sentence, found.details) == ("a copy is late.", "assert 1 == 2\n +  where 1 = f()")
    without = explain(AssertionError("assert 1 == 2"))
    assert (without.sentence, without.details) == ("", "assert 1 == 2")


def test_an_error_has_its_frames_and_causes_and_no_source() -> None:
    code = "try:\n    {}['bus']\nexcept KeyError as error:\n    raise InternalError('no bus', hint='reset it') from error\n"
    found = explained(code, InternalError=InternalError)
    assert found.sentence == "INTERNAL: no bus"
    assert "hint: reset it" in found.details
    assert "caused by KeyError: 'bus'" in found.details
    assert "vendor/driver.py:2 in <module>" in found.details
    assert "raise" not in found.details


def test_a_heading_takes_the_line_below_it() -> None:
    assert explain(InternalError("it lacks:\n  y = f32[] sine")).sentence == "INTERNAL: it lacks: y = f32[] sine"


def test_of_several_failures_the_first_is_told() -> None:
    group = ExceptionGroup("many", [Failure("the first.", promise=""), Failure("the second.", promise="")])
    assert explain(group).sentence == "the first."
    assert "the first of 2 different failures" in explain(group).details


def test_a_failure_is_saved(tmp_path: Path) -> None:
    x = np.float32([[1, 2]]).T
    b = np.array([1.5], ml_dtypes.bfloat16)
    failure = Failure(
        "wrong.",
        promise="",
        module="HloModule m\n",
        arguments=[x, b],
        operands=[x, b],
        results=[x],
        expected=[-x],
        index=(1, 0),
        ulp=np.inf,
    )
    assert explain(failure).failure == {
        "module": "HloModule m\n",
        "result": 0,
        "index": [1, 0],
        "operands": ["2.0 (0x40000000)", "bfloat16[1]"],
        "got": "2.0 (0x40000000)",
        "wanted": "-2.0 (0xc0000000)",
    }
    files = save_failure(failure, tmp_path)
    assert files == ["module.hlo", "argument_0.npy", "argument_1.npy", "result_0.npy", "expected_0.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "argument_0.npy"), x)
    assert np.load(tmp_path / "argument_1.npy").tobytes() == b.tobytes()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
@pytest.mark.parametrize(
    ("file", "lacks"), [(Path(xla_conformance.__file__).parent / "x.py", True), ("driver.py", False)]
)
def test_a_full_disk_is_the_suites_own_error_where_the_suite_writes(file: Path | str, lacks: bool) -> None:
    _write_to_full_disk(file, lacks)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_suite_in_a_folder_of_libraries_is_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where site-packages lies in the standard library's folder."""
    suite = Path(xla_conformance.__file__).parent
    monkeypatch.setattr(explanation, "_LIBRARIES", (suite.parent, Path(os.__file__).parent))
    _write_to_full_disk(suite / "x.py", lacks=True)


def _write_to_full_disk(file: Path | str, lacks: bool) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        exec(compile("Path('/dev/full').write_text('x' * 100_000)", file, "exec"), {"Path": Path})
    assert lacks_room(caught.value) is lacks
