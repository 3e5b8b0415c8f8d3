"""Dots of every form, through the whole pipeline, against the evaluator (which accumulates in float64)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core.hlo import ElementType


def dot_text(left, right, result, dims, element="f32"):
    def shape(d):
        return f"{element}[{','.join(map(str, d))}]"

    return f"""HloModule dot
ENTRY main {{
  a = {shape(left)} parameter(0)
  b = {shape(right)} parameter(1)
  ROOT c = {shape(result)} dot(a, b), {dims}
}}"""


def inputs(left, right, dtype=np.float32):
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(s) for s in (left, right)]
    if np.dtype(dtype).kind == "c":
        values = [v + 1j * rng.standard_normal(v.shape) for v in values]
    return [v.astype(dtype) for v in values]


@pytest.mark.parametrize(
    ("left", "right", "result", "dims"),
    [
        ((5, 7), (7, 3), (5, 3), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((33, 65), (65, 47), (33, 47), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((65, 33), (65, 47), (33, 47), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((33, 65), (47, 65), (33, 47), "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        ((64, 512), (512, 512), (64, 512), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((64, 512), (512, 512), (64, 512), "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        ((1, 300), (300, 200), (1, 200), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((200, 300), (300, 1), (200, 1), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((200, 300), (300,), (200,), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((300,), (300,), (), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((3, 8, 9), (3, 9, 10), (3, 8, 10), "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"),
        ((8, 3, 9), (10, 9, 3), (3, 8, 10), "lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={2}, rhs_contracting_dims={1}"),
        ((2, 3, 4, 5), (4, 5, 6), (2, 3, 6), "lhs_contracting_dims={2,3}, rhs_contracting_dims={0,1}"),
        ((0, 4), (4, 5), (0, 5), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
        ((3, 0), (0, 5), (3, 5), "lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f64", np.float64), ("c64", np.complex64)])
def test_forms(agree, left, right, result, dims, element, dtype):
    agree(dot_text(left, right, result, dims, element), *inputs(left, right, dtype), roundings=32)


def test_integers_wrap(agree):
    a = np.array([[2**31 - 1, 2], [3, -4]], np.int32)
    text = dot_text((2, 2), (2, 2), (2, 2), "lhs_contracting_dims={1}, rhs_contracting_dims={0}", "s32")
    agree(text, a, a)


@settings(max_examples=25, deadline=None)
@given(m=st.integers(1, 70), n=st.integers(1, 70), k=st.integers(1, 40), left_t=st.booleans(), right_t=st.booleans())
def test_any_size(agree, m, n, k, left_t, right_t):
    left, right = ((k, m) if left_t else (m, k)), ((n, k) if right_t else (k, n))
    dims = f"lhs_contracting_dims={{{0 if left_t else 1}}}, rhs_contracting_dims={{{1 if right_t else 0}}}"
    agree(dot_text(left, right, (m, n), dims), *inputs(left, right))


KERNEL_SIZES = {
    "library": (50, 517, 311),
    "rows": (33, 900, 203),
    "very few rows": (3, 90, 41),
    "large and streamed": (20, 1030, 150),
    "packed": (61, 100, 67),
    "packed, many vectors": (5, 33, 300),
}


@pytest.mark.parametrize("right_t", [False, True])
@pytest.mark.parametrize("left_t", [False, True])
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("size", KERNEL_SIZES.values(), ids=KERNEL_SIZES)
def test_every_kernel(agree, size, element, left_t, right_t):
    m, k, n = size
    left, right = ((k, m) if left_t else (m, k)), ((n, k) if right_t else (k, n))
    dims = f"lhs_contracting_dims={{{0 if left_t else 1}}}, rhs_contracting_dims={{{1 if right_t else 0}}}"
    dtype = np.float32 if element == "f32" else np.float64
    agree(dot_text(left, right, (m, n), dims, element), *inputs(left, right, dtype), roundings=32)


@pytest.mark.parametrize("size", [(2, 70, 3, 64, 130), (2, 5, 3, 64, 7), (3, 90, 2, 500, 150)])
@pytest.mark.parametrize("element", ["f32", "c64"])
def test_batch_dimensions_between_the_others(agree, size, element):
    """The dimensions of attention: batch, position, head, feature."""
    batch, m, heads, k, n = size
    left, right, result = (batch, m, heads, k), (batch, n, heads, k), (batch, heads, m, n)
    dims = "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}"
    dtype = np.float32 if element == "f32" else np.complex64
    agree(dot_text(left, right, result, dims, element), *inputs(left, right, dtype), roundings=32)


def test_padding_is_neither_read_nor_written(agree):
    """Infinities and NaNs affect only their own row and column."""
    left, right = inputs((6, 37), (19, 37))
    left[2, 5], right[18, 36] = np.inf, np.nan
    agree(dot_text((6, 37), (19, 37), (6, 19), "lhs_contracting_dims={1}, rhs_contracting_dims={1}"), left, right)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("n", [1024, 1021])
def test_large_weights_are_not_copied(client, n, transposed):
    right = (n, 512) if transposed else (512, n)
    dims = f"lhs_contracting_dims={{1}}, rhs_contracting_dims={{{int(transposed)}}}"
    for m in (20, 100):
        assert client.compile(dot_text((m, 512), right, (m, n), dims)).memory_stats().temp_bytes == 0


def test_sums_of_narrow_integers_beyond_32_bits(client):
    k = 40_000
    program = f"""HloModule dot
ENTRY main {{
  a = u8[16,{k}] parameter(0)
  b = u8[{k},16] parameter(1)
  ROOT c = s64[16,16] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""
    (result,) = client.compile(program)(np.full((16, k), 255, np.uint8), np.full((k, 16), 255, np.uint8))
    np.testing.assert_array_equal(np.asarray(result), 255 * 255 * k)


@pytest.mark.parametrize("k", [64, 1024, 2500])
@pytest.mark.parametrize(("left", "right", "result"), [("s8", "s8", "s32"), ("u8", "u8", "s32"), ("s8", "u8", "s32"), ("s8", "s8", "s8"), ("u8", "u8", "u32"), ("s4", "s4", "s32")])  # fmt: skip
@pytest.mark.parametrize(("rows", "transposed"), [(33, False), (7, False), (7, True)])
def test_narrow_integers_are_exact(agree, left, right, result, k, rows, transposed):
    """Of the largest values too."""
    bounds = {"s8": (-128, 128), "u8": (0, 256), "s4": (-8, 8)}
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(*bounds[t], size).astype(ElementType(t).dtype) for t, size in ((left, (rows, k)), (right, (k, 40)))
    )
    a[0], b[:, 0] = bounds[left][0] or bounds[left][1] - 1, bounds[right][0] or bounds[right][1] - 1
    b = np.ascontiguousarray(b.T) if transposed else b
    text = f"""HloModule dot
ENTRY main {{
  a = {left}[{rows},{k}] parameter(0)
  b = {right}[{",".join(map(str, b.shape))}] parameter(1)
  ROOT c = {result}[{rows},40] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{int(transposed)}}}
}}"""
    agree(text, a, b, roundings=0)
