"""How the runner records what tests do, on tests made here."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.xla_core.pjrt.jax_suite.comparison import compare
from tests.xla_core.pjrt.jax_suite.running import Outcome, run_file
from tests.xla_core.pjrt.jax_suite.selection import Selection, device_count
from tests.xla_core.pjrt.jax_suite.worker import is_chosen

_TESTS = """
    import os, time
    import jax
    import pytest

    def test_platform():
        assert jax.devices()[0].platform == os.environ["JAX_PLATFORMS"].split(",")[0]

    def test_wrong():
        assert jax.numpy.ones(2).sum() == 3, "two is not three"

    def test_names_a_file():
        raise ValueError(f"{__file__}:3: wrong")

    def test_left_out():
        pytest.skip("not on this machine")

    def test_ends_the_process():
        os._exit(3)

    def test_after_it():
        print("runs in a new process")

    def test_is_slow():
        time.sleep(100)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("jax")
    pytest.importorskip("absl", reason="JAX's test utilities need absl-py")
    path = tmp_path_factory.mktemp("tests") / "some_test.py"
    path.write_text(textwrap.dedent(_TESTS))
    return path


def test_every_outcome_is_recorded(file: Path) -> None:
    outcomes = run_file(file, "cpu", Selection(), limit=10)
    kinds = {name.partition("::")[2]: outcome.kind for name, outcome in outcomes.items()}
    assert kinds == {
        "test_platform": "passed",
        "test_wrong": "failed",
        "test_names_a_file": "failed",
        "test_left_out": "skipped",
        "test_ends_the_process": "crashed",
        "test_after_it": "passed",
        "test_is_slow": "failed",
    }
    messages = {name.partition("::")[2]: outcome.message for name, outcome in outcomes.items()}
    assert "two is not three" in messages["test_wrong"]
    assert messages["test_names_a_file"] == "ValueError: some_test.py:3: wrong"
    assert "not on this machine" in messages["test_left_out"]
    assert "exit status 3" in messages["test_ends_the_process"]
    assert "Timeout" in messages["test_is_slow"]


def test_named_tests_run_on_another_platform(file: Path) -> None:
    name = "some_test.py::test_platform"
    assert run_file(file, "xla_cpu", Selection(), only=[name]) == {name: Outcome("passed")}


def test_a_seed_chooses_a_share() -> None:
    names = [f"some_test.py::test_{number}" for number in range(1000)]
    chosen = [name for name in names if is_chosen(name, 0.1, 1)]
    assert 60 < len(chosen) < 140
    assert chosen != [name for name in names if is_chosen(name, 0.1, 2)]
    assert all(is_chosen(name, 1.0, 1) for name in names)


def test_a_file_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    file = tmp_path / "broken_test.py"
    file.write_text("import nothing_of_this_name\n")
    with pytest.raises(RuntimeError, match="nothing_of_this_name"):
        run_file(file, "cpu", Selection())


def test_the_number_of_devices_is_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "some_test.py"
    file.write_text("jtu.request_cpu_devices(8)\n")
    assert device_count(file) == 8
    file.write_text("import jax\n")
    assert device_count(file) == 1


def test_what_fails_on_jax_cpu_too_is_no_failure_of_ours() -> None:
    ours = {"a": Outcome("failed", "E"), "b": Outcome("crashed"), "c": Outcome("skipped"), "d": Outcome("passed")}
    reference = {"a": Outcome("failed"), "b": Outcome("passed"), "c": Outcome("passed"), "d": Outcome("passed")}
    row = compare(ours, reference, Selection())
    assert row["ours"] == {"passed": 1, "failed": 2, "skipped": 1}
    assert row["reference"] == {"passed": 3, "failed": 1, "skipped": 0}
    assert row["failures"] == {"b": "crashed: "}
    assert row["skipped by ours alone"] == 1
