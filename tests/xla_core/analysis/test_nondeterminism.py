"""Which results depend on random numbers."""

from __future__ import annotations

import pytest

from xla_core.analysis.nondeterminism import Nondeterminism, find_free_signs, find_inexact, find_nondeterminism
from xla_core.hlo import parse_hlo

DRAW = "a = f32[] parameter({})  b = f32[] constant(1)  r = f32[4] rng(a, b), distribution=rng_uniform"


def found(text: str) -> Nondeterminism:
    return find_nondeterminism(parse_hlo("HloModule m\n" + text))


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("x = f32[4] negate(r)", (True,)),
        ("x = f32[4] broadcast(a), dimensions={}", (False,)),
        ("x = (f32[4], f32[]) tuple(r, a)", (True, False)),
        ("t = (f32[], f32[4]) tuple(b, r)  x = f32[] get-tuple-element(t), index=0", (False,)),
        ("t = (f32[], f32[4]) tuple(b, r)  x = f32[4] get-tuple-element(t), index=1", (True,)),
        ("t = (f32[], f32[4]) tuple(b, r)  x = (f32[], f32[4]) opt-barrier(t)", (False, True)),
        ("k = token[] after-all()  x = (f32[], token[], f32[4]) tuple(b, k, r)", (False, True)),
    ],
)
def test_through_an_entry(root: str, expected: tuple[bool, ...]) -> None:
    text = f"ENTRY e {{ {DRAW.format(0)}  {root} }}".replace("  x =", "  ROOT x =")
    assert found(text).results == expected


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("y = f32[2] add(x, x)", (False,)),
        ("y = f32[2] tanh(x)", (True,)),
        ("t = f32[2] tanh(x)  y = pred[2] compare(t, x), direction=LT", (True,)),
        ("y = f32[] reduce(x, z), dimensions={0}, to_apply=sum", (True,)),
        ("y = f32[2] map(x), dimensions={0}, to_apply=swing", (True,)),
        ("y = f32[2] call(x), to_apply=twice", (False,)),
        ("t = f32[2] tanh(x)  c = f32[2] call(x), to_apply=twice  y = (f32[2], f32[2]) tuple(t, c)", (True, False)),
        ('y = f32[2] custom-call(x), custom_call_target="f"', (True,)),
        ("c = c64[2] complex(x, x)  y = c64[2] multiply(c, c)", (True,)),
        ("c = c64[2] complex(x, x)  y = c64[2] reverse(c), dimensions={0}", (False,)),
        ("y = f32[1] dynamic-slice(x, n), dynamic_slice_sizes={1}", (False,)),
    ],
)
def test_what_every_correct_device_computes_alike(root: str, expected: tuple[bool, ...]) -> None:
    computations = (
        "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
        "swing { a = f32[] parameter(0)  ROOT c = f32[] sine(a) }\n"
        "twice { a = f32[2] parameter(0)  ROOT c = f32[2] multiply(a, a) }\n"
    )
    given = "x = f32[2] parameter(0)  z = f32[] constant(0)  n = s32[] constant(1)"
    text = f"HloModule m\n{computations}ENTRY e {{ {given}  {root} }}".replace("  y =", "  ROOT y =")
    assert find_inexact(parse_hlo(text)).results == expected


def test_the_same_bits_everywhere_are_no_draw() -> None:
    text = "ENTRY e { s = u64[2] parameter(0)  ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_philox }"
    assert found(text).results == (False, False)
    assert found("ENTRY e { ROOT s = u64[2] rng-get-and-update-state(), delta=1 }").results == (True,)


def test_calls_are_followed_with_their_arguments() -> None:
    text = f"""
draw {{ {DRAW.format(0)}  ROOT t = (f32[4], f32[]) tuple(r, a) }}
same {{ p = f32[4] parameter(0)  q = f32[] parameter(1)  ROOT t = (f32[4], f32[]) tuple(p, q) }}
ENTRY e {{
  x = f32[] parameter(0)
  d = (f32[4], f32[]) call(x), to_apply=draw
  r = f32[4] get-tuple-element(d), index=0
  a = f32[] get-tuple-element(d), index=1
  y = f32[4] parameter(1)
  one = (f32[4], f32[]) call(y, a), to_apply=same
  two = (f32[4], f32[]) call(r, a), to_apply=same
  ROOT t = ((f32[4], f32[]), (f32[4], f32[])) tuple(one, two)
}}"""
    assert found(text).results == (False, False, True, False)


def test_loops_carry_it_from_element_to_element() -> None:
    text = """
body {
  p = (s32[], f32[4], f32[4], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  n = s32[] add(i, one)
  x = f32[4] get-tuple-element(p), index=1
  a = f32[] get-tuple-element(p), index=3
  b = f32[] constant(1)
  r = f32[4] rng(a, b), distribution=rng_uniform
  ROOT t = (s32[], f32[4], f32[4], f32[]) tuple(n, r, x, a)
}
condition {
  p = (s32[], f32[4], f32[4], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  k = s32[] constant(3)
  ROOT c = pred[] compare(i, k), direction=LT
}
ENTRY e {
  p = (s32[], f32[4], f32[4], f32[]) parameter(0)
  ROOT w = (s32[], f32[4], f32[4], f32[]) while(p), condition=condition, body=body
}"""
    assert found(text).results == (False, True, True, False)


def test_a_branch_that_a_draw_chooses() -> None:
    text = f"""
left {{ p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }}
right {{ ROOT p = f32[4] parameter(0) }}
ENTRY e {{
  {DRAW.format(0)}
  x = f32[4] parameter(1)
  p = pred[] parameter(2)
  d = f32[] reduce(r, b), dimensions={{0}}, to_apply=sum
  q = pred[] compare(d, b), direction=LT
  one = f32[4] conditional(p, x, x), true_computation=left, false_computation=right
  two = f32[4] conditional(q, x, x), true_computation=left, false_computation=right
  three = f32[4] conditional(p, x, r), true_computation=left, false_computation=right
  ROOT t = (f32[4], f32[4], f32[4]) tuple(one, two, three)
}}"""
    summed = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
    assert found(summed + text).results == (False, True, True)


def test_what_is_written_to_the_outfeed() -> None:
    text = "ENTRY e {{ {}  k = token[] after-all()  ROOT o = token[] outfeed({}, k) }}"
    assert found(text.format(DRAW.format(0), "r")) == Nondeterminism((), True)
    assert found(text.format(DRAW.format(0), "a")) == Nondeterminism((), False)


def test_signs_of_eigenvectors_are_followed_in_the_same_way() -> None:
    text = """HloModule m
f { a = f32[3,3] parameter(0)  ROOT r = (f32[3,3], f32[3]) custom-call(a), custom_call_target="Eigh" }
g { a = f32[3,3] parameter(0)  ROOT r = (f32[3,3], f32[3]) custom-call(a), custom_call_target="Qr" }
ENTRY e {
  a = f32[3,3] parameter(0)
  f = (f32[3,3], f32[3]) call(a), to_apply=f
  g = (f32[3,3], f32[3]) call(a), to_apply=g
  v = f32[3,3] get-tuple-element(f), index=0
  q = f32[3,3] get-tuple-element(g), index=0
  ROOT t = (f32[3,3], f32[3,3], f32[3,3]) tuple(v, q, a)
}
"""
    assert find_free_signs(parse_hlo(text)).results == (True, False, False)
    assert find_nondeterminism(parse_hlo(text)).results == (False, False, False)
