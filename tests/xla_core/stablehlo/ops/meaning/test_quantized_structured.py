"""Quantized products, convolutions, reductions, windows, sorts, scatters, loops and normalization."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import main, tensor
from tests.xla_core.stablehlo.ops.meaning.quantization import Q, nearest_storage

WEIGHTS = {  # the specification asks for zero points of 0
    "per tensor": Q("i8", (0.25,)),
    "narrow": Q("i4", (0.5,)),
    "per axis": Q("i8", (0.25, 0.5, 0.125, 1.0, 0.75), (0,) * 5, axis=1),
}


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("hybrid", [False, True])
def test_dot_general(run, kind: str, hybrid: bool) -> None:
    """x [4, 6] times w [6, 5]; hybrid: float x and result."""
    rng = np.random.default_rng(1)
    a, w = Q(WEIGHTS[kind].storage, (0.1,), (1,)), WEIGHTS[kind]
    r = Q("i32", (2.0**-10,), (0,)) if w.axis is None else Q("i32", tuple(2.0**-10 for _ in w.scales), (0,) * 5, axis=1)
    weights = w.random(rng, 6, 5)
    x = rng.normal(size=(4, 6)).astype(np.float32) if hybrid else a.random(rng, 4, 6)
    left = tensor((4, 6), "f32") if hybrid else a.type(4, 6)
    result = tensor((4, 5), "f32") if hybrid else r.type(4, 5)
    line = f"%0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({left}, {w.type(6, 5)}) -> {result}"
    (got,) = run(main([left, w.type(6, 5)], [line], [("%0", result)]), x, weights)
    want = (x.astype(np.float64) if hybrid else a.value(x)) @ w.value(weights)
    if hybrid:
        size = np.abs(x).astype(np.float64) @ np.abs(w.value(weights))
        assert np.all(np.abs(got - want) <= 8 * 2.0**-23 * size)
    else:
        nearest_storage(got, want, r, slack=2.0**-10)


def test_batched_dot_general_requantizes(run) -> None:
    rng = np.random.default_rng(2)
    a, b, r = Q("i8", (0.1,), (1,)), Q("i8", (0.2,)), Q("i8", (1.5,), (7,))
    x, y = a.random(rng, 2, 3, 4), b.random(rng, 2, 5, 4)
    line = (
        "%0 = stablehlo.dot_general %a0, %a1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
        f"({a.type(2, 3, 4)}, {b.type(2, 5, 4)}) -> {r.type(2, 3, 5)}"
    )
    (got,) = run(main([a.type(2, 3, 4), b.type(2, 5, 4)], [line], [("%0", r.type(2, 3, 5))]), x, y)
    nearest_storage(got, np.einsum("bik,bjk->bij", a.value(x), b.value(y)), r)


def convolved(x: np.ndarray, k: np.ndarray) -> np.ndarray:
    """NHWC by HWIO, stride 2, one row and column of zeros before."""
    padded = np.pad(x, ((0, 0), (1, 0), (1, 0), (0, 0)))
    height, width = ((padded.shape[d] - k.shape[d - 1]) // 2 + 1 for d in (1, 2))
    out = np.zeros((len(x), height, width, k.shape[3]))
    for i in range(height):
        for j in range(width):
            window = padded[:, 2 * i : 2 * i + k.shape[0], 2 * j : 2 * j + k.shape[1]]
            out[:, i, j] = np.einsum("nhwc,hwco->no", window, k)
    return out


@pytest.mark.parametrize("per_axis", [False, True])
@pytest.mark.parametrize("hybrid", [False, True])
def test_convolution(run, per_axis: bool, hybrid: bool) -> None:
    """Padding stands for 0: it is the zero point, not a stored 0."""
    rng = np.random.default_rng(3)
    a = Q("i8", (0.1,), (5,))
    w = Q("i8", (0.25, 0.5, 1.0), (0, 2, -3), axis=3) if per_axis else Q("i8", (0.25,), (-2,))
    r = Q("i32", (2.0**-8,) * 3, (0,) * 3, axis=3) if per_axis else Q("i8", (4.0,), (3,))
    kernel = w.random(rng, 3, 2, 2, 3)
    x = rng.normal(size=(2, 5, 6, 2)).astype(np.float32) if hybrid else a.random(rng, 2, 5, 6, 2)
    want = convolved(x.astype(np.float64) if hybrid else a.value(x), w.value(kernel))
    left = tensor(x.shape, "f32") if hybrid else a.type(*x.shape)
    result = tensor(want.shape, "f32") if hybrid else r.type(*want.shape)
    line = (
        "%0 = stablehlo.convolution(%a0, %a1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = "
        "[2, 2], pad = [[1, 0], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
        f"({left}, {w.type(*kernel.shape)}) -> {result}"
    )
    (got,) = run(main([left, w.type(*kernel.shape)], [line], [("%0", result)]), x, kernel)
    if hybrid:
        assert np.all(np.abs(got - want) <= 32 * 2.0**-23 * np.abs(want).max())
    else:
        nearest_storage(got, want, r, slack=2e-3)


def region(q: Q, op: str) -> str:
    scalar = q.type()
    return (
        f"({{\n  ^bb0(%x: {scalar}, %y: {scalar}):\n    %s = stablehlo.{op} %x, %y : {scalar}\n"
        f"    stablehlo.return %s : {scalar}\n  }})"
    )


@pytest.mark.parametrize("op", ["maximum", "minimum", "add"])
def test_reduce_and_windows(run, op: str) -> None:
    """With one type throughout, sums of the real values are exact as long as none saturates."""
    q = Q("i16", (0.5,), (3,))
    rng = np.random.default_rng(4)
    x = rng.integers(-90, 90, (4, 6)).astype(np.int16)
    start = np.array({"maximum": -32768, "minimum": 32767, "add": 3}[op], np.int16)
    a, scalar = q.type(4, 6), q.type()
    lines = [
        f'%r = "stablehlo.reduce"(%a0, %a1) {region(q, op)} {{dimensions = array<i64: 1>}} : ({a}, {scalar}) -> {q.type(4)}',
        f'%w = "stablehlo.reduce_window"(%a0, %a1) {region(q, op)} {{window_dimensions = array<i64: 2, 3>, '
        f"window_strides = array<i64: 2, 3>}} : ({a}, {scalar}) -> {q.type(2, 2)}",
    ]
    reduced, windows = run(main([a, scalar], lines, [("%r", q.type(4)), ("%w", q.type(2, 2))]), x, start)
    function = {"maximum": np.max, "minimum": np.min, "add": np.sum}[op]
    value = q.value(x)
    np.testing.assert_array_equal(reduced, q.quantize(function(value, 1)))
    np.testing.assert_array_equal(windows, q.quantize(function(value.reshape(2, 2, 2, 3), (1, 3))))


def test_sort_scatter_map_and_while(run) -> None:
    q = Q("i8", (0.5,), (3,))
    rng = np.random.default_rng(5)
    x, u = q.random(rng, 8), q.random(rng, 3)
    index = np.array([[1], [6], [1]], np.int32)
    a, scalar = q.type(8), q.type()
    lines = [
        f'%sorted = "stablehlo.sort"(%a0) ({{\n  ^bb0(%x: {scalar}, %y: {scalar}):\n    %c = stablehlo.compare LT, %x, %y : '
        f"({scalar}, {scalar}) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }}) {{dimension = 0 : i64}} : ({a}) -> {a}",
        f'%scattered = "stablehlo.scatter"(%a0, %a2, %a1) {region(q, "maximum")} {{scatter_dimension_numbers = '
        "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : "
        f"({a}, tensor<3x1xi32>, {q.type(3)}) -> {a}",
        f'%mapped = "stablehlo.map"(%a0, %a0) {region(q, "add")} {{dimensions = array<i64: 0>}} : ({a}, {a}) -> {a}',
        "%zero = stablehlo.constant dense<0> : tensor<i32>",
        f"%looped:2 = stablehlo.while(%i = %zero, %v = %a0) : tensor<i32>, {a} cond {{\n    %n = stablehlo.constant dense<2> : "
        "tensor<i32>\n    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return "
        "%c : tensor<i1>\n  } do {\n    %one = stablehlo.constant dense<1> : tensor<i32>\n    %j = stablehlo.add %i, %one : "
        f"tensor<i32>\n    %d = stablehlo.add %v, %v : {a}\n    stablehlo.return %j, %d : tensor<i32>, {a}\n  }}",
    ]
    results = [(n, a) for n in ("%sorted", "%scattered", "%mapped", "%looped#1")]
    outs = run(main([a, q.type(3), "tensor<3x1xi32>"], lines, results), x, u, index)
    np.testing.assert_array_equal(outs[0], np.sort(x))
    want = x.copy()
    np.maximum.at(want, index[:, 0], u)
    np.testing.assert_array_equal(outs[1], want)
    doubled = q.quantize(2 * q.value(x))
    np.testing.assert_array_equal(outs[2], doubled)
    np.testing.assert_array_equal(outs[3], q.quantize(2 * q.value(doubled)))


def test_batch_norm_inference(run) -> None:
    x, p, r = Q("i8", (0.1,), (3,)), Q("i8", (0.05,), (-100,)), Q("i8", (0.25,), (1,))
    rng = np.random.default_rng(6)
    arrays = [x.random(rng, 5, 3), *(rng.integers(-90, 100, 3).astype(np.int8) for _ in range(4))]
    types = [x.type(5, 3)] + [p.type(3)] * 4
    line = (
        '%0 = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} '
        f": ({', '.join(types)}) -> {r.type(5, 3)}"
    )
    (got,) = run(main(types, [line], [("%0", r.type(5, 3))]), *arrays)
    v, (scale, offset, mean, variance) = x.value(arrays[0]), (p.value(a) for a in arrays[1:])
    nearest_storage(got, (v - mean) / np.sqrt(variance + 1e-3) * scale + offset, r, slack=1e-2)


@pytest.mark.parametrize("dims", [[0, 1], [1, 2]])
def test_broadcast_keeps_the_axis_of_scales(run, dims: list[int]) -> None:
    q = Q("i8", (0.5, 1.0, 2.0), (0, 1, -2), axis=1)
    result = Q("i8", q.scales, q.zeros, axis=dims[1])
    shape = (2, 3, 4) if dims == [0, 1] else (5, 2, 3)
    x = q.random(np.random.default_rng(7), 2, 3)
    lines = [
        f"%b = stablehlo.broadcast_in_dim %a0, dims = {dims} : ({q.type(2, 3)}) -> {result.type(*shape)}",
        f"%d = stablehlo.uniform_dequantize %b : ({result.type(*shape)}) -> {tensor(shape, 'f32')}",
    ]
    (got,) = run(main([q.type(2, 3)], lines, [("%d", tensor(shape, "f32"))]), x)
    value = q.value(x)
    np.testing.assert_array_equal(got, np.broadcast_to(value[..., None] if dims == [0, 1] else value, shape))


def test_iota_counts_in_the_expressed_type(run) -> None:
    q = Q("i8", (0.5,), (3,))
    (got,) = run(main([], [f"%0 = stablehlo.iota dim = 0 : {q.type(5)}"], [("%0", q.type(5))]))
    np.testing.assert_array_equal(got, q.quantize(np.arange(5)))
