"""The family of programs that the suite runs executables of."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.family_program import FamilyProgram
from xla_conformance.programs.composed import composed_programs
from xla_conformance.programs.family import FAMILY

from xla_core.hlo import verify

COMPOSED = [FamilyProgram(name, text) for name, text in composed_programs().items()]


@pytest.mark.parametrize("program", COMPOSED, ids=str)
def test_a_composed_program_is_valid(program: FamilyProgram) -> None:
    verify(program.module)
    results = program.results(program.arguments(np.random.default_rng(0)))
    floats = [r.astype(np.float64) for r in results if r.dtype.name in ("float32", "bfloat16")]
    assert all(np.abs(r).max(initial=0) < 256 for r in floats), "every type holds these numbers exactly"


def test_composed_programs_have_what_executables_may_have() -> None:
    modules = [program.module for program in COMPOSED]
    parameters = [len(module.parameter_shapes) for module in modules]
    assert min(parameters) == 0
    assert max(parameters) > 32
    assert max(len(module.input_output_aliases) for module in modules) > 32
    assert any(module.buffer_donors for module in modules)
    constants = [i for m in modules for c in m.computations for i in c.instructions if i.opcode == "constant"]
    assert max(i.shape.num_elements for i in constants) > 65536
    assert max(leaf.byte_size for module in modules for leaf in module.result_shape.leaves()) > 1 << 18


def test_composed_programs_have_each_kind_of_control_flow() -> None:
    """Also in a called computation, with a branch's index beyond the branches, and with arrays that are exchanged."""
    kinds = set()
    for module in (program.module for program in COMPOSED):
        for computation in module.computations:
            for i in computation.instructions:
                if i.opcode in ("while", "conditional"):
                    is_clamped = any(o.opcode == "clamp" for o in computation.instructions)
                    parts = len(i.shape.tuple_shapes) if i.shape.is_tuple else 1
                    kinds.add((i.opcode, computation is module.entry, is_clamped, parts))
    for flow, sizes in (("while", {3, 5}), ("conditional", {1, 2})):
        found = [kind for kind in kinds if kind[0] == flow]
        assert {in_entry for _, in_entry, _, _ in found} == {True, False}
        assert {is_clamped for _, _, is_clamped, _ in found} == {True, False}
        assert {parts for *_, parts in found} == sizes


def test_programs_have_names_of_their_own() -> None:
    assert len({program.name for program in FAMILY}) == len(FAMILY)


def test_loops_over_large_arrays_alone_may_take_long() -> None:
    text = """HloModule m
condition {
  s = (s32[], u8[$N]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], u8[$N]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = u8[$N] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = u8[$N] negate(x)
  ROOT t = (s32[], u8[$N]) tuple(j, y)
}
ENTRY e {
  x = u8[$N] parameter(0)
  zero = s32[] constant(0)
  before = (s32[], u8[$N]) tuple(zero, x)
  after = (s32[], u8[$N]) while(before), condition=condition, body=body
  ROOT r = u8[$N] get-tuple-element(after), index=1
}
"""
    assert [FamilyProgram("loop", text.replace("$N", str(n))).has_long_loop for n in (4099, 70001)] == [False, True]
    without = "HloModule m\nENTRY e {\n  x = u8[70001] parameter(0)\n  ROOT y = u8[70001] negate(x)\n}\n"
    assert not FamilyProgram("negate", without).has_long_loop
