"""Programs as text, which tests of executables run."""

from __future__ import annotations

SCALE_AND_SUM = """\
HloModule scale_and_sum

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY main {
  x = f32[8,16] parameter(0)
  k = f32[] parameter(1)
  factor = f32[8,16] broadcast(k), dimensions={}
  scaled = f32[8,16] multiply(x, factor)
  zero = f32[] constant(0)
  sums = f32[8] reduce(scaled, zero), dimensions={1}, to_apply=add
  ROOT r = (f32[8,16], f32[8]) tuple(scaled, sums)
}
"""
"""Scales a matrix, and sums its rows."""

COUNT = """\
HloModule long

body {
  s = (s32[], s32[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  y = s32[] add(x, one)
  ROOT r = (s32[], s32[]) tuple(y, n)
}

condition {
  s = (s32[], s32[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] compare(x, n), direction=LT
}

ENTRY e {
  x = s32[] parameter(0)
  n = s32[] parameter(1)
  s = (s32[], s32[]) tuple(x, n)
  loop = (s32[], s32[]) while(s), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(loop), index=0
}
"""
"""Counts from the first argument to the second one, one by one."""

TRIPS = """HloModule trips

condition {{
  s = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=2
  bound = s32[] {bound}
  ROOT more = pred[] compare(i, bound), direction=LT
}}

body {{
  s = (s32[], s32[], s32[]) parameter(0)
  x = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=2
  three = s32[] constant(3)
  one = s32[] constant(1)
  y = s32[] add(x, three)
  j = s32[] add(i, one)
  ROOT r = (s32[], s32[], s32[]) tuple(y, n, j)
}}

ENTRY e {{
  x = s32[] parameter(0)
  n = s32[] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], s32[], s32[]) tuple(x, n, zero)
  loop = (s32[], s32[], s32[]) while(s), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(loop), index=0
}}
"""
"""Adds 3 to the first argument as often as `bound` says. The second argument is for a bound that is not known."""
