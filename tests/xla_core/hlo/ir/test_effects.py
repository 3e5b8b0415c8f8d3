"""The effects of instructions, also through calls."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import evaluate
from xla_core.hlo.ir.effects import EffectAnalysis, has_side_effect, is_effect
from xla_core.hlo.table.op_table import Trait

CALLS = """
HloModule calls

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}

inner {{
  p = f32[2] parameter(0)
  {op}
  ROOT n = f32[2] negate(p)
}}

outer {{
  p = f32[2] parameter(0)
  ROOT c = f32[2] call(p), to_apply=inner
}}

ENTRY e {{
  p = f32[2] parameter(0)
  ROOT c = f32[2] call(p), to_apply=outer
}}
"""

OPS = {
    "side effect": "k = token[] after-all()\n  o = token[] outfeed(p, k), outfeed_shape=f32[2]",
    "custom call": 'k = f32[2] custom-call(p), custom_call_target="f", custom_call_has_side_effect=true',
    "collective": "k = f32[2] all-reduce(p), replica_groups={{}}, to_apply=add".replace("{{}}", "{}"),
    "nothing": "k = f32[2] exponential(p)",
}


def conditionals_that_double(depth: int) -> str:
    computations = [f"b{depth} {{\n ROOT p = f32[] parameter(0)\n}}\n"]
    computations += [
        f"b{i} {{\n p = f32[] parameter(0)\n l = pred[] compare(p, p), direction=LT\n"
        f" ROOT c = f32[] conditional(l, p, p), true_computation=b{i + 1}, false_computation=b{i + 1}\n}}\n"
        for i in reversed(range(depth))
    ]
    entry = "ENTRY e {\n p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=b0\n}\n"
    return "HloModule m\n" + "".join(computations) + entry


@pytest.mark.parametrize(("what", "side_effect", "effect"), [
    ("side effect", True, True), ("custom call", True, True), ("collective", False, True), ("nothing", False, False),
])  # fmt: skip
def test_an_effect_is_seen_through_calls(what, side_effect, effect):
    call = xla.parse(CALLS.format(op=OPS[what])).entry.root
    assert has_side_effect(call) is side_effect
    assert is_effect(call) is effect


def test_a_change_of_a_called_computation_is_seen():
    call = xla.parse(CALLS.format(op=OPS["custom call"])).entry.root
    inner = call.attributes["to_apply"].root.attributes["to_apply"]
    (custom,) = [i for i in inner.instructions if i.opcode == "custom-call"]
    inner.remove(custom)
    assert not has_side_effect(call)


def test_traits_and_opcodes_say_what_counts():
    call = xla.parse(CALLS.format(op=OPS["nothing"])).entry.root
    assert EffectAnalysis(opcodes=frozenset({"exponential"})).of(call)
    assert EffectAnalysis(frozenset({Trait.TRANSCENDENTAL})).of(call)
    assert not EffectAnalysis(frozenset({Trait.NONDETERMINISTIC})).of(call)


def test_a_call_graph_is_walked_once():
    module = xla.parse(conditionals_that_double(200))
    assert not has_side_effect(module.entry.root)
    assert not is_effect(module.entry.root)


def test_a_deep_call_graph_needs_no_deep_stack():
    module = xla.parse(conditionals_that_double(3000))
    assert not has_side_effect(module.entry.root)


def test_the_evaluator_plans_each_computation_once():
    module = xla.parse(conditionals_that_double(100))
    (result,) = evaluate(module, np.float32(2), timeout=5)
    assert result == 2


def test_the_evaluator_says_that_calls_are_too_deep():
    calls = "".join(
        f"b{i} {{\n p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=b{i + 1}\n}}\n"
        for i in reversed(range(1000))
    )
    text = "HloModule m\nb1000 {\n ROOT p = f32[] parameter(0)\n}\n" + calls
    module = xla.parse(text + "ENTRY e {\n p = f32[] parameter(0)\n ROOT c = f32[] call(p), to_apply=b0\n}\n")
    with pytest.raises(xla.ResourceExhaustedError, match="nested too deep"):
        evaluate(module, np.float32(2))
