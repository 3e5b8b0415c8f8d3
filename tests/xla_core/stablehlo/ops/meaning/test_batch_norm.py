"""Batch normalization against its formulas in float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import DTYPES, main, tensor, type_of

SHAPES = [((4, 3, 5), 1), ((6, 2), 1), ((3, 4, 2, 2), 0), ((2, 2, 5), 2), ((7,), 0)]
TYPES = ["f16", "bf16", "f32", "f64"]
EPSILON = float(np.float32(1e-3))  # the attribute is an f32, whatever the operands are


def operands(element: str, shape: tuple[int, ...], feature: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    dtype = DTYPES[element]
    n = shape[feature]
    x, dy = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    scale, offset, mean = (rng.normal(size=n).astype(dtype) for _ in range(3))
    return x, dy, scale, offset, mean, rng.uniform(0.5, 2, n).astype(dtype)


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    return [a.astype(np.float64) for a in arrays]


def along(v: np.ndarray, rank: int, feature: int) -> np.ndarray:
    return v.reshape([-1 if d == feature else 1 for d in range(rank)])


def check(got: np.ndarray, want: np.ndarray, element: str, roundings: float, magnitude: np.ndarray) -> None:
    """Within so many roundings of the largest term that was summed."""
    assert got.dtype == DTYPES[element]
    eps = float(ml_dtypes.finfo(DTYPES[element]).eps)
    error = np.abs(got.astype(np.float64) - want)
    assert np.max(error - roundings * eps * np.max(np.abs(magnitude))) <= 0, (
        error.max() / eps / np.max(np.abs(magnitude))
    )


@pytest.mark.parametrize(("shape", "feature"), SHAPES)
@pytest.mark.parametrize("element", TYPES)
def test_inference(run, element: str, shape, feature: int) -> None:
    x, _, scale, offset, mean, variance = operands(element, shape, feature, 1)
    arrays = [x, scale, offset, mean, variance]
    types = [type_of(a) for a in arrays]
    text = main(
        types,
        [
            f'%0 = "stablehlo.batch_norm_inference"(%a0, %a1, %a2, %a3, %a4) {{epsilon = 1.0e-3 : f32, '
            f"feature_index = {feature} : i64}} : ({', '.join(types)}) -> {types[0]}"
        ],
        [("%0", types[0])],
    )
    (got,) = run(text, *arrays)
    wx, ws, wo, wm, wv = (a if a.ndim == x.ndim and x.ndim > 1 else along(a, x.ndim, feature) for a in wide(*arrays))
    wx = x.astype(np.float64)
    centred = (wx - wm) / np.sqrt(wv + EPSILON)
    check(got, centred * ws + wo, element, 8, np.abs(centred * ws) + np.abs(wo) + np.abs(wx) + np.abs(wm))


@pytest.mark.parametrize(("shape", "feature"), SHAPES)
@pytest.mark.parametrize("element", TYPES)
def test_training(run, element: str, shape, feature: int) -> None:
    x, _, scale, offset, _, _ = operands(element, shape, feature, 2)
    types = [type_of(a) for a in (x, scale, offset)]
    text = main(
        types,
        [
            f'%0:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) {{epsilon = 1.0e-3 : f32, feature_index = '
            f"{feature} : i64}} : ({', '.join(types)}) -> ({types[0]}, {types[1]}, {types[1]})"
        ],
        [("%0#0", types[0]), ("%0#1", types[1]), ("%0#2", types[1])],
    )
    got, mean, variance = run(text, x, scale, offset)
    wx, ws, wo = wide(x, scale, offset)
    axes = tuple(d for d in range(x.ndim) if d != feature)
    wm, wv = wx.mean(axes), wx.var(axes)
    check(mean, wm, element, 4, wx)
    check(variance, wv, element, 16, wx**2)
    rank = x.ndim
    if not axes:
        wm, wv = wx, np.zeros_like(wx)
    centred = (wx - along(wm, rank, feature)) / np.sqrt(along(wv, rank, feature) + EPSILON)
    want = centred * along(ws, rank, feature) + along(wo, rank, feature)
    gain = np.max(np.abs(ws)) / np.sqrt(np.min(wv) + EPSILON)
    check(got, want, element, 16, np.array(gain * np.max(np.abs(wx)) * (1 + np.max(wx**2))))


@pytest.mark.parametrize(("shape", "feature"), SHAPES[:4])
@pytest.mark.parametrize("element", TYPES)
def test_grad(run, element: str, shape, feature: int) -> None:
    """The derivative of training, with the batch's own mean and variance."""
    x, dy, scale, _, mean, variance = operands(element, shape, feature, 3)
    arrays = [x, scale, mean, variance, dy]
    types = [type_of(a) for a in arrays]
    text = main(
        types,
        [
            f'%0:3 = "stablehlo.batch_norm_grad"(%a0, %a1, %a2, %a3, %a4) {{epsilon = 1.0e-3 : f32, feature_index = '
            f"{feature} : i64}} : ({', '.join(types)}) -> ({types[0]}, {types[1]}, {types[1]})"
        ],
        [("%0#0", types[0]), ("%0#1", types[1]), ("%0#2", types[1])],
    )
    outs = run(text, *arrays)
    wx, ws, wm, wv, wdy = wide(*arrays)
    rank, axes = x.ndim, tuple(d for d in range(x.ndim) if d != feature)
    ws, wm, wv = (along(v, rank, feature) for v in (ws, wm, wv))
    count = wx.size / shape[feature]
    deviation = np.sqrt(wv + EPSILON)
    normal = (wx - wm) / deviation
    d_scale, d_offset = (wdy * normal).sum(axes), wdy.sum(axes)
    d_x = (
        ws / deviation / count * (count * wdy - along(d_offset, rank, feature) - normal * along(d_scale, rank, feature))
    )
    size = np.abs(wdy).sum(axes).max() * (1 + np.abs(normal).max()) ** 2 * (1 + np.abs(ws / deviation).max())
    for got, want in zip(outs, (d_x, d_scale, d_offset), strict=True):
        check(got, want, element, 16, np.array(size))


def test_features_without_elements(run) -> None:
    type, one = tensor((0, 3), "f32"), tensor((3,), "f32")
    text = main(
        [type, one, one],
        [
            '%0:3 = "stablehlo.batch_norm_training"(%a0, %a1, %a2) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64} '
            f": ({type}, {one}, {one}) -> ({type}, {one}, {one})"
        ],
        [("%0#0", type)],
    )
    assert run(text, np.zeros((0, 3), np.float32), np.ones(3, np.float32), np.ones(3, np.float32))[0].shape == (0, 3)
