"""The loops that are planned for a kernel: splits, segments and tiles."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core import parse
from xla_core.analysis.indexing import Condition, FusionAccesses, IndexExpr, Variable, delinearized
from xla_core.codegen.loop_plan import LoopPlan, Section
from xla_core.hlo import HloInstruction


def plan(root: HloInstruction) -> tuple[LoopPlan, Section]:
    """Plans one nest of loops over the root's elements, whose operands are parameters in memory."""
    dimensions = root.shape.dimensions

    def visit(accesses: FusionAccesses, position: IndexExpr) -> None:
        accesses.visit(root, delinearized(position, dimensions))

    section = Section("kernel", (math.prod(dimensions),), visit)
    assert root.parent is not None
    return LoopPlan([section], root.parent.parameters), section


def extents(text: str) -> list[int]:
    """The extents of the loops over the root of a program's entry."""
    made, section = plan(parse(f"HloModule m\nENTRY main {{\n{text}\n}}").entry.root)
    return [v.extent for v in made.variables(section)]


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("x = f32[6,8] parameter(0)\nROOT y = f32[6,8] negate(x)", [48]),
        ("x = f32[6,8] parameter(0)\nROOT y = f32[48] reshape(x)", [48]),
        ("x = f32[6,8] parameter(0)\nROOT y = f32[8,6] transpose(x), dimensions={1,0}", [8, 6]),
        ("x = f32[8] parameter(0)\nROOT y = f32[6,8] broadcast(x), dimensions={1}", [6, 8]),
        ("x = f32[6,8] parameter(0)\nROOT y = f32[6,5,8] broadcast(x), dimensions={0,2}", [6, 5, 8]),
        # Neighbours stay together: whole rows are moved, and the dimensions before and after a transposed pair.
        ("x = f32[6,8] parameter(0)\nROOT y = f32[3,8] slice(x), slice={[2:5],[0:8]}", [24]),
        ("x = f32[2,3,5,7] parameter(0)\nROOT y = f32[5,7,2,3] transpose(x), dimensions={2,3,0,1}", [35, 6]),
        (
            "x = f32[4,6] parameter(0)\nt = f32[6,4] transpose(x), dimensions={1,0}\nROOT y = f32[2,12] reshape(t)",
            [6, 4],
        ),
    ],
)
def test_loops_are_split_only_where_an_index_would_be_divided(text: str, loops: list[int]) -> None:
    assert extents(text) == loops


def test_the_loops_of_a_reduction_are_split_too() -> None:
    module = parse(
        """HloModule m
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
        ENTRY main {
          x = f32[5,6,7,8] parameter(0)
          zero = f32[] constant(0)
          ROOT y = f32[6] reduce(x, zero), dimensions={0,2,3}, to_apply=add
        }"""
    )
    root = module.entry.root
    made, section = plan(root)
    assert [v.extent for v in made.variables(section)] == [6]
    assert [v.extent for v in made.loops(root, 5 * 7 * 8)] == [5, 56]


def test_a_loop_that_would_stride_through_memory_is_tiled_with_the_one_that_does_not() -> None:
    text = "x = f32[40,50] parameter(0)\nROOT y = f32[50,40] transpose(x), dimensions={1,0}"
    made, section = plan(parse(f"HloModule m\nENTRY main {{\n{text}\n}}").entry.root)
    assert made.across(section) == 0
    text = "x = f32[40,50] parameter(0)\nROOT y = f32[40,50] negate(x)"
    made, section = plan(parse(f"HloModule m\nENTRY main {{\n{text}\n}}").entry.root)
    assert made.across(section) == -1


@settings(deadline=None)
@given(
    st.integers(-40, 40).filter(bool),
    st.integers(-100, 100),
    st.integers(1, 60),
    st.integers(32, 80),
)
def test_cuts_are_where_a_condition_changes(scale: int, offset: int, width: int, extent: int) -> None:
    def visit(accesses: FusionAccesses, position: IndexExpr) -> None:
        accesses.conditions[Condition.of(position * scale + offset, 0, width - 1)] = None

    section = Section("kernel", (extent,), visit)
    (cuts,) = LoopPlan([section], []).cuts(section, [0], 16)
    bounds = [0, *cuts, extent]
    for low, high in itertools.pairwise(bounds):
        answers = {0 <= scale * i + offset < width for i in range(low, high)}
        segment = Variable("segment", high - low, low=low)
        condition = Condition.of(IndexExpr.of(segment) * scale + offset, 0, width - 1)
        if len(answers) == 1:
            assert (condition.is_true, condition.is_false) == (answers == {True}, answers == {False})
        else:  # the answer changes within a step of the condition's own expression, which holds nowhere in between
            assert abs(scale) > 1


def test_short_loops_are_not_cut_and_segments_are_limited() -> None:
    def visit(accesses: FusionAccesses, position: IndexExpr) -> None:
        for limit in range(10, 30, 2):
            accesses.conditions[Condition.of(position, 0, limit)] = None

    short, long = Section("kernel", (31,), visit), Section("kernel", (32,), visit)
    assert LoopPlan([short], []).cuts(short, [0], 16) == ((),)
    assert len(LoopPlan([long], []).cuts(long, [0], 16)[0]) == 10
    assert len(LoopPlan([long], []).cuts(long, [0], 4)[0]) == 3
    assert LoopPlan([long], []).cuts(long, [], 16) == ((),)
