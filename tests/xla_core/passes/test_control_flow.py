"""While loops and conditionals: simplification, invariant motion, constant sinking, trip counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core.errors import DeadlineExceededError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parser import parse_hlo
from xla_core.passes import create_pass
from xla_core.passes.while_loop_analysis import induction, trip_count
from xla_core.passes.while_util import Loop


def loop(start=0, step=1, bound=5, direction="LT", kind="s32", extra_body="", extra_entry="", swap=False):
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
      {extra_entry}
      t = ({kind}[], f32[3], f32[3]) tuple(z, x, {"v" if extra_entry else "y"})
      ROOT w = ({kind}[], f32[3], f32[3]) while(t), condition=cond, body=body }}"""


def the_loop(module):
    return next(i for i in module.entry.instructions if i.opcode == "while")


def reading(text):
    """The same program with elements 1 and 2 of the loop as its results."""
    return text.replace(
        "ROOT w = ", "w = "
    ).rstrip()[:-1] + "\n a1 = f32[3] get-tuple-element(w), index=1\n c1 = f32[3] get-tuple-element(w), index=2\n ROOT out = (f32[3], f32[3]) tuple(a1, c1) }"  # fmt: skip


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


def test_a_loop_that_never_runs_is_its_initial_state(check_pass, opcodes):
    module = check_pass(loop(bound=0), "while-loop-simplifier")
    assert opcodes(module) == ["constant", "tuple"]


def test_a_loop_that_runs_once_is_its_body(check_pass, opcodes):
    module = check_pass(loop(bound=1), "while-loop-simplifier")
    assert "while" not in opcodes(module)
    assert len(module.computations) == 1


def test_unchanged_elements_are_taken_from_the_start(check_pass):
    module = check_pass(reading(loop()), "while-loop-simplifier")
    assert module.entry.root.operands[1].opcode == "parameter"


def test_the_same_element_twice_is_carried_once(check_pass):
    text = reading(loop(extra_body="b0 = f32[3] add(a, c)\n b = f32[3] multiply(b0, d)"))
    text = text.replace("(s32[], f32[3], f32[3])", "(s32[], f32[3], f32[3], f32[3])").replace(
        "tuple(j, b, c)", "tuple(j, b, c, d)"
    )
    text = text.replace(
        "c = f32[3] get-tuple-element(s), index=2",
        "c = f32[3] get-tuple-element(s), index=2\n d = f32[3] get-tuple-element(s), index=3",
    )
    text = text.replace("tuple(z, x, y)", "tuple(z, x, y, y)")
    module = check_pass(text, "while-loop-simplifier")
    assert str(the_loop(module).shape) == "(s32[], f32[3], f32[3])"


def test_invariant_work_moves_out(check_pass, opcodes):
    text = reading(loop(extra_body="e = f32[3] exponential(c)\n f = f32[3] negate(e)\n b = f32[3] add(a, f)"))
    module = check_pass(text, "while-loop-invariant-code-motion")
    assert {"exponential", "negate"} <= set(opcodes(module))
    body = the_loop(module).attributes["body"]
    assert "negate" not in opcodes(module, body)


def test_collectives_within_calls_stay(check_pass):
    reduced = """HloModule m
sum { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
reduced { p = f32[3] parameter(0)
 e = f32[3] exponential(p)
 ROOT r = f32[3] all-reduce(e), replica_groups={}, to_apply=sum }
"""
    text = reading(loop(extra_body="e = f32[3] call(c), to_apply=reduced\n b = f32[3] add(a, e)"))
    text = text.removeprefix("HloModule m\n")
    check_pass(reduced + text, "while-loop-invariant-code-motion", changes=False)
    moved = reduced.replace("all-reduce(e), replica_groups={}, to_apply=sum", "negate(e)") + text
    check_pass(moved, "while-loop-invariant-code-motion")


def test_cheap_and_variant_work_stays(check_pass):
    text = reading(
        loop(
            extra_body="e = f32[1,3] reshape(c)\n f = f32[3] reshape(e)\n g = f32[3] exponential(a)\n b = f32[3] add(g, f)"
        )
    )
    check_pass(text, "while-loop-invariant-code-motion", changes=False)


def test_invariant_work_leaves_nested_loops_one_by_one(check_pass, opcodes):
    text = """HloModule m
    ib { s = (s32[], f32[3], f32[3]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      a = f32[3] get-tuple-element(s), index=1
      c = f32[3] get-tuple-element(s), index=2
      one = s32[] constant(1)
      j = s32[] add(i, one)
      e = f32[3] exponential(c)
      b = f32[3] add(a, e)
      ROOT t = (s32[], f32[3], f32[3]) tuple(j, b, c) }
    ic { s = (s32[], f32[3], f32[3]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(3)
      ROOT r = pred[] compare(i, n), direction=LT }
    ob { s = (s32[], f32[3], f32[3]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      a = f32[3] get-tuple-element(s), index=1
      c = f32[3] get-tuple-element(s), index=2
      one = s32[] constant(1)
      zero = s32[] constant(0)
      j = s32[] add(i, one)
      u = (s32[], f32[3], f32[3]) tuple(zero, a, c)
      w = (s32[], f32[3], f32[3]) while(u), condition=ic, body=ib
      b = f32[3] get-tuple-element(w), index=1
      ROOT t = (s32[], f32[3], f32[3]) tuple(j, b, c) }
    oc { s = (s32[], f32[3], f32[3]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(2)
      ROOT r = pred[] compare(i, n), direction=LT }
    ENTRY e { x = f32[3] parameter(0)
      y = f32[3] parameter(1)
      z = s32[] constant(0)
      t = (s32[], f32[3], f32[3]) tuple(z, x, y)
      w = (s32[], f32[3], f32[3]) while(t), condition=oc, body=ob
      ROOT r = f32[3] get-tuple-element(w), index=1 }"""
    module = check_pass(text, "while-loop-invariant-code-motion")
    assert "exponential" in opcodes(module)


def test_constants_sink_into_loops(check_pass):
    text = reading(loop(extra_entry="v = f32[3] constant({1,2,3})"))
    module = check_pass(text, "while-loop-constant-sinking")
    assert str(the_loop(module).shape) == "(s32[], f32[3])"
    assert "constant" in [i.opcode for i in the_loop(module).attributes["body"].instructions]


def test_a_body_that_two_loops_share_is_not_changed_for_the_other(check_pass):
    text = (
        loop().replace("ROOT w =", "w =").rstrip()[:-1]
        + """
      v = f32[3] constant({7,8,9})
      t2 = (s32[], f32[3], f32[3]) tuple(z, x, v)
      w2 = (s32[], f32[3], f32[3]) while(t2), condition=cond, body=body
      a1 = f32[3] get-tuple-element(w), index=1
      a2 = f32[3] get-tuple-element(w2), index=1
      ROOT out = (f32[3], f32[3]) tuple(a1, a2) }"""
    )
    check_pass(text, "while-loop-constant-sinking")


# -- conditionals ----------------------------------------------------------------------------------------------------

BRANCHES = """
yes { p = f32[3] parameter(0)
  n = f32[3] negate(p)
  e = f32[3] exponential(p)
  ROOT t = (f32[3], f32[3]) tuple(n, e) }
no { p = f32[3] parameter(0)
  n = f32[3] abs(p)
  e = f32[3] cosine(p)
  ROOT t = (f32[3], f32[3]) tuple(n, e) }
"""


def test_a_known_branch_is_taken(check_pass, opcodes):
    text = (
        BRANCHES
        + """ENTRY e { x = f32[3] parameter(0)
      p = pred[] constant(false)
      ROOT c = (f32[3], f32[3]) conditional(p, x, x), true_computation=yes, false_computation=no }"""
    )
    assert sorted(opcodes(check_pass(text, "conditional-simplifier"))) == sorted(["constant", "abs", "cosine", "tuple"])


@pytest.mark.parametrize(("index", "opcode"), [(0, "negate"), (1, "abs"), (-1, "abs"), (7, "abs")])
def test_a_known_index_out_of_range_takes_the_last(check_pass, opcodes, index, opcode):
    text = (
        BRANCHES
        + f"""ENTRY e {{ x = f32[3] parameter(0)
      p = s32[] constant({index})
      ROOT c = (f32[3], f32[3]) conditional(p, x, x), branch_computations={{yes, no}} }}"""
    )
    assert opcode in opcodes(check_pass(text, "conditional-simplifier"))


def test_results_that_nobody_uses_are_not_returned(check_pass):
    text = (
        BRANCHES
        + """ENTRY e { x = f32[3] parameter(0)
      p = pred[] parameter(1)
      c = (f32[3], f32[3]) conditional(p, x, x), true_computation=yes, false_computation=no
      ROOT r = f32[3] get-tuple-element(c), index=1 }"""
    )
    module = check_pass(text, "conditional-simplifier")
    conditional = next(i for i in module.entry.instructions if i.opcode == "conditional")
    assert str(conditional.shape) == "(f32[3])"


def test_scalar_branches_become_a_select(check_pass, opcodes):
    text = """yes { p = f32[] parameter(0)
      ROOT n = f32[] negate(p) }
    no { p = (f32[], f32[]) parameter(0)
      a = f32[] get-tuple-element(p), index=0
      b = f32[] get-tuple-element(p), index=1
      ROOT n = f32[] multiply(a, b) }
    ENTRY e { x = f32[] parameter(0)
      p = pred[] parameter(1)
      t = (f32[], f32[]) tuple(x, x)
      ROOT c = f32[] conditional(p, x, t), true_computation=yes, false_computation=no }"""
    assert "select" in opcodes(check_pass(text, "conditional-simplifier"))


def test_effects_keep_a_conditional(opcodes):
    module = parse_hlo("""HloModule m
    yes { p = (f32[], token[]) parameter(0)
      a = f32[] get-tuple-element(p), index=0
      k = token[] get-tuple-element(p), index=1
      ROOT o = token[] outfeed(a, k) }
    no { p = (f32[], token[]) parameter(0)
      ROOT k = token[] get-tuple-element(p), index=1 }
    ENTRY e { x = f32[] parameter(0)
      p = pred[] parameter(1)
      k = token[] after-all()
      t = (f32[], token[]) tuple(x, k)
      ROOT c = token[] conditional(p, t, t), true_computation=yes, false_computation=no }""")
    assert not create_pass("conditional-simplifier").run(module)
