"""The levels of conformance."""

from __future__ import annotations

import dataclasses

import pytest
from xla_conformance.levels import LEVELS, conforms, scores
from xla_conformance.results import Result, Run, State, Unclaimed

from tests.conformance.report.runs import whole_run
from xla_core.hlo import OPS


def test_each_level_needs_more_ops() -> None:
    assert [level.name for level in LEVELS] == ["runtime", "core ops", "inference", "training", "everything"]
    for level in LEVELS:
        assert level.ops <= {str(op) for op in OPS}, "an op that the table does not have"
    assert LEVELS[1].ops == {str(o) for o, op in OPS.items() if "PRIMITIVE" in {t.name for t in op.traits}}
    assert LEVELS[-1].ops == {str(op) for op in OPS}


@pytest.mark.parametrize(
    ("states", "level"),
    [
        ({}, "everything"),
        ({"collectives": State.NOT_SUPPORTED}, "training"),
        ({"scatter": State.NOT_SUPPORTED}, "inference"),
        ({"tanh": State.WAIVED}, "core ops"),
        ({"select": State.NOT_SUPPORTED}, "runtime"),
        ({"memory": State.NOT_SUPPORTED}, ""),
        ({"memory": State.WAIVED}, ""),
        ({"claims": State.WAIVED}, "runtime"),
        ({"programs": State.WAIVED}, "inference"),
        ({"collectives": State.WAIVED}, "training"),
        ({"scatter": State.FAIL}, ""),
    ],
)
def test_a_run_reaches_a_level(states: dict[str, State], level: str) -> None:
    assert conforms(whole_run(**states)) == level


def test_nothing_conforms_by_little() -> None:
    whole = whole_run()
    assert conforms(dataclasses.replace(whole, selection="-k add")) == ""
    assert conforms(dataclasses.replace(whole, not_run=1)) == ""
    assert conforms(dataclasses.replace(whole, problem="the time is over")) == ""
    assert conforms(Run("chip", "quick")) == ""
    without_op = [
        dataclasses.replace(r, state=State.NOT_SUPPORTED) if "opcode" in r.properties else r for r in whole.results
    ]
    no_op = dataclasses.replace(whole, results=without_op)
    assert no_op.passes
    assert conforms(no_op) == ""
    assert scores(no_op)[0].next.startswith("an op that works")


def of_each_op(run: Run, *more: Result) -> Run:
    """The run with these results, given an opcode, for each op."""
    opcodes = [str(op) for op in OPS]
    added = [dataclasses.replace(r, properties={**r.properties, "opcode": op}) for op in opcodes for r in more]
    return dataclasses.replace(run, results=[*run.results, *added])


def test_an_op_does_not_work_by_one_test() -> None:
    """Half of its tests in some one type must pass. Those with a second type, which the device doesn't hold, don't count."""
    refused = Result(
        "test_ops.py::test_op[x]", State.NOT_SUPPORTED, message="a shape", properties={"element_type": "f32"}
    )
    assert conforms(of_each_op(whole_run(), refused)) == "everything"
    assert conforms(of_each_op(whole_run(), refused, refused)) == ""
    other = dataclasses.replace(refused, properties={"element_type": "s32"})
    assert conforms(of_each_op(whole_run(), other, other)) == "everything"
    lacking = dataclasses.replace(
        refused, properties={"element_type": "f32", "unclaimed": Unclaimed.ELEMENT_TYPE.value}
    )
    assert conforms(of_each_op(whole_run(), lacking, lacking)) == "everything"


def test_a_score_names_the_types_in_which_all_ops_work() -> None:
    both = of_each_op(whole_run(), Result("test_ops.py::test_op[x]", State.PASS, properties={"element_type": "s32"}))
    assert str(scores(both)[2]).startswith("inference: reached in s32, f32, ")
    less = [
        dataclasses.replace(r, state=State.NOT_SUPPORTED)
        if r.id == "test_ops.py::test_op[x]" and r.properties["opcode"] == "dot"
        else r
        for r in both.results
    ]
    found = scores(dataclasses.replace(both, results=less))
    assert found[2].types == ("f32",)
    assert found[0].types == ()


def test_a_score_names_the_next_step() -> None:
    by_name = {s.level: s for s in scores(whole_run(select=State.NOT_SUPPORTED, scatter=State.NOT_SUPPORTED))}
    core = by_name["core ops"]
    primitive = len(LEVELS[1].ops)
    assert (core.ops_working, core.ops, core.next) == (primitive - 1, primitive, "`select`")
    assert (
        str(core)
        == f"core ops: {primitive - 1} of {primitive} primitive ops, {core.claimed:.0f} % claimed; next: `select`"
    )
    assert by_name["runtime"].reached
    assert by_name["training"].next == "`scatter`"


def test_a_level_needs_those_below_it() -> None:
    found = scores(whole_run(memory=State.NOT_SUPPORTED))
    assert [s.reached for s in found] == [False] * 5
    assert found[1].next == "reach the level runtime"
