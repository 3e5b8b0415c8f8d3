"""A backend that breaks while it loads, opens or closes costs the run nothing but its own tests, and is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xla_conformance.results import State
from xla_conformance.runner import Limits, run_suite

from tests.conformance.runner.broken_backends import FAULTS, STAGES, broken_at
from xla_core.errors import UnavailableError

Put = Callable[[str, str], str]
BROKEN = [(stage, fault) for stage in STAGES for fault in FAULTS]
QUICK = [
    (stage, fault)
    for i, stage in enumerate(STAGES)
    for j, fault in enumerate(FAULTS)
    if (i + j) % 2 == 0 and (fault != "hangs" or stage in ("load", "close"))
]
"""Half of them, each stage and each fault among them."""


@pytest.mark.parametrize(
    ("stage", "fault"),
    [b if b in QUICK else pytest.param(*b, marks=pytest.mark.slow) for b in BROKEN],
)
def test_what_breaks_while_it_loads_opens_or_closes_is_told(put_backend: Put, stage: str, fault: str) -> None:
    backend = put_backend(f"{stage}_{fault}", broken_at(stage, fault))
    limits = Limits(test=10, stage=6 if fault == "hangs" else 60, total=300)
    expression = "test_probe_answers or test_op[negate-f32"
    if (stage, fault) in (("probe", "raises"), ("probe", "exits")):  # as if it answered no
        with pytest.raises(UnavailableError, match="no such driver"):
            run_suite(backend, expression=expression, limits=limits)
        return
    run = run_suite(backend, expression=expression, limits=limits)
    assert not run.passes
    state = {"raises": State.FAIL, "exits": State.FAIL, "hangs": State.TIMEOUT}.get(fault, State.CRASH)
    if stage == "close" and fault in ("raises", "exits"):
        state = State.CRASH  # the process ends with another code
    wrong = run.wrong[0]
    assert (wrong.id, wrong.state) == (f"test_loading.py::{'close' if stage == 'close' else 'open'}", state)
    assert "no such driver" in wrong.message + wrong.details
    if fault == "crashes":
        assert "SIGSEGV" in wrong.message
        assert "stacks:" in wrong.details
    if (stage, fault) == ("executor", "raises"):
        assert "caused by RuntimeError: no such driver" in wrong.details
        assert " in fault" in wrong.details  # where it was raised
        assert "raise RuntimeError" not in wrong.details  # no Python source
    assert any(r.group == "ops" for r in run.results) == (stage == "close")


@pytest.mark.parametrize("fault", ["raises", "crashes", "hangs"])
def test_several_workers_that_cannot_open_the_device_are_told_once(put_backend: Put, fault: str) -> None:
    limits = Limits(test=10, stage=6 if fault == "hangs" else 60, total=300)
    run = run_suite(put_backend(f"none_{fault}", broken_at("executor", fault)), workers=2, limits=limits)
    state = {"raises": State.FAIL, "hangs": State.TIMEOUT}.get(fault, State.CRASH)
    (result,) = [r for r in run.results if r.name == "open"]
    assert (result.state, result.id) == (state, "test_loading.py::open")
    assert "no such driver" in result.message + result.details
    assert not run.passes


@pytest.mark.parametrize("fault", ["raises", "exits"])
def test_several_workers_whose_backend_refuses_raise_its_error(put_backend: Put, fault: str) -> None:
    with pytest.raises(UnavailableError, match="no such driver"):
        run_suite(put_backend(f"refusing_{fault}", broken_at("probe", fault)), workers=2)


def test_the_group_loading_tells_why_a_backend_does_not_open(put_backend: Put) -> None:
    run = run_suite(
        put_backend("broken", "raise OSError('no such driver')\n"), expression="test_loading or test_op[dot"
    )
    assert {r.state for r in run.results} == {State.FAIL, State.PASS}
    assert {r.group for r in run.results} == {"loading"}
    assert {r.name for r in run.wrong} >= {"open", "test_the_core_lists_it_as_usable"}
    assert all("no such driver" in r.message for r in run.wrong)
