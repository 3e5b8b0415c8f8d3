"""The results of a run."""

from __future__ import annotations

from pathlib import Path

from xla_conformance.results import _OF_THE_DRIVER, CAUSES, GROUPS, Result, Run, State, suite_files

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"


def test_the_page_lists_the_states() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `") and line.split("`")[1].isupper()]
    assert rows == [f"| `{state.value}` | {state.meaning} |" for state in State]


def test_a_run_passes_if_all_chosen_tests_ran_and_none_is_wrong() -> None:
    right, unsupported = Result("a.py::a", State.PASS), Result("a.py::b", State.NOT_SUPPORTED)
    assert Run("chip", "quick", [right, unsupported]).passes
    assert not Run("chip", "quick", [unsupported]).passes
    assert not Run("chip", "quick", [right], not_run=1).passes
    assert not Run("chip", "quick", [right], problem="no device").passes
    for state in State:
        run = Run("chip", "quick", [right, Result("a.py::c", state)])
        assert run.passes != (state.is_wrong or state is State.SUITE_ERROR)
        assert bool(run.wrong) == state.is_wrong


def test_groups_are_in_the_suites_order() -> None:
    ids = ["waivers::x", "test_ops_values.py::a", "test_streams_order.py::b", "test_loading.py::c"]
    assert Run("chip", "quick", [Result(id, State.PASS) for id in ids]).groups == (
        "loading",
        "streams",
        "ops",
        "waivers",
    )


def test_causes_are_all_groups() -> None:
    assert sorted(CAUSES) == sorted(GROUPS)


def test_a_drivers_memory_comes_before_what_uses_it() -> None:
    """Blocks that overlap make many programs wrong; the first failure that is printed says that they do."""
    ids = [
        "test_memory.py::full",
        "test_memory_close.py::end",
        "test_memory_device.py::overlap",
        "test_events.py::wait",
    ]
    run = Run("chip", "quick", [Result(id, State.FAIL) for id in ids])
    assert [result.name for result in run.wrong] == ["wait", "overlap", "full", "end"]
    files = {Path(file).name for file in suite_files()}
    assert files >= set(_OF_THE_DRIVER)
