"""64-bit integers on devices that have none: the results are those of the reference evaluator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import xla_core as xla
from tests.xla_core.analysis.test_integer_ranges import programs
from tests.xla_core.passes.legalization.devices import PRIMITIVES, SINGLE
from xla_core.hlo import ElementType, HloModule
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline
from xla_core.passes.legalization.carriers import IntegerNarrower
from xla_core.target import Capabilities, TargetConfig

T = ElementType
WITHOUT_WIDE = Capabilities.all_of(t for t in T if t.is_array and t not in (T.S64, T.U64))
PLACES = """HloModule places

ENTRY e {
  x = f32[300,500] parameter(0)
  i = u64[300,500] iota(), iota_dimension=0
  row = u64[] constant(500)
  rows = u64[300,500] broadcast(row), dimensions={}
  first = u64[300,500] multiply(i, rows)
  j = u64[300,500] iota(), iota_dimension=1
  number = u64[300,500] add(first, j)
  half = u64[] constant(32)
  halves = u64[300,500] broadcast(half), dimensions={}
  upper = u64[300,500] shift-right-logical(number, halves)
  high = u32[300,500] convert(upper)
  low = u32[300,500] convert(number)
  even = u32[] constant(2)
  evens = u32[300,500] broadcast(even), dimensions={}
  bit = u32[300,500] remainder(low, evens)
  sum = u32[300,500] add(bit, high)
  scale = f32[300,500] convert(sum)
  ROOT r = f32[300,500] multiply(x, scale)
}
"""
INDICES = """HloModule indices

ENTRY e {
  x = f32[10,3] parameter(0)
  n = s32[4] parameter(1)
  wide = s64[4] convert(n)
  nine = s64[] constant(9)
  nines = s64[4] broadcast(nine), dimensions={}
  mirrored = s64[4] subtract(nines, wide)
  zero = s64[] constant(0)
  zeros = s64[4] broadcast(zero), dimensions={}
  clamped = s64[4] clamp(zeros, mirrored, nines)
  places = s64[4,1] reshape(clamped)
  g = f32[4,3] gather(x, places), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
  inside = pred[4] compare(clamped, mirrored), direction=EQ
  ROOT t = (f32[4,3], pred[4]) tuple(g, inside)
}
"""


def wide_instructions(module: HloModule) -> list[str]:
    kinds = (T.S64, T.U64)
    return [
        i.name
        for c in module.computations
        for i in c.instructions
        if i.shape.is_array and i.shape.element_type in kinds
    ]


@pytest.mark.parametrize("kinds", [SINGLE, (T.F32, T.S32, T.PRED)], ids=["u32", "s32"])
def test_numbers_of_many_elements_need_no_64_bits(kinds: tuple[T, ...]) -> None:
    """There are more of them than constants that are computed at compile time."""
    target = TargetConfig(name="narrow", capabilities=Capabilities.all_of(kinds, opcodes=PRIMITIVES))
    module = xla.parse(PLACES)
    PassContext.default(module, verify=True).run(default_pipeline(target, xla.CompileOptions()), module, ())
    assert not wide_instructions(module)
    x = np.random.default_rng(0).normal(size=(300, 500)).astype(np.float32)
    for got, expected in zip(xla.evaluate(module, x), xla.evaluate(PLACES, x), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_indices_and_comparisons_are_narrow() -> None:
    module = xla.parse(INDICES)
    # The range of a whole s32 doesn't fit in s32 after the subtraction, but its clamp does.
    assert not IntegerNarrower(WITHOUT_WIDE).run(module)
    module = xla.parse(INDICES.replace("n = s32[4]", "n = s16[4]"))
    assert IntegerNarrower(WITHOUT_WIDE).run(module)
    verify(module)
    assert not wide_instructions(module)
    x, n = np.arange(30, dtype=np.float32).reshape(10, 3), np.array([0, 4, 11, -3], np.int16)
    want = xla.evaluate(INDICES.replace("n = s32[4]", "n = s16[4]"), x, n)
    for got, expected in zip(xla.evaluate(module, x, n), want, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_target_with_64_bits_keeps_them() -> None:
    module = xla.parse(PLACES)
    assert not IntegerNarrower(Capabilities.all_of()).run(module)
    assert wide_instructions(module)


@settings(max_examples=200, deadline=None)
@given(module=programs())
def test_values_stay_the_same(module: HloModule) -> None:
    """Each value that may be narrow is compared, converted and returned."""
    entry = module.entry
    results = []
    for value in entry.root.operands:
        results.append(entry.add("convert", value, shape=value.shape.with_element_type(T.S8)))
        results.append(entry.add("convert", value, shape=value.shape.with_element_type(T.F32)))
        results.append(entry.add("compare", value, entry.root.operand(0), direction="GE"))
    entry.set_root(entry.add("tuple", *results))
    expected = xla.evaluate(module)
    IntegerNarrower(WITHOUT_WIDE).run(module)
    verify(module)
    for got, want in zip(xla.evaluate(module), expected, strict=True):
        np.testing.assert_array_equal(got, want)
