"""Programs that several tests compile."""

LOOP = """HloModule loop
condition {
  s = (s32[], f32[100]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[100]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[100] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[100] sine(x)
  ROOT t = (s32[], f32[100]) tuple(j, y)
}
ENTRY main {
  x = f32[100] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[100]) tuple(zero, x)
  w = (s32[], f32[100]) while(t), condition=condition, body=body
  ROOT y = f32[100] get-tuple-element(w), index=1
}"""
