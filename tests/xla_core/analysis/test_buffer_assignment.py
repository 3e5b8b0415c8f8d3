from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.analysis.buffer_checker import check_buffer_assignment
from tests.xla_core.analysis.symbolic import ModuleMaker, run_functionally, run_in_memory
from xla_core.analysis import AllocationKind, assign_buffers
from xla_core.errors import FailedPreconditionError, InternalError
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes.scheduling.copy_insertion import insert_copies
from xla_core.passes.scheduling.hlo_memory_scheduler import schedule_module


def _plan(module: HloModule, seed: int) -> None:
    """Schedules, inserts copies, assigns buffers; then checks that memory holds at every moment what it must."""
    schedule_module(module)
    rng = random.Random(seed)
    arguments = [[rng.randrange(1, 1 << 30) for _ in p.shape.leaves()] for p in module.entry.parameters]
    expected = [run_functionally(module, arguments, s) for s in range(seed, seed + 4)]
    insert_copies(module)
    assert [run_functionally(module, arguments, s) for s in range(seed, seed + 4)] == expected
    assignment = assign_buffers(module)
    check_buffer_assignment(assignment)
    assert assignment.peak_live_bytes <= assignment.temp_bytes
    assert [run_in_memory(assignment, arguments, s) for s in range(seed, seed + 4)] == expected


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_no_value_is_overwritten_while_it_is_needed(rng: random.Random) -> None:
    _plan(ModuleMaker(rng).make(), 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300))
def test_no_value_is_overwritten_in_large_modules(seed: int) -> None:
    _plan(ModuleMaker(random.Random(seed), 20).make(), seed)


CHAIN = """
HloModule chain
ENTRY e {
  x = f32[1000] parameter(0)
  a = f32[1000] exponential(x)
  b = f32[1000] negate(a)
  c = f32[1000] sine(b)
  d = f32[1000] reverse(c), dimensions={0}
  e = f32[1000] cosine(d)
  ROOT f = f32[1000] negate(e)
}
"""


def _assign(text: str):
    module = parse_hlo(text)
    schedule_module(module)
    insert_copies(module)
    assignment = assign_buffers(module)
    check_buffer_assignment(assignment)
    return assignment, {i.name: i for c in module.computations for i in c.instructions}


def test_an_elementwise_chain_takes_one_buffer():
    assignment, named = _assign(CHAIN)
    assert assignment.slice(named["a"]) == assignment.slice(named["c"])
    # reverse cannot be done in place: its result, and what follows, is in the output's memory
    assert assignment.slice(named["d"]) == assignment.slice(named["f"])
    assert assignment.slice(named["f"]).allocation.kind is AllocationKind.OUTPUT
    assert assignment.temp_bytes == 4032
    assert assignment.temp_bytes_without_reuse == 5 * 4032
    assert assignment.peak_live_bytes == 4032


def test_parameters_and_results_are_never_temporaries():
    assignment, named = _assign(CHAIN)
    kinds = [a.kind for a in assignment.allocations]
    assert kinds == [AllocationKind.PARAMETER, AllocationKind.OUTPUT, AllocationKind.TEMP]
    assert assignment.slice(assignment.module.entry.parameters[0]).allocation.parameter == (0, ())
    assert assignment.slice(assignment.module.entry.root) == assignment.slice(named["f"])


def test_the_report_names_allocations_and_values():
    assignment, _ = _assign(CHAIN)
    text = assignment.to_text()
    assert "allocation 0: size 4000, entry parameter 0" in text
    assert "value d (instruction) offset 0 size 4000" in text
    assert "Total bytes of temporaries: 4032" in text


LOOP = """
HloModule loop
cond {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  a = f32[8,8] get-tuple-element(s), index=1
  row = f32[1,8] dynamic-slice(a, i, zero), dynamic_slice_sizes={1,8}
  twice = f32[1,8] add(row, row)
  update = f32[8,8] dynamic-update-slice(a, twice, i, zero)
  ROOT t = (s32[], f32[8,8]) tuple(next, update)
}
ENTRY e {
  x = f32[8,8] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[8,8]) tuple(zero, x)
  loop = (s32[], f32[8,8]) while(init), condition=cond, body=body
  ROOT r = f32[8,8] get-tuple-element(loop), index=1
}
"""


def test_a_loop_updates_its_state_in_place():
    assignment, named = _assign(LOOP)
    update = named["update"]
    assert assignment.slice(update) == assignment.slice(update.operand(0))
    assert assignment.slice(named["loop"], (1,)) == assignment.slice(update)
    assert assignment.slice(update).allocation.kind is AllocationKind.OUTPUT
    copies = [i for i in named.values() if i.opcode == "copy"]
    assert sorted(str(c.shape.element_type) for c in copies) == ["f32", "s32"]  # of the constant and the argument
    assert all(c.parent is assignment.module.entry for c in copies)


def test_a_donated_argument_is_updated_in_place_without_a_copy():
    assignment, named = _assign(LOOP.replace("loop\n", "loop, input_output_alias={ {}: (0, {}, may-alias) }\n", 1))
    assert (
        assignment.slice(named["x"])
        == assignment.slice(named["update"])
        == assignment.slice(assignment.module.entry.root)
    )
    assert assignment.slice(assignment.module.entry.root).allocation.parameter == (0, ())
    assert assignment.slice(assignment.module.entry.root).allocation.output == ()
    assert [str(i.shape.element_type) for i in named.values() if i.opcode == "copy"] == ["s32"]


def test_values_without_copies_are_refused():
    module = parse_hlo(LOOP)
    schedule_module(module)
    with pytest.raises(FailedPreconditionError, match="copy_insertion"):
        assign_buffers(module)


def test_the_checker_finds_an_overlap():
    assignment, named = _assign(CHAIN)
    reverse = assignment.analysis.value(named["d"])
    assignment.slices[reverse] = assignment.slice(named["c"])
    with pytest.raises(InternalError):
        check_buffer_assignment(assignment)


def test_memory_spaces_have_arenas_of_their_own():
    text = CHAIN.replace("a = f32[1000]", "a = f32[1000]{0:S(1)}").replace("negate(a)", "reverse(a), dimensions={0}")
    assignment, named = _assign(text)
    assert assignment.slice(named["a"]).allocation.memory_space == 1
    assert assignment.slice(named["c"]).allocation.memory_space == 0


def test_branches_and_result_share_and_branches_overlap_each_other():
    assignment, named = _assign("""
HloModule branches
left {
  p = f32[100] parameter(0)
  a = f32[100] reverse(p), dimensions={0}
  ROOT b = f32[100] reverse(a), dimensions={0}
}
right {
  q = f32[100] parameter(0)
  ROOT c = f32[100] negate(q)
}
ENTRY e {
  x = f32[100] parameter(0)
  which = pred[] parameter(1)
  y = f32[100] sine(x)
  z = f32[100] conditional(which, y, y), true_computation=left, false_computation=right
  ROOT r = f32[100] reverse(z), dimensions={0}
}
""")
    z = assignment.slice(named["z"])
    assert z == assignment.slice(named["b"]) == assignment.slice(named["c"])
    assert assignment.temp_bytes <= 3 * 448


def test_the_identity_branch_of_an_update_needs_no_copy():
    text = """
HloModule identity
same {
  p = f32[100] parameter(0)
  ROOT r = f32[100] opt-barrier(p)
}
changed {
  p = f32[100] parameter(0)
  v = f32[1] constant({1})
  i = s32[] constant(3)
  ROOT u = f32[100] dynamic-update-slice(p, v, i)
}
ENTRY e {
  x = f32[100] parameter(0)
  which = pred[] parameter(1)
  y = f32[100] sine(x)
  z = f32[100] conditional(which, y, y), true_computation=TRUE, false_computation=FALSE
  ROOT r = f32[100] reverse(z), dimensions={0}
}
"""
    for first, second in (("same", "changed"), ("changed", "same")):
        assignment, named = _assign(text.replace("TRUE", first).replace("FALSE", second))
        assert not [i for i in named.values() if i.opcode == "copy"]
        assert assignment.slice(named["u"]) == assignment.slice(named["y"]) == assignment.slice(named["z"])


def test_a_swap_in_a_loop_takes_three_copies():
    text = LOOP.replace("f32[8,8]", "f32[8]").replace("(s32[], f32[8])", "(s32[], f32[8], f32[8])")
    body = text[text.index("body {") : text.index("ENTRY")]
    swapped = """body {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  a = f32[8] get-tuple-element(s), index=1
  b = f32[8] get-tuple-element(s), index=2
  ROOT t = (s32[], f32[8], f32[8]) tuple(next, b, a)
}
"""
    text = text.replace(body, swapped).replace("tuple(zero, x)", "tuple(zero, x, x)")
    _, named = _assign(text)
    in_body = [i for i in named.values() if i.opcode == "copy" and i.parent.name == "body"]
    assert len(in_body) == 3
