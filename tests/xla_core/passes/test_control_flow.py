"""Trip counts of while loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core.analysis.while_loop import Loop, induction, trip_count
from xla_core.errors import DeadlineExceededError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parsing.parser import parse_hlo


def loop(start=0, step=1, bound=5, direction="LT", kind="s32", extra_body="", swap=False):
    """A loop that counts i and doubles a; c is carried unchanged."""
    compare = "n, i" if swap else "i, n"
    return f"""HloModule m
    body {{ s = ({kind}[], f32[3], f32[3]) parameter(0)
      i = {kind}[] get-tuple-element(s), index=0
      a = f32[3] get-tuple-element(s), index=1
      c = f32[3] get-tuple-element(s), index=2
      k = {kind}[] constant({step})
      j = {kind}[] add(i, k)
      {extra_body or "b = f32[3] add(a, c)"}
      ROOT t = ({kind}[], f32[3], f32[3]) tuple(j, b, c) }}
    cond {{ s = ({kind}[], f32[3], f32[3]) parameter(0)
      i = {kind}[] get-tuple-element(s), index=0
      n = {kind}[] constant({bound})
      ROOT r = pred[] compare({compare}), direction={direction} }}
    ENTRY e {{ x = f32[3] parameter(0)
      y = f32[3] parameter(1)
      z = {kind}[] constant({start})
      t = ({kind}[], f32[3], f32[3]) tuple(z, x, y)
      ROOT w = ({kind}[], f32[3], f32[3]) while(t), condition=cond, body=body }}"""


def the_loop(module):
    return next(i for i in module.entry.instructions if i.opcode == "while")


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({}, 5),
        ({"start": 2, "step": 2, "bound": 7}, 3),
        ({"bound": 0}, 0),
        ({"direction": "LE"}, 6),
        ({"start": 9, "step": -2, "bound": 1, "direction": "GT"}, 4),
        ({"start": 9, "step": -2, "bound": 1, "direction": "GE"}, 5),
        ({"bound": 6, "step": 2, "direction": "NE"}, 3),
        ({"bound": 5, "step": 2, "direction": "NE"}, None),
        ({"bound": 0, "direction": "EQ"}, 1),
        ({"step": 0}, None),
        ({"step": -1}, None),
        ({"bound": 5, "direction": "GT", "swap": True}, 5),
        ({"kind": "u8", "step": 100, "bound": 250}, None),
        ({"kind": "s8", "bound": 127, "direction": "LE"}, None),
    ],
)
def test_trip_count(arguments, count):
    found = Loop.of(the_loop(parse_hlo(loop(**arguments))))
    assert found is not None
    assert trip_count(found) == count


@settings(max_examples=150, deadline=None)
@given(
    start=st.integers(-128, 127),
    step=st.integers(-128, 127),
    bound=st.integers(-128, 127),
    direction=st.sampled_from(["LT", "LE", "GT", "GE", "NE", "EQ"]),
)
def test_trip_count_is_what_the_evaluator_counts(start, step, bound, direction):
    module = parse_hlo(loop(start, step, bound, direction, "s8", "o = f32[3] constant({1,1,1})\nb = f32[3] add(a, o)"))
    found = Loop.of(the_loop(module))
    assert found is not None
    count = trip_count(found)
    zeros = np.zeros(3, np.float32)
    try:
        _, turns, _ = evaluate(module, zeros, zeros, max_steps=8000)
    except DeadlineExceededError:
        assert count is None
        return
    assert count is None or count == turns[0]


def test_a_bound_in_the_state():
    text = loop().replace("n = s32[] constant(5)", "n = s32[] get-tuple-element(s), index=3")
    text = text.replace("(s32[], f32[3], f32[3])", "(s32[], f32[3], f32[3], s32[])")
    text = text.replace("tuple(j, b, c)", "tuple(j, b, c, q)").replace("b = f32[3] add(a, c)", "b = f32[3] add(a, c)\n q = s32[] get-tuple-element(s), index=3")  # fmt: skip
    text = text.replace("tuple(z, x, y)", "tuple(z, x, y, u)").replace("z = s32[] constant(0)", "z = s32[] constant(0)\n u = s32[] constant(7)")  # fmt: skip
    found = Loop.of(the_loop(parse_hlo(text)))
    assert found is not None
    assert trip_count(found) == 7
    assert induction(found).index == 0
