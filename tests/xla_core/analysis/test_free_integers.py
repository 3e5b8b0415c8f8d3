"""Which arguments may be any integers: those that are no indices, shift counts, branches or limits of loops."""

from __future__ import annotations

import pytest

from xla_core.analysis.free_integers import free_integers
from xla_core.hlo import parse_hlo

GIVEN = "x = s32[8] parameter(0)  n = s32[] parameter(1)  f = f32[8] parameter(2)  u = u8[8] parameter(3)"
LOOP = """\
turn { s = (s32[], s32[], s32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  k = s32[] get-tuple-element(s), index=1
  v = s32[8] get-tuple-element(s), index=2  w = s32[8] add(v, v)  one = s32[] constant(1)  j = s32[] add(i, one)
  ROOT r = (s32[], s32[], s32[8]) tuple(j, k, w) }
less { s = (s32[], s32[], s32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  k = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] compare(i, k), direction=LT }
half { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] shift-left(a, b) }
sum { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
same { a = s32[8] parameter(0)  ROOT r = s32[8] negate(a) }
other { a = s32[8] parameter(0)  ROOT r = s32[8] not(a) }
"""


@pytest.mark.parametrize(
    ("root", "free"),
    [
        ("y = s32[8] negate(x)", {0, 1, 3}),
        ("y = s32[4] dynamic-slice(x, n), dynamic_slice_sizes={4}", {0, 3}),
        ("m = s32[] negate(n)  y = s32[4] dynamic-slice(x, m), dynamic_slice_sizes={4}", {0, 3}),
        ("w = s32[8] broadcast(n), dimensions={}  y = s32[8] shift-right-logical(x, w)", {0, 3}),
        ("w = s32[8] broadcast(n), dimensions={}  y = s32[8] shift-right-logical(w, x)", {1, 3}),
        ("y = s32[8] conditional(n, x, x), branch_computations={same, other}", {0, 3}),
        ("y = s32[] reduce(x, n), dimensions={0}, to_apply=sum", {0, 1, 3}),
        ("y = s32[] reduce(x, n), dimensions={0}, to_apply=half", {3}),
        ('y = s32[8] custom-call(x), custom_call_target="f"', {1, 3}),
        ("y = s32[8] rng(n, n), distribution=rng_uniform", {0, 3}),
        ("c = f32[8] convert(x)  y = f32[8] tanh(c)", {1, 3}),
        ("c = f32[8] convert(x)  y = f32[8] negate(c)", {0, 1, 3}),
        ("c = s64[8] convert(x)  y = f32[8] tanh(f)", {0, 1, 3}),
        ("t = (s32[8], s32[]) tuple(x, n)  y = s32[8] get-tuple-element(t), index=0", {0, 1, 3}),
    ],
)
def test_what_an_argument_is_for(root: str, free: set[int]) -> None:
    text = f"HloModule m\n{LOOP}ENTRY e {{ {GIVEN}  {root} }}".replace("  y =", "  ROOT y =").replace("{ y", "{ ROOT y")
    assert free_integers(parse_hlo(text)) == free


def test_the_limit_of_a_loop_is_not_free() -> None:
    loop = """\
  zero = s32[] constant(0)  s = (s32[], s32[], s32[8]) tuple(zero, n, x)
  w = (s32[], s32[], s32[8]) while(s), condition=less, body=turn
  ROOT y = s32[8] get-tuple-element(w), index=2
"""
    assert free_integers(parse_hlo(f"HloModule m\n{LOOP}ENTRY e {{ {GIVEN}\n{loop}}}")) == {0, 3}


def test_tuples_are_flattened_and_tokens_left_out() -> None:
    text = "HloModule m\nENTRY e { p = (s32[2], token[], (f32[], u8[3])) parameter(0)  x = s32[2] parameter(1)"
    assert free_integers(parse_hlo(text + "  ROOT y = s32[2] negate(x) }")) == {0, 2, 3}
