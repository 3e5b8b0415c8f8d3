"""Reductions on devices that reduce one array by a sum, or that have no reduce."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.errors import UnimplementedError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes.legalization import legalize, unsupported_instructions
from xla_core.target import Capabilities

T = ElementType
SUMS = Capabilities.all_of([T.F32, T.S32, T.PRED], opcodes=PRIMITIVES).model_copy(
    update={"scalar_computations": {"reduce": frozenset({"add"})}}
)
WITHOUT = SUMS.without_ops("reduce")

ARGMAX = """HloModule argmax

larger {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GE
  x = f32[] select(more, a, b)
  k = s32[] select(more, i, j)
  ROOT t = (f32[], s32[]) tuple(x, k)
}

ENTRY e {
  x = f32[3,7] parameter(0)
  n = s32[3,7] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  none = s32[] constant(0)
  ROOT r = (f32[3], s32[3]) reduce(x, n, low, none), dimensions={1}, to_apply=larger
}
"""
ALL = """HloModule all

both {
  a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT c = pred[] and(a, b)
}

ENTRY e {
  x = f32[4,SIZE,3] parameter(0)
  low = f32[4,SIZE,3] constant(0.1)
  y = pred[4,SIZE,3] compare(x, low), direction=GT
  true = pred[] constant(true)
  ROOT r = pred[3] reduce(y, true), dimensions={0,1}, to_apply=both
}
"""


def same(text: str, capabilities: Capabilities, *arguments: np.ndarray) -> None:
    module = xla.parse(text)
    before = xla.evaluate(module, *arguments)
    legalize(module, capabilities.check)
    verify(module)
    assert not unsupported_instructions(module, capabilities.check)
    for expected, found in zip(before, xla.evaluate(module, *arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("capabilities", [SUMS, WITHOUT], ids=["sums", "without"])
def test_reductions_of_several_results(capabilities: Capabilities) -> None:
    x = np.random.default_rng(0).normal(size=(3, 7)).astype(np.float32)
    same(ARGMAX, capabilities, x)


@pytest.mark.parametrize("direction", ["GE", "GT", "LE", "LT"])
@pytest.mark.parametrize("rows", [1, 3, 4, 6])
def test_the_order_decides_between_equal_values(direction: str, rows: int) -> None:
    text = ARGMAX.replace("direction=GE", f"direction={direction}").replace("[3,7]", f"[{rows},7,2]")
    text = text.replace("f32[3]", "f32[2]").replace("s32[3]", "s32[2]").replace("dimensions={1}", "dimensions={0,1}")
    text = text.replace("iota(), iota_dimension=1", "parameter(1)")
    x = np.random.default_rng(rows).integers(0, 3, (rows, 7, 2)).astype(np.float32)
    same(text, WITHOUT, x, np.arange(x.size, dtype=np.int32).reshape(x.shape))


@pytest.mark.parametrize("size", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("capabilities", [SUMS, WITHOUT], ids=["sums", "without"])
def test_reductions_by_any_op(size: int, capabilities: Capabilities) -> None:
    text = ALL.replace("f32[4,SIZE,3] constant(0.1)", "f32[4,SIZE,3] broadcast(tenth), dimensions={}")
    text = text.replace("  low =", "  tenth = f32[] constant(0.1)\n  low =").replace("SIZE", str(size))
    x = np.random.default_rng(size).random((4, size, 3)).astype(np.float32) + np.float32([0.05, 0.5, 0.0])
    same(text, capabilities, x.astype(np.float32))


DIVISOR = """HloModule divisor

goes_on {
  p = (s32[], s32[]) parameter(0)
  b = s32[] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  ROOT is = pred[] compare(b, zero), direction=NE
}

step {
  p = (s32[], s32[]) parameter(0)
  a = s32[] get-tuple-element(p), index=0
  b = s32[] get-tuple-element(p), index=1
  rest = s32[] remainder(a, b)
  ROOT t = (s32[], s32[]) tuple(b, rest)
}

greatest {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  t = (s32[], s32[]) tuple(a, b)
  w = (s32[], s32[]) while(t), condition=goes_on, body=step
  ROOT r = s32[] get-tuple-element(w), index=0
}

ENTRY e {
  x = s32[4,SIZE,3] parameter(0)
  y = s32[4,SIZE,3] reverse(x), dimensions={1}
  zero = s32[] constant(0)
  r = s32[SIZE] reduce(x, zero), dimensions={0,2}, to_apply=greatest
  m = s32[4,SIZE,3] map(x, y), dimensions={0,1,2}, to_apply=greatest
  ROOT t = (s32[SIZE], s32[4,SIZE,3]) tuple(r, m)
}
"""


@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize("capabilities", [SUMS, WITHOUT], ids=["sums", "without"])
def test_computations_with_loops(size: int, capabilities: Capabilities) -> None:
    x = np.random.default_rng(size).integers(1, 60, (4, size, 3)).astype(np.int32) * 6
    same(DIVISOR.replace("SIZE", str(size)), capabilities, x)


def test_a_reduction_that_the_device_has_stays() -> None:
    text = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
    module = xla.parse(
        f"HloModule m\n\n{text}\nENTRY e {{\n  x = f32[9] parameter(0)\n  z = f32[] constant(0)\n"
        "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add\n}\n"
    )
    assert not legalize(module, SUMS.check)


def test_a_device_without_slices_is_told_what_it_lacks() -> None:
    with pytest.raises(UnimplementedError, match="reduce needs slice of f32, or itself"):
        legalize(xla.parse(ARGMAX), SUMS.without_ops("slice").check)
