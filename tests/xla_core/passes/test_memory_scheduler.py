from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.passes.random_graphs import random_arguments, random_graph
from xla_core.analysis import assign_buffers
from xla_core.errors import FailedPreconditionError
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes.scheduling.copy_insertion import CopyInsertion, insert_copies
from xla_core.passes.scheduling.flatten_call_graph import FlattenCallGraph
from xla_core.passes.scheduling.hlo_memory_scheduler import _Memory, schedule_module
from xla_core.passes.scheduling.optimize_input_output_buffer_alias import OptimizeInputOutputBufferAlias


def _check_order(module: HloModule) -> None:
    assert module.schedule is not None
    for computation, order in module.schedule.items():
        place = {i: n for n, i in enumerate(order)}
        assert len(order) == len(place) == computation.instruction_count
        for i in order:
            assert all(place[b] < place[i] for b in (*i.operands, *i.control_predecessors))


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_operands_come_first(rng: random.Random) -> None:
    module = random_graph(rng)
    schedule_module(module)
    _check_order(module)


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_no_order_has_a_smaller_peak_than_the_bound(rng: random.Random) -> None:
    module = random_graph(rng)
    schedule = schedule_module(module)
    memory = _Memory(module.entry, lambda shape: shape.byte_size, {})
    waiting, order = set(module.entry.instructions), []
    while waiting:
        ready = [i for i in module.entry.instructions if i in waiting and waiting.isdisjoint(i.operands)]
        order.append(rng.choice(ready))
        waiting.remove(order[-1])
    assert memory.least_peak() <= memory.peak(order)
    memory.find_hazards(is_body=False)
    tried = [memory.depth_first(by_weight=False), memory.depth_first(by_weight=True), memory.list_schedule()]
    assert memory.peak(schedule[module.entry]) == min(map(memory.peak, tried))


def test_what_frees_memory_comes_early():
    """Eight large values, each reduced to one: made and reduced in turn, two of them live at once."""
    lines = ["x = f32[1000] parameter(0)", "zero = f32[] constant(0)"]
    lines += [f"y{k} = f32[1000] reverse(x), dimensions={{0}}" for k in range(8)]
    lines += [f"r{k} = f32[] reduce(y{k}, zero), dimensions={{0}}, to_apply=sum" for k in range(8)]
    lines.append("ROOT t = (" + ", ".join(["f32[]"] * 8) + ") tuple(" + ", ".join(f"r{k}" for k in range(8)) + ")")
    module = parse_hlo(
        "HloModule m\nsum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\nENTRY e {\n"
        + "\n".join(lines)
        + "\n}\n"
    )
    schedule_module(module)
    _check_order(module)
    insert_copies(module)
    assert assign_buffers(module).temp_bytes < 2 * 4096


READ_AND_WRITE = """
HloModule m
cond {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  v = f32[1] dynamic-slice(a, i), dynamic_slice_sizes={1}
  w = f32[1] add(v, v)
  u = f32[8] dynamic-update-slice(a, w, next)
  late = f32[1] dynamic-slice(a, next), dynamic_slice_sizes={1}
  u2 = f32[8] dynamic-update-slice(u, late, i)
  ROOT t = (s32[], f32[8]) tuple(next, u2)
}
ENTRY e {
  x = f32[8] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[8]) tuple(zero, x)
  ROOT w = (s32[], f32[8]) while(init), condition=cond, body=body
}
"""


def test_readers_come_before_what_updates_in_place():
    module = parse_hlo(READ_AND_WRITE)
    schedule_module(module)
    _check_order(module)
    insert_copies(module)
    body = module.entry.root.attributes["body"]
    assert not [i for i in body.instructions if i.opcode == "copy" and i.shape.rank]


def test_copies_change_nothing():
    module = parse_hlo(READ_AND_WRITE)
    x = np.arange(8, dtype=np.float32)
    before = evaluate(module, x)
    assert CopyInsertion().run(module)
    verify(module)
    _check_order(module)
    for found, expected in zip(evaluate(module, x), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert not CopyInsertion().run(module)


@given(st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_copies_keep_the_meaning(rng: random.Random) -> None:
    module = random_graph(rng)
    arguments = random_arguments(module, 5)
    before = evaluate(module, *arguments)
    insert_copies(module)
    verify(module)
    _check_order(module)
    for found, expected in zip(evaluate(module, *arguments), before, strict=True):
        np.testing.assert_array_equal(found, expected)


SHARED = """
HloModule m
twice {
  p = f32[4] parameter(0)
  ROOT r = f32[4] add(p, p)
}
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] call(x), to_apply=twice
  b = f32[4] call(a), to_apply=twice
  c = pred[] constant(true)
  ROOT d = f32[4] conditional(c, b, a), true_computation=twice, false_computation=twice
}
"""


def test_computations_with_several_callers_are_cloned():
    module = parse_hlo(SHARED)
    with pytest.raises(FailedPreconditionError, match="flatten_call_graph"):
        schedule_module(module)
    assert FlattenCallGraph().run(module)
    assert not FlattenCallGraph().run(module)
    verify(module)
    schedule_module(module)
    insert_copies(module)
    assign_buffers(module)
    np.testing.assert_array_equal(evaluate(module, np.ones(4, np.float32))[0], np.full(4, 8.0))


def test_donors_are_bound_to_results():
    module = parse_hlo("""
HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  y = s32[8] parameter(1)
  z = f32[3] parameter(2)
  a = f32[8] negate(x)
  b = f32[2,4] reshape(a)
  ROOT t = (f32[2,4], f32[8]) tuple(b, a)
}
""")
    module.buffer_donors = [(0, ()), (1, ()), (2, ())]
    assert OptimizeInputOutputBufferAlias().run(module)
    assert {(a.output_index, a.parameter_number) for a in module.input_output_aliases} == {((1,), 0), ((0,), 1)}
    assert module.buffer_donors == [(2, ())]
    insert_copies(module)
    assignment = assign_buffers(module)
    assert assignment.slice(assignment.module.entry.root, (1,)).allocation.parameter == (0, ())
