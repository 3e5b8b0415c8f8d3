from __future__ import annotations

import pytest

from xla_core.analysis import HloCostAnalysis, known_trip_count
from xla_core.hlo import OPS
from xla_core.hlo.parsing.parser import parse_hlo

LOOP = """
HloModule loop
cond {
  s = (s32[], f32[10,10], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[10,10], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(STEP)
  next = s32[] add(i, one)
  a = f32[10,10] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  b = f32[10,10] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[10,10], s32[]) tuple(next, b, n)
}
ENTRY e {
  x = f32[10,10] parameter(0)
  zero = s32[] constant(0)
  seven = s32[] constant(7)
  init = (s32[], f32[10,10], s32[]) tuple(zero, x, seven)
  ROOT w = (s32[], f32[10,10], s32[]) while(init), condition=cond, body=body
}
"""


@pytest.mark.parametrize(("step", "trips"), [(1, 7), (2, 4), (7, 1), (-1, None)])
def test_trip_counts(step: int, trips: int | None) -> None:
    module = parse_hlo(LOOP.replace("STEP", str(step)))
    assert known_trip_count(module.entry.root) == trips


def test_a_trip_count_that_xla_wrote_is_known_and_costs() -> None:
    unknown = LOOP.replace("STEP", "-1")
    once = HloCostAnalysis(parse_hlo(unknown)).module().flops
    wrote = parse_hlo(unknown.replace("body=body", """body=body, backend_config={"known_trip_count":{"n":"10"}}"""))
    assert known_trip_count(wrote.entry.root) == 10
    assert HloCostAnalysis(wrote).module().flops == pytest.approx(
        10 * once, rel=1e-3
    )  # the condition runs once more than the body


def test_a_loop_costs_its_body_times_its_trips():
    module = parse_hlo(LOOP.replace("STEP", "1"))
    analysis = HloCostAnalysis(module)
    cost = analysis.module()
    assert cost.flops == 7 * (2 * 1000 + 1) + 8


def test_elementwise_reduce_and_transcendentals():
    module = parse_hlo("""
HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[8,16] parameter(0)
  y = f32[8,16] exponential(x)
  z = f32[8,16] multiply(y, x)
  zero = f32[] constant(0)
  r = f32[8] reduce(z, zero), dimensions={1}, to_apply=add
  i = s32[] constant(0)
  s = f32[1] dynamic-slice(r, i), dynamic_slice_sizes={1}
  ROOT d = f32[8] dynamic-update-slice(r, s, i)
}
""")
    cost = HloCostAnalysis(module).module()
    assert (cost.flops, cost.transcendentals) == (128 + 120, 128)
    assert cost.transcendental_flops == 128 * OPS["exponential"].cost
    assert cost.bytes_accessed == 2 * 512 + 3 * 512 + (512 + 4 + 32) + (4 + 4 + 4) + 8


def test_a_fusion_reads_its_operands_once():
    module = parse_hlo("""
HloModule m
f {
  p = f32[100] parameter(0)
  q = f32[1000] parameter(1)
  s = f32[100] slice(q), slice={[0:100]}
  a = f32[100] add(p, s)
  ROOT b = f32[100] tanh(a)
}
ENTRY e {
  x = f32[100] parameter(0)
  y = f32[1000] parameter(1)
  ROOT z = f32[100] fusion(x, y), kind=kLoop, calls=f
}
""")
    cost = HloCostAnalysis(module).module()
    assert (cost.flops, cost.transcendentals, cost.bytes_accessed) == (100, 100, 1200)
