from __future__ import annotations

import numpy as np
import pytest

from xla_core.hlo.evaluator import evaluate
from xla_core.stablehlo import to_hlo


def quantize(x: np.ndarray, scale: np.ndarray | float, zero: np.ndarray | int, low: int = -128, high: int = 127):
    return np.clip(np.round(x.astype(np.float32) / np.float32(scale) + zero), low, high).astype(np.int8)


def run(text: str, *arrays: np.ndarray):
    return evaluate(to_hlo(text), *arrays)


def quantizing(type: str, x: np.ndarray):
    """The integers that `uniform_quantize` to a type stores, and the values that `uniform_dequantize` makes of them."""
    source = "tensor<" + "x".join([*map(str, x.shape), "f32"]) + ">"
    quantized = "tensor<" + "x".join([*map(str, x.shape), f"!quant.uniform<{type}>"]) + ">"
    storage = source.replace("f32", "ui8" if type.startswith("u8") else "i8")
    return run(
        f"""func.func @main(%x: {source}) -> ({storage}, {source}) {{
          %q = stablehlo.uniform_quantize %x : ({source}) -> {quantized}
          %s = stablehlo.bitcast_convert %q : ({quantized}) -> {storage}
          %d = stablehlo.uniform_dequantize %q : ({quantized}) -> {source}
          return %s, %d : {storage}, {source}
        }}""",
        x,
    )


X = np.array([[-100.0, -0.25, 0.0], [0.75, 1.25, 100.0]], np.float32)


def test_per_tensor():
    stored, expressed = quantizing("i8:f32, 0.5:3", X)
    np.testing.assert_array_equal(stored, quantize(X, 0.5, 3))
    np.testing.assert_array_equal(expressed, (stored.astype(np.float32) - 3) * 0.5)


def test_unsigned_and_narrowed_storage():
    stored, _ = quantizing("u8:f32, 0.5:128", X)
    np.testing.assert_array_equal(stored, np.clip(np.round(X / 0.5) + 128, 0, 255))
    stored, _ = quantizing("i8<-10:10>:f32, 0.5", X)
    np.testing.assert_array_equal(stored, np.clip(np.round(X / 0.5), -10, 10))


def test_per_axis():
    stored, expressed = quantizing("i8:f32:1, {0.5:3, 0.25, 2.0:-7}", X)
    scales, zeros = np.array([0.5, 0.25, 2], np.float32), np.array([3, 0, -7])
    np.testing.assert_array_equal(stored, quantize(X, scales, zeros))
    np.testing.assert_array_equal(expressed, (stored - zeros.astype(np.float32)) * scales)


Q = "tensor<2x3x!quant.uniform<i8:f32, {}>>"


@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
def test_an_op_goes_through_the_expressed_type(name: str):
    a, b, r = Q.format("0.5:3"), Q.format("0.25"), Q.format("1.0:-5")
    (got,) = run(
        f"""func.func @main(%x: {a}, %y: {b}) -> {r} {{
          %0 = "stablehlo.{name}"(%x, %y) : ({a}, {b}) -> {r}
          return %0 : {r}
        }}""",
        x := np.array([[1, 2, 3], [-4, 50, 60]], np.int8),
        y := np.array([[9, 8, 7], [-6, 5, 4]], np.int8),
    )
    expressed = getattr(np, name)((x.astype(np.float32) - 3) * 0.5, y.astype(np.float32) * 0.25)
    np.testing.assert_array_equal(got, quantize(expressed, 1.0, -5))


def test_ops_that_move_elements_move_the_storage():
    a, r = Q.format("0.5:3"), "tensor<3x2x!quant.uniform<i8:f32, 0.5:3>>"
    text = f"""func.func @main(%x: {a}) -> {r} {{
      %0 = stablehlo.transpose %x, dims = [1, 0] : ({a}) -> {r}
      return %0 : {r}
    }}"""
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    np.testing.assert_array_equal(run(text, x)[0], x.T)
    assert [i.opcode for i in to_hlo(text).entry.instructions] == ["parameter", "transpose"]


def test_a_dot_of_floats_and_quantized_weights():
    w = "tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>"
    text = f"""func.func @main(%x: tensor<2x3xf32>, %w: {w}) -> tensor<2x2xf32> {{
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, {w}) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }}"""
    weights = np.arange(6, dtype=np.int8).reshape(3, 2)
    want = X @ (weights * np.array([0.5, 0.25], np.float32))
    np.testing.assert_allclose(run(text, X, weights)[0], want, rtol=1e-6)
