from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.passes.random_graphs import random_arguments, random_graph
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.values.shape import Layout, Shape
from xla_core.hlo.verifier import verify
from xla_core.passes.layout_assignment import LayoutAssignment
from xla_core.target import InstructionLayouts, LayoutRules


def _assign(text: str, rules: LayoutRules | None = None, *, fixed: bool = False) -> HloModule:
    module = parse_hlo(text)
    module.entry_layouts_fixed = fixed
    LayoutAssignment(rules).run(module)
    verify(module)
    return module


def _opcodes(module: HloModule) -> list[str]:
    return [i.opcode for i in module.entry.post_order()]


MOVES = """
HloModule moves
ENTRY e {
  x = f32[4,1,6] parameter(0)
  a = f32[24] reshape(x)
  b = f32[2,12] reshape(a)
  c = f32[12,2] transpose(b), dimensions={1,0}
  d = f32[12,1,2] reshape(c)
  e = f32[1,12,2] transpose(d), dimensions={1,0,2}
  ROOT f = f32[1,12,2] negate(e)
}
"""


def test_what_moves_nothing_becomes_a_bitcast():
    module = _assign(MOVES)
    assert _opcodes(module) == ["parameter", "bitcast", "transpose", "bitcast", "negate"]
    assert all(s.layout is not None and s.layout.is_row_major for i in module.entry.instructions for s in [i.shape])


def test_bitcasts_read_memory_in_its_order():
    x = np.arange(24, dtype=np.float32).reshape(4, 1, 6)
    (expected,) = evaluate(parse_hlo(MOVES), x)
    (found,) = evaluate(_assign(MOVES), x)
    np.testing.assert_array_equal(found, expected)


def test_entry_layouts_that_the_caller_fixed_are_kept():
    text = """
HloModule fixed
ENTRY e {
  x = f32[4,6]{0,1} parameter(0)
  y = f32[4,6]{1,0} parameter(1)
  a = f32[4,6] negate(x)
  b = f32[4,6] abs(a)
  c = f32[24] reshape(b)
  ROOT t = (f32[4,6]{0,1}, f32[24]{0}, f32[4,6]{0,1}) tuple(b, c, y)
}
"""
    module = _assign(text, fixed=True)
    named = {i.name: i for i in module.entry.instructions}
    column = Layout((0, 1))
    assert named["x"].shape.layout == named["a"].shape.layout == named["b"].shape.layout == column
    assert [s.layout for s in module.entry.root.shape.leaves()] == [column, Layout((0,)), column]
    assert sorted(o for o in _opcodes(module) if o == "copy") == ["copy", "copy"]  # for the reshape, and for y
    free = _assign(text)
    assert not [o for o in _opcodes(free) if o == "copy"]
    assert all(s.layout.is_row_major for s in free.entry.root.shape.leaves())


def test_a_target_demands_layouts_of_an_instruction():
    def demand(instruction):
        if instruction.opcode != "dot":
            return None
        return InstructionLayouts(None, (None, Layout((0, 1))))

    module = _assign(
        """
HloModule demanded
ENTRY e {
  x = f32[4,6] parameter(0)
  y = f32[6,5] parameter(1)
  ROOT d = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
""",
        LayoutRules(instruction=demand),
    )
    copy = module.entry.root.operand(1)
    assert (copy.opcode, copy.shape.layout) == ("copy", Layout((0, 1)))


def test_loop_states_are_copied_into_the_default_layout():
    module = _assign(
        """
HloModule loop
cond {
  s = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[4,6] get-tuple-element(s), index=1
  ROOT t = (s32[], f32[4,6]) tuple(i, a)
}
ENTRY e {
  x = f32[4,6]{0,1} parameter(0)
  i = s32[] parameter(1)
  init = (s32[], f32[4,6]) tuple(i, x)
  ROOT w = (s32[], f32[4,6]{0,1}) while(init), condition=cond, body=body
}
""",
        fixed=True,
    )
    assert _opcodes(module).count("copy") == 2


@given(st.randoms(use_true_random=False), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_layouts_keep_the_meaning(rng: random.Random, strange: bool, fixed: bool) -> None:
    def any_layout(shape: Shape) -> Layout:
        order = list(range(shape.rank))
        random.Random(str(shape.dimensions)).shuffle(order)
        return Layout(tuple(order))

    module = random_graph(rng)
    arguments = random_arguments(module, 1)
    for parameter in module.entry.parameters:
        if fixed and parameter.shape.rank == 2:
            parameter.shape = parameter.shape.with_layout(Layout((0, 1)))
    module.entry_layouts_fixed = fixed
    expected = evaluate(module, *arguments)  # with these layouts: a bitcast reads memory in their order
    LayoutAssignment(LayoutRules(default=any_layout) if strange else None).run(module)
    verify(module)
    for found, wanted in zip(evaluate(module, *arguments), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_packed_elements():
    module = _assign(
        "HloModule m\nENTRY e {\n x = s4[7] parameter(0)\n ROOT y = s4[7] add(x, x)\n}\n", LayoutRules(packed=True)
    )
    assert {i.shape.layout.element_size_in_bits for i in module.entry.instructions} == {4}


@pytest.mark.parametrize("seed", range(5))
def test_a_second_run_changes_nothing(seed: int) -> None:
    module = random_graph(random.Random(seed))
    LayoutAssignment().run(module)
    text = module.to_text()
    LayoutAssignment().run(module)
    assert module.to_text() == text
