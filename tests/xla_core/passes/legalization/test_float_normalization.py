"""Narrow floats on a device that computes in f32: the results are those of each op in its own type."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.xla_core.passes.legalization.devices import MOVEMENT, SIMPLE, rewritten
from xla_core.hlo.table.op_table import OPS
from xla_core.hlo.values.element_type import ElementType
from xla_core.target import Capabilities

T = ElementType


def test_narrow_floats_go_through_f32():
    text = """
HloModule m
add { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT c = bf16[] add(a, b) }
ENTRY e {
  x = bf16[4,8] parameter(0)
  y = bf16[8,3] parameter(1)
  t = bf16[4,8] tanh(x)
  d = bf16[4,3] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = bf16[] constant(0)
  ROOT r = bf16[3] reduce(d, zero), dimensions={0}, to_apply=add
}
"""
    capabilities = Capabilities.all_of([T.F32, T.PRED, T.S32]).model_copy(
        update={"storage_types": frozenset({T.F32, T.BF16, T.PRED, T.S32})}
    )
    capabilities = capabilities.with_ops(["convert"], [T.BF16])
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=s).astype(ml_dtypes.bfloat16) for s in ((4, 8), (8, 3)))
    ((expected, found),) = rewritten(text, x, y, capabilities=capabilities)
    assert found.dtype == expected.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(found.astype("f"), expected.astype("f"), rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("kind", [T.F8E4M3FNUZ, T.F8E5M2FNUZ, T.F8E4M3B11FNUZ], ids=str)
def test_a_nan_in_the_place_of_negative_zero_keeps_its_place_in_wider_floats(kind: T) -> None:
    every = np.arange(256, dtype=np.uint8).view(kind.dtype)
    x, y = (a.reshape(-1) for a in np.meshgrid(every, every))
    text = f"""
HloModule m
ENTRY e {{
  x = {kind}[{x.size}] parameter(0)
  y = {kind}[{x.size}] parameter(1)
  ROOT r = pred[{x.size}] compare(x, y), direction=LT, type=TOTALORDER
}}
"""
    ((expected, found),) = rewritten(text, x, y, capabilities=SIMPLE.with_ops(["parameter", "convert"], [kind]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("opcode", ["multiply", "divide", "power", "atan2", "erfc"])
def test_what_underflows_in_wider_floats_is_not_zero_in_the_type_without_one(opcode: str) -> None:
    kind = T.F8E8M0FNU
    every = np.arange(255, dtype=np.uint8).view(kind.dtype)
    arrays = [a.reshape(-1) for a in np.meshgrid(*[every] * OPS[opcode].arity)]
    lines = "".join(f"  p{k} = {kind}[{a.size}] parameter({k})\n" for k, a in enumerate(arrays))
    operands = ", ".join(f"p{k}" for k in range(len(arrays)))
    text = f"HloModule m\nENTRY e {{\n{lines}  ROOT r = {kind}[{arrays[0].size}] {opcode}({operands})\n}}\n"
    capabilities = SIMPLE.with_ops([opcode], [T.F32]).with_ops(["parameter", "convert"], [kind])
    with np.errstate(all="ignore"):
        ((expected, found),) = rewritten(text, *arrays, capabilities=capabilities)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))


def test_a_product_of_a_window_that_underflows_is_not_zero_in_the_type_without_one() -> None:
    text = """
HloModule m
product {
  a = f8e8m0fnu[] parameter(0)
  b = f8e8m0fnu[] parameter(1)
  ROOT c = f8e8m0fnu[] multiply(a, b)
}
ENTRY e {
  x = f8e8m0fnu[4] parameter(0)
  one = f8e8m0fnu[] constant(1)
  ROOT r = f8e8m0fnu[3] reduce-window(x, one), window={size=2}, to_apply=product
}
"""
    capabilities = Capabilities.all_of([T.F32]).with_ops([*MOVEMENT, "parameter", "convert"], [T.F8E8M0FNU])
    x = np.array([2.0**-100, 2.0**-100, 2.0**-27, 4], T.F8E8M0FNU.dtype)
    ((expected, found),) = rewritten(text, x, capabilities=capabilities)
    np.testing.assert_array_equal(found.view(np.uint8), expected.view(np.uint8))
    assert found.astype(np.float64).tolist() == [2.0**-127, 2.0**-127, 2.0**-25]


@pytest.mark.parametrize("kind", [T.F8E8M0FNU, T.BF16, T.F8E4M3FN], ids=str)
def test_each_step_of_a_scan_is_rounded_to_its_type(kind: T) -> None:
    text = f"""
HloModule m
step {{
  x = {kind}[] parameter(0)
  c = {kind}[] parameter(1)
  s = {kind}[] add(x, c)
  ROOT t = ({kind}[], {kind}[]) tuple(s, s)
}}
ENTRY e {{
  x = {kind}[6] parameter(0)
  c = {kind}[] parameter(1)
  ROOT r = ({kind}[6], {kind}[]) scan(x, c), dimensions={{0}}, num_carries=1, to_apply=step
}}
"""
    capabilities = Capabilities.all_of([T.F32, T.S32, T.PRED]).with_ops([*MOVEMENT, "parameter", "convert"], [kind])
    x = np.array([0.25, 0.25, 0.125, 0.125, 0.5, 0.25], np.float32) * 2.0**-7
    for expected, found in rewritten(text, x.astype(kind.dtype), np.ones((), kind.dtype), capabilities=capabilities):
        np.testing.assert_array_equal(found, expected)
