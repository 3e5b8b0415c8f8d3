"""What a fusion computes, and that any other instruction counts as a fusion of itself."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.hlo import HloInstruction, fused_instructions, fused_parameters, fused_roots, parse_hlo

TEXT = """HloModule m
one {
  p = f32[4] parameter(0)
  n = f32[4] negate(p)
  ROOT s = f32[4] add(n, p)
}
two {
  q = f32[4] parameter(0)
  r = f32[4] parameter(1)
  e = f32[4] exponential(r)
  ROOT t = (f32[4], f32[4]) tuple(e, q)
}
ENTRY main {
  a = f32[4] parameter(0)
  f = f32[4] fusion(a), kind=kLoop, calls=one
  g = (f32[4], f32[4]) fusion(f, a), kind=kLoop, calls=two
  x = f32[4] get-tuple-element(g), index=0
  y = f32[4] get-tuple-element(g), index=1
  z = f32[4] multiply(x, y)
  ROOT u = (f32[4], f32[4]) tuple(z, x)
}
"""


def named(name: str) -> HloInstruction:
    return next(i for i in parse_hlo(TEXT).entry.instructions if i.name == name)


def names(instructions: Sequence[HloInstruction]) -> list[str]:
    return [i.name for i in instructions]


def test_a_fusion_of_one_result() -> None:
    fusion = named("f")
    assert names(fused_instructions(fusion)) == ["p", "n", "s"]
    assert names(fused_parameters(fusion)) == ["p"]
    assert names(fused_roots(fusion)) == ["s"]


def test_a_fusion_of_several_results() -> None:
    fusion = named("g")
    assert names(fused_parameters(fusion)) == ["q", "r"]
    assert names(fused_roots(fusion)) == ["e", "q"]


def test_another_instruction_is_inside_itself() -> None:
    for name in ("z", "u"):  # a tuple has several parts, but is one instruction
        instruction = named(name)
        assert fused_instructions(instruction) == [instruction]
        assert fused_parameters(instruction) == instruction.operands
        assert fused_roots(instruction) == [instruction]
