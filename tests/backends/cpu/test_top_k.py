"""topk against the evaluator: every result is exact, ties and NaNs included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core as xla
from xla_core.hlo import ElementType

TYPES = ["pred", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f8e4m3fn", "f16", "bf16", "f32", "f64"]  # fmt: skip


def text(element, shape, k, largest=True, layout=""):
    rows = ",".join(map(str, (*shape[:-1], k)))
    whole = ",".join(map(str, shape))
    return f"""HloModule top
ENTRY main {{
  x = {element}[{whole}]{layout} parameter(0)
  ROOT t = ({element}[{rows}], s32[{rows}]) topk(x), k={k}, largest={str(largest).lower()}
}}"""


def same(client, program, x):
    want = xla.evaluate(xla.parse(program), x)
    for got, expected in zip(client.compile(program)(x), want, strict=True):
        assert _bits(got) == _bits(expected)


def _bits(x):
    array = np.asarray(x)
    return array.astype(np.int8).tobytes() if "int4" in array.dtype.name else array.tobytes()


def values(element, shape, seed=0):
    """Makes random bits. Floats include infinities, NaNs of both signs, and both zeros."""
    dtype = ElementType(element).dtype
    rng = np.random.default_rng(seed)
    if element == "pred":
        return rng.integers(0, 2, shape).astype(bool)
    if element in ("s4", "u4"):
        return rng.integers(-8 if element == "s4" else 0, 8, shape).astype(dtype)
    x = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
    if element.startswith(("f", "b")):
        flat = x.reshape(-1)
        special = np.array([np.nan, -np.nan, 0.0, -0.0, 1.0, -1.0]).astype(dtype)
        flat[:: max(1, flat.size // 40)] = np.resize(special, flat[:: max(1, flat.size // 40)].shape)
    return x


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("element", TYPES)
def test_types(client, element, largest):
    same(client, text(element, (3, 700), 9, largest), values(element, (3, 700)))


@settings(max_examples=20, deadline=None)
@given(rows=st.integers(1, 4), length=st.integers(1, 400), part=st.floats(0, 1), seed=st.integers(0, 99))
def test_any_size_with_ties(client, rows, length, part, seed):
    x = np.random.default_rng(seed).integers(0, 20, (rows, length)).astype(np.float32)
    same(client, text("f32", x.shape, round(part * length)), x)


@pytest.mark.parametrize("k", [1, 2, 5, 64, 300])
def test_orders_of_elements(client, k):
    program = client.compile(text("f32", (700,), k))
    rising = np.arange(700, dtype=np.float32)
    for x in (rising, rising[::-1].copy(), np.zeros(700, np.float32), np.full(700, -np.nan, np.float32)):
        want = np.argsort(-x, kind="stable")[:k]
        got, places = (np.asarray(r) for r in program(x))
        np.testing.assert_array_equal(got, x[want])
        np.testing.assert_array_equal(places, want)


def test_layouts_and_producers(client):
    same(client, text("f32", (5, 6, 300), 4, layout="{0,2,1}"), values("f32", (5, 6, 300)))
    program = """HloModule top
ENTRY main {
  x = f32[4,1000] parameter(0)
  n = f32[4,1000] negate(x)
  t = (f32[4,7], s32[4,7]) topk(n), k=7, largest=true
  v = f32[4,7] get-tuple-element(t), index=0
  i = s32[4,7] get-tuple-element(t), index=1
  w = f32[4,7] convert(i)
  ROOT r = f32[4,7] add(v, w)
}"""
    same(client, program, np.random.default_rng(0).standard_normal((4, 1000)).astype(np.float32))
