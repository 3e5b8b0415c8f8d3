"""Tests of the pass that merges the two kernels of a divided reduction."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import create_pass
from xla_core.target import FusionCosts, ParallelModel

COSTS = FusionCosts(kernel=1e5, byte=8.0)


def _program(type_: str, op: str, *, rest: str = "ROOT r = s", columns: int = 3) -> HloModule:
    return parse_hlo(f"""HloModule m
op {{
  a = {type_}[] parameter(0)
  b = {type_}[] parameter(1)
  ROOT c = {type_}[] {op}(a, b)
}}
ENTRY e {{
  x = {type_}[16,32,{columns}] parameter(0)
  init = {type_}[] constant(5)
  first = {type_}[16,{columns}] reduce(x, init), dimensions={{1}}, to_apply=op
  {rest.replace(" s", f" {type_}[{columns}] reduce(first, init), dimensions={{0}}, to_apply=op")}
}}
""")


def _merge(module: HloModule, costs: FusionCosts = COSTS) -> bool:
    changed = create_pass("reduction-merger", parallel=ParallelModel(), costs=costs).run(module)
    verify(module)
    return changed


@pytest.mark.parametrize(
    ("type_", "op"),
    [
        ("f32", "add"),
        ("f64", "add"),
        ("s32", "add"),
        ("u32", "maximum"),
        ("s64", "minimum"),
        ("u64", "xor"),
        ("s32", "or"),
    ],
)
def test_two_kernels_become_one(type_: str, op: str) -> None:
    module = _program(type_, op)
    dtype = ElementType(type_).dtype
    x = np.random.default_rng(0).integers(1, 100, (16, 32, 3)).astype(dtype)
    (expected,) = evaluate(module, x)
    assert _merge(module)
    assert [i.opcode for i in module.entry.post_order() if i.opcode != "constant"] == ["parameter", "copy", "fusion"]
    assert np.array_equal(evaluate(module, x)[0], expected)


@pytest.mark.parametrize(
    ("type_", "op", "rest"),
    [
        ("f32", "maximum", "ROOT r = s"),  # has no atomic instruction
        ("f32", "multiply", "ROOT r = s"),
        ("s16", "add", "ROOT r = s"),
        ("f32", "add", "t = s\n  ROOT r = (f32[3], f32[16,3]) tuple(t, first)"),  # the parts are needed
    ],
)
def test_other_reductions_stay(type_: str, op: str, rest: str) -> None:
    assert not _merge(_program(type_, op, rest=rest))


@pytest.mark.parametrize("index", [0, 1])
def test_parts_of_a_reduction_of_several_arrays_stay(index: int) -> None:
    assert not _merge(
        parse_hlo(f"""HloModule m
op {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}
both {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  s = f32[] add(a, c)
  t = f32[] add(b, d)
  ROOT r = (f32[], f32[]) tuple(s, t)
}}
ENTRY e {{
  x = f32[16,32,3] parameter(0)
  zero = f32[] constant(0)
  first = (f32[16,3], f32[16,3]) reduce(x, x, zero, zero), dimensions={{1}}, to_apply=both
  part = f32[16,3] get-tuple-element(first), index={index}
  ROOT r = f32[3] reduce(part, zero), dimensions={{0}}, to_apply=op
}}
""")
    )


def test_atomics_must_cost_less_than_a_kernel() -> None:
    assert not _merge(_program("f32", "add"), FusionCosts(kernel=0, byte=8.0))
    assert not _merge(_program("f32", "add"), FusionCosts(kernel=3e3, byte=8.0))
    assert _merge(_program("f32", "add"), FusionCosts(kernel=3e4, byte=8.0))


def test_neighbouring_columns_are_combined_in_one_transaction() -> None:
    """Their parts cost no more than the 8 bytes of a float that the other kernel would read, after it was stored."""
    assert _merge(_program("f32", "add", columns=16), FusionCosts(kernel=0, byte=8.0))


def test_all_results_of_a_kernel_become_atomics() -> None:
    """The first kernel has another result, which stays."""
    module = parse_hlo("""HloModule m
op {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
first {
  x = f32[16,32,3] parameter(0)
  zero = f32[] constant(0)
  y = f32[16,32,3] multiply(x, x)
  s = f32[16,3] reduce(x, zero), dimensions={1}, to_apply=op
  t = f32[16,3] reduce(y, zero), dimensions={1}, to_apply=op
  ROOT r = (f32[16,3], f32[16,32,3], f32[16,3]) tuple(s, y, t)
}
second {
  t = f32[16,3] parameter(0)
  s = f32[16,3] parameter(1)
  zero = f32[] constant(0)
  u = f32[3] reduce(s, zero), dimensions={0}, to_apply=op
  v = f32[3] reduce(t, zero), dimensions={0}, to_apply=op
  ROOT r = (f32[3], f32[3]) tuple(u, v)
}
ENTRY e {
  x = f32[16,32,3] parameter(0)
  f = (f32[16,3], f32[16,32,3], f32[16,3]) fusion(x), kind=kInput, calls=first
  s = f32[16,3] get-tuple-element(f), index=0
  y = f32[16,32,3] get-tuple-element(f), index=1
  t = f32[16,3] get-tuple-element(f), index=2
  g = (f32[3], f32[3]) fusion(t, s), kind=kInput, calls=second
  u = f32[3] get-tuple-element(g), index=0
  v = f32[3] get-tuple-element(g), index=1
  ROOT r = (f32[3], f32[16,32,3], f32[3]) tuple(v, y, u)
}
""")
    x = np.random.default_rng(0).integers(1, 100, (16, 32, 3)).astype(np.float32)
    expected = evaluate(module, x)
    assert _merge(module)
    assert [i.opcode for i in module.entry.post_order()].count("fusion") == 1
    for got, want in zip(evaluate(module, x), expected, strict=True):
        assert np.array_equal(got, want)
