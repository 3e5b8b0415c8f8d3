"""dot, convolution, linear algebra, fft and batch normalization, against numpy and JAX."""

from __future__ import annotations

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.roundings import assert_within
from tests.xla_core.hlo.ops.ops_testing import run
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ConvolutionDimensionNumbers, ElementType, Shape, WindowDimension


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_dot_of_integers(data: st.DataObject) -> None:
    """Any order of dimensions; the products wrap."""
    letters = "abcdef"
    kinds = {c: data.draw(st.sampled_from(["batch", "contracting", "lhs", "rhs"])) for c in letters}
    sizes = {c: data.draw(st.integers(0 if c == "a" else 1, 3)) for c in letters}
    lhs = data.draw(st.permutations([c for c in letters if kinds[c] != "rhs"]))
    rhs = data.draw(st.permutations([c for c in letters if kinds[c] != "lhs"]))
    batch = [c for c in lhs if kinds[c] == "batch"]
    contracting = [c for c in lhs if kinds[c] == "contracting"]
    out = batch + [c for c in lhs if kinds[c] == "lhs"] + [c for c in rhs if kinds[c] == "rhs"]
    rng = np.random.default_rng(1)
    a = rng.integers(-(2**31), 2**31 - 1, [sizes[c] for c in lhs]).astype(np.int32)
    b = rng.integers(-(2**31), 2**31 - 1, [sizes[c] for c in rhs]).astype(np.int32)
    result = run(
        "dot",
        a,
        b,
        lhs_batch_dims=tuple(lhs.index(c) for c in batch),
        rhs_batch_dims=tuple(rhs.index(c) for c in batch),
        lhs_contracting_dims=tuple(lhs.index(c) for c in contracting),
        rhs_contracting_dims=tuple(rhs.index(c) for c in contracting),
    )
    expected = np.einsum(f"{''.join(lhs)},{''.join(rhs)}->{''.join(out)}", a, b)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("t", ["f8e4m3fn", "bf16", "f16", "f32", "c64", "f64", "c128"])
@pytest.mark.parametrize("depth", [5, 200])
def test_dot_of_floats(t: str, depth: int) -> None:
    dtype = ElementType(t).dtype
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(4, depth)), rng.normal(size=(depth, 3))
    if t[0] == "c":
        a, b = a + 1j * rng.normal(size=a.shape), b - 1j * rng.normal(size=b.shape)
    a, b = a.astype(dtype), b.astype(dtype)
    wide = np.complex128 if t[0] == "c" else np.float64
    exact = a.astype(wide) @ b.astype(wide)
    result = run("dot", a, b, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    epsilon = float(ml_dtypes.finfo(np.empty(0, dtype).real.dtype).eps)
    bound = epsilon * (np.abs(a.astype(wide)) @ np.abs(b.astype(wide))) * (1 if depth < 20 and len(t) < 4 else 0)
    assert (np.abs(result.astype(wide) - exact) <= 2 * bound + epsilon * np.abs(exact) + 1e-12).all()


def test_dot_accumulates_in_the_declared_type() -> None:
    a, b = np.full((2, 100), 100, np.int8), np.full((100, 2), 100, np.int8)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    np.testing.assert_array_equal(run("dot", a, b, shape=Shape.array(ElementType.S32, (2, 2)), **dims), 1_000_000)
    np.testing.assert_array_equal(run("dot", a, b, **dims), np.full((2, 2), 1_000_000).astype(np.int8))
    h = np.full((1, 3000), 1, ml_dtypes.bfloat16)
    assert run("dot", h, h.T, shape=Shape.array(ElementType.F32, (1, 1)), **dims) == 3000


def test_dot_algorithms() -> None:
    a, b = np.array([[1 + 2**-12]], np.float32), np.array([[1.0]], np.float32)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    assert run("dot", a, b, algorithm="dot_bf16_bf16_f32", **dims) == 1
    assert run("dot", a, b, algorithm="dot_tf32_tf32_f32", **dims) == 1
    assert run("dot", a, b, algorithm="dot_bf16_bf16_f32_x6", **dims) == a
    assert run("dot", a, b, algorithm="dot_f32_f32_f32", **dims) == a


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_dot_algorithm_adds_in_f64(dtype: Any) -> None:
    """Two large products cancel, beside which a sum of f32 loses the others."""
    large = 2.0**15 if dtype is np.float16 else 2.0**24
    a, b = np.array([[large, 1, 1, -large]], dtype), np.array([[large], [1], [1], [large]], dtype)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    assert run("dot", a, b, algorithm="dot_f64_f64_f64", **dims) == 2


@pytest.mark.parametrize("mode", ["free", "contracting", "batch"])
def test_ragged_dot(mode: str) -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([2, 0, 3], np.int32)
    edges = [0, 2, 2, 5]
    if mode == "free":
        a, b = rng.integers(-5, 5, (6, 4)).astype(np.int32), rng.integers(-5, 5, (3, 4, 2)).astype(np.int32)
        dims: dict[str, Any] = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (1,), "rhs_group_dims": (0,)}
        expected = np.zeros((6, 2), int)
        for g in range(3):
            expected[edges[g] : edges[g + 1]] = a[edges[g] : edges[g + 1]] @ b[g]
        axis = 0
    elif mode == "contracting":
        a, b = rng.integers(-5, 5, (4, 6)).astype(np.int32), rng.integers(-5, 5, (6, 2)).astype(np.int32)
        dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
        expected = np.stack([a[:, edges[g] : edges[g + 1]] @ b[edges[g] : edges[g + 1]] for g in range(3)])
        axis = 1
    else:
        a, b = rng.integers(-5, 5, (6, 3, 4)).astype(np.int32), rng.integers(-5, 5, (6, 4, 2)).astype(np.int32)
        dims = {
            "lhs_contracting_dims": (2,),
            "rhs_contracting_dims": (1,),
            "lhs_batch_dims": (0,),
            "rhs_batch_dims": (0,),
        }
        expected = a @ b
        expected[5:] = 0
        axis = 0
    np.testing.assert_array_equal(run("ragged-dot", a, b, sizes, lhs_ragged_dims=(axis,), **dims), expected)


def test_scaled_dot() -> None:
    a, b = np.ones((2, 8), ml_dtypes.float8_e4m3fn), np.ones((8, 3), ml_dtypes.float8_e4m3fn)
    left = np.array([[1, 2], [4, 8]], ml_dtypes.float8_e8m0fnu)
    right = np.array([[2] * 3, [1] * 3], ml_dtypes.float8_e8m0fnu)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    result = run("scaled-dot", a, b, left, right, shape=Shape.array(ElementType.F32, (2, 3)), **dims)
    np.testing.assert_array_equal(result, [[4 * 2 + 4 * 2] * 3, [4 * 8 + 4 * 8] * 3])


def test_scaled_dot_of_no_blocks() -> None:
    a, b = np.ones((0, 4), np.float32), np.ones((4, 3), np.float32)
    left, right = np.ones((0, 2), np.float32), np.ones((), np.float32)
    dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    assert run("scaled-dot", a, b, left, right, shape=Shape.array(ElementType.F32, (0, 3)), **dims).shape == (0, 3)


def naive_convolution(
    x: np.ndarray,
    k: np.ndarray,
    window: tuple[WindowDimension, ...],
    feature_groups: int,
    batch_groups: int,
) -> np.ndarray:
    """x: batch, feature, space; k: output, input, space."""
    batch = x.shape[0]
    outputs, inputs = k.shape[:2]
    sizes = [w.output_size(n) for w, n in zip(window, x.shape[2:], strict=True)]
    result = np.zeros((batch // batch_groups, outputs, *sizes), np.int64)
    for n, o, *out in np.ndindex(*result.shape):
        feature = (o // (outputs // feature_groups)) * inputs
        row = n + (o // (outputs // batch_groups)) * (batch // batch_groups)
        for tap in itertools.product(*(range(w.size) for w in window)):
            at = []
            for i, t, w, size in zip(out, tap, window, x.shape[2:], strict=True):
                p = i * w.stride + t * w.window_dilation - w.padding_low
                if p % w.base_dilation or not 0 <= p // w.base_dilation < size:
                    break
                at.append(p // w.base_dilation)
            else:
                turned = tuple(w.size - 1 - t if w.window_reversal else t for t, w in zip(tap, window, strict=True))
                for i in range(inputs):
                    result[(n, o, *out)] += int(x[(row, feature + i, *at)]) * int(k[(o, i, *turned)])
    return result


convolution_dimension = st.builds(
    WindowDimension,
    size=st.integers(1, 3),
    stride=st.integers(1, 2),
    padding_low=st.integers(-1, 2),
    padding_high=st.integers(-1, 2),
    base_dilation=st.integers(1, 2),
    window_dilation=st.integers(1, 2),
    window_reversal=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_convolution_of_integers(data: st.DataObject) -> None:
    spatial = data.draw(st.integers(0, 2))
    window = tuple(data.draw(convolution_dimension) for _ in range(spatial))
    groups = data.draw(st.integers(1, 2))
    batch_groups = data.draw(st.integers(1, 2)) if groups == 1 else 1
    inputs, outputs, batch = data.draw(st.integers(1, 2)), groups * batch_groups * data.draw(st.integers(1, 2)), 2
    sizes = [data.draw(st.integers(1, 4)) for _ in range(spatial)]
    rng = np.random.default_rng(4)
    x = rng.integers(-9, 9, (batch, groups * inputs, *sizes)).astype(np.int32)
    k = rng.integers(-9, 9, (outputs, inputs, *(w.size for w in window))).astype(np.int32)
    expected = naive_convolution(x, k, window, groups, batch_groups)
    orders = [data.draw(st.permutations(range(2 + spatial))) for _ in range(3)]
    at = [list(np.argsort(o)) for o in orders]  # where the dimensions (batch, feature, space...) lie
    labels = ConvolutionDimensionNumbers(
        int(at[0][0]),
        int(at[0][1]),
        tuple(map(int, at[0][2:])),
        int(at[1][1]),
        int(at[1][0]),
        tuple(map(int, at[1][2:])),
        int(at[2][0]),
        int(at[2][1]),
        tuple(map(int, at[2][2:])),
    )
    result = run(
        "convolution",
        x.transpose(orders[0]).copy(),
        k.transpose(orders[1]).copy(),
        window=window,
        dim_labels=labels,
        feature_group_count=groups,
        batch_group_count=batch_groups,
    )
    np.testing.assert_array_equal(result, expected.transpose(orders[2]))


def test_large_convolution_goes_position_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    from xla_core.hlo.ops import convolution

    rng = np.random.default_rng(5)
    x, k = rng.normal(size=(2, 3, 6, 7)).astype(np.float32), rng.normal(size=(4, 3, 3, 2)).astype(np.float32)
    window = (WindowDimension(3, padding_low=1, padding_high=1), WindowDimension(2, stride=2))
    labels = ConvolutionDimensionNumbers(0, 1, (2, 3), 1, 0, (2, 3), 0, 1, (2, 3))
    at_once = run("convolution", x, k, window=window, dim_labels=labels)
    monkeypatch.setattr(convolution, "_LARGEST_PATCHES", 0)
    np.testing.assert_array_equal(run("convolution", x, k, window=window, dim_labels=labels), at_once)


def test_convolution_refuses_wrong_groups() -> None:
    labels = ConvolutionDimensionNumbers(0, 1, (), 1, 0, (), 0, 1, ())
    with pytest.raises(InvalidArgumentError, match="3 features, the kernel 2 x 1"):
        run("convolution", np.zeros((1, 3)), np.zeros((2, 2)), window=(), dim_labels=labels)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(dtype: type, lower: bool) -> None:
    rng = np.random.default_rng(6)
    a = rng.normal(size=(2, 4, 4)) + (1j * rng.normal(size=(2, 4, 4)) if dtype == np.complex64 else 0)
    a = (a @ np.conj(a).swapaxes(-1, -2) + 4 * np.eye(4)).astype(dtype)
    garbage = np.triu(a, 1) if lower else np.tril(a, -1)
    factor = run("cholesky", a + 7 * garbage, lower=lower)
    product = factor @ np.conj(factor).swapaxes(-1, -2) if lower else np.conj(factor).swapaxes(-1, -2) @ factor
    assert_within(8, product, a)
    assert np.isnan(run("cholesky", -np.eye(2, dtype=dtype), lower=lower)).all()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
def test_triangular_solve(left: bool, lower: bool, unit: bool, transpose: str) -> None:
    rng = np.random.default_rng(7)
    a = (rng.normal(size=(3, 4, 4)) + 1j * rng.normal(size=(3, 4, 4)) + 3 * np.eye(4)).astype(np.complex64)
    b = rng.normal(size=(3, 4, 2) if left else (3, 2, 4)).astype(np.complex64)
    x = run("triangular-solve", a, b, left_side=left, lower=lower, unit_diagonal=unit, transpose_a=transpose)
    t = np.tril(a) if lower else np.triu(a)
    if unit:
        t = t - t * np.eye(4) + np.eye(4)
    t = {"NO_TRANSPOSE": t, "TRANSPOSE": t.swapaxes(-1, -2), "ADJOINT": np.conj(t).swapaxes(-1, -2)}[transpose]
    exact = (
        np.linalg.solve(t.astype(complex), b)
        if left
        else np.linalg.solve(t.swapaxes(-1, -2).astype(complex), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    )
    condition = np.linalg.cond(t).max()
    assert_within(float(condition), x, exact.astype(np.complex64))


@pytest.mark.parametrize("length", [(8,), (5, 6), (2, 3, 4), (1,)])
def test_fft(length: tuple[int, ...]) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(2, *length)).astype(np.float32)
    z = (x + 1j * rng.normal(size=x.shape)).astype(np.complex64)
    matrices = [np.exp(-2j * np.pi * np.outer(range(n), range(n)) / n) for n in length]

    def transform(v: np.ndarray) -> np.ndarray:
        for axis, m in enumerate(matrices, start=1):
            v = np.moveaxis(np.tensordot(m, v, (1, axis)), 0, axis)
        return v

    exact = transform(z.astype(complex))
    assert_within(8, run("fft", z, fft_type="FFT", fft_length=length), exact.astype(np.complex64))
    assert_within(8, run("fft", exact, fft_type="IFFT", fft_length=length), z.astype(complex))
    half = transform(x.astype(complex))[..., : length[-1] // 2 + 1]
    spectrum = run("fft", x, fft_type="RFFT", fft_length=length)
    assert_within(8, spectrum, half.astype(np.complex64))
    assert_within(8, run("fft", spectrum, fft_type="IRFFT", fft_length=length), x)


def test_batch_norm() -> None:
    rng = np.random.default_rng(9)
    x, g = rng.normal(size=(4, 3, 5)).astype(np.float32), rng.normal(size=(4, 3, 5)).astype(np.float32)
    scale, offset = rng.normal(size=3).astype(np.float32), rng.normal(size=3).astype(np.float32)
    epsilon = 0.01

    def normalized(x: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> np.ndarray:
        mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
        return (x - mean) / np.sqrt(variance + epsilon) * scale[:, None] + offset[:, None]

    numbers = {"epsilon": epsilon, "feature_index": 1}
    y, mean, variance = run("batch-norm-training", x, scale, offset, **numbers)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, normalized(wide, scale, offset), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mean, wide.mean((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(variance, wide.var((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(
        run("batch-norm-inference", x, scale, offset, mean, variance, **numbers), y, rtol=1e-4, atol=1e-5
    )
    to_x, to_scale, to_offset = run("batch-norm-grad", x, scale, mean, variance, g, **numbers)

    def loss(x: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> float:
        return float((normalized(x, scale, offset) * g).sum())

    step = 1e-5
    for index in [(0, 0, 0), (3, 2, 4), (1, 1, 2)]:
        moved = wide.copy()
        moved[index] += step
        slope = (loss(moved, scale, offset) - loss(wide, scale, offset)) / step
        assert math.isclose(to_x[index], slope, rel_tol=1e-2, abs_tol=1e-3)
    for index in range(3):
        unit = np.eye(3)[index] * step
        assert math.isclose(
            to_scale[index],
            (loss(wide, scale + unit, offset) - loss(wide, scale, offset)) / step,
            rel_tol=1e-3,
            abs_tol=1e-3,
        )
        assert math.isclose(
            to_offset[index],
            (loss(wide, scale, offset + unit) - loss(wide, scale, offset)) / step,
            rel_tol=1e-3,
            abs_tol=1e-3,
        )


@pytest.mark.filterwarnings("error")
def test_batch_normalization_of_infinities_warns_of_nothing() -> None:
    values = np.array([[np.inf, 1], [-np.inf, 2]], np.float32)
    vector = np.ones(2, np.float32)
    result, mean, variance = run("batch-norm-training", values, vector, vector, epsilon=0.001, feature_index=1)
    assert np.isnan([mean[0], variance[0], *result[:, 0]]).all()
    assert (mean[1], variance[1]) == (1.5, 0.25)
