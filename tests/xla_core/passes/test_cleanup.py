"""Inlining, folding and merging: limits and options; what each pass makes of a program is in .hlo files."""

from __future__ import annotations

import time

import numpy as np
import pytest

from xla_core.errors import InternalError, ResourceExhaustedError
from xla_core.hlo import Literal
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes import create_pass
from xla_core.passes.simplifiers import hlo_constant_folding
from xla_core.passes.simplifiers.call_inliner import CallInliner
from xla_core.passes.simplifiers.hlo_constant_folding import HloConstantFolding

NESTED = """
inner { p = f32[3] parameter(0)
  ROOT n = f32[3] negate(p) }
outer { p = f32[3] parameter(0)
  q = f32[3] parameter(1)
  c = f32[3] call(p), to_apply=inner
  ROOT a = f32[3] add(c, q) }
ENTRY e { x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  ROOT r = f32[3] call(y, x), to_apply=outer }
"""


def test_keeps_calls_that_it_is_told_to(check_pass, opcodes):
    keep = CallInliner(keep=lambda i: i.attributes["to_apply"].name == "inner")
    assert opcodes(check_pass(NESTED, keep)) == ["call", "add"]


def test_a_program_that_doubles_at_each_level_is_refused():
    text = "HloModule m\nf0 { x = f32[] parameter(0)\n ROOT y = f32[] negate(x) }\n"
    for n in range(40):
        text += f"f{n + 1} {{ x = f32[] parameter(0)\n a = f32[] call(x), to_apply=f{n}\n ROOT b = f32[] call(a), to_apply=f{n} }}\n"
    text += "ENTRY e { x = f32[] parameter(0)\n ROOT r = f32[] call(x), to_apply=f40 }"
    with pytest.raises(ResourceExhaustedError, match="once each instruction that calls"):
        CallInliner().run(parse_hlo(text))


def test_many_scalar_constants_are_told_apart_quickly():
    body = "\n".join(f"c{n} = f32[] constant({n})" for n in range(4000))
    operands = ", ".join(f"c{n}" for n in range(4000))
    shapes = ", ".join(["f32[]"] * 4000)
    module = parse_hlo(f"HloModule m\nENTRY e {{\n{body}\nROOT r = ({shapes}) tuple({operands})\n}}")
    assert not create_pass("hlo-cse").run(module)


def test_large_results_and_long_work_are_left_alone(check_pass, monkeypatch):
    pad = "a = f32[1] constant({1})\nz = f32[] constant(0)\nROOT r = f32[100001] pad(a, z), padding=0_100000"
    check_pass(pad, "hlo-constant-folding", changes=False)
    add = "a = f32[200] constant({" + ",".join(map(str, range(200))) + "})\nROOT r = f32[200] negate(a)"
    check_pass(add, HloConstantFolding())
    monkeypatch.setattr(hlo_constant_folding, "_MAX_OPERATIONS", 100)
    check_pass(add, HloConstantFolding(), changes=False)


def test_elements_of_windows_count_as_operations(check_pass):
    text = """HloModule m
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e { p = f32[4] constant({1, 2, 3, 4})
 z = f32[] constant(0)
 ROOT r = f32[4] reduce-window(p, z), window={size=%d pad=%d_%d}, to_apply=add }"""
    check_pass(text % (21, 10, 10), HloConstantFolding())
    wide = parse_hlo(text % (40_000_001, 20_000_000, 20_000_000))
    start = time.process_time()
    assert not HloConstantFolding().run(wide)
    assert time.process_time() - start < 0.5


def test_a_slip_of_the_evaluator_is_no_reason_not_to_fold():
    constants = "a = f32[2] constant({1, 2})\n b = f32[2] constant({3, 4})"
    module = parse_hlo(f"HloModule m\nENTRY e {{ {constants}\n ROOT c = f32[2] add(a, b) }}")
    module.entry.root.operand(1).attributes["literal"] = Literal(np.ones(3, np.float32))
    with pytest.raises(InternalError, match="add") as caught:
        HloConstantFolding().run(module)
    assert caught.value.op == "add"


def test_a_loop_of_too_many_steps_is_not_folded():
    text = """HloModule m
    body { i = s32[] parameter(0)
      k = s32[] constant(1)
      ROOT r = s32[] add(i, k) }
    cond { i = s32[] parameter(0)
      n = s32[] constant(2000000000)
      ROOT c = pred[] compare(i, n), direction=LT }
    ENTRY e { z = s32[] constant(0)
      ROOT w = s32[] while(z), condition=cond, body=body }"""
    endless = parse_hlo(text)
    assert not create_pass("hlo-constant-folding").run(endless)
