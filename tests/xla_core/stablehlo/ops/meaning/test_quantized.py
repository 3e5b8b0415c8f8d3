"""Quantized tensors: rounding and saturation, every storage type, per tensor and per axis; elementwise ops; movement."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

from tests.xla_core.stablehlo.ops.meaning.programs import DTYPES, main, tensor
from tests.xla_core.stablehlo.ops.meaning.quantization import Q, nearest_storage

STORAGES = ["i2", "i4", "i8", "i16", "i32", "u2", "u4", "u8", "u16", "u32"]


def zero_of(storage: str) -> int:
    return {"i2": -1, "u2": 1, "i4": -3, "u4": 7}.get(storage, 5 if storage.startswith("u") else -5)


@pytest.mark.parametrize("expressed", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("storage", STORAGES)
def test_quantize_and_dequantize(run, storage: str, expressed: str) -> None:
    """Values between and beyond those that can be stored, with a zero point of either sign."""
    q = Q(storage, (0.25,), (zero_of(storage),), expressed=expressed)
    low, high = (max(v, -(2**10)) if v < 0 else min(v, 2**10) for v in q.range)
    x = np.concatenate([np.arange(low - 3, high + 3, max(1, (high - low) // 50)) * 0.25 + 0.07, [1e4, -1e4, 0, -0.0]])
    x = x.astype(DTYPES[expressed])
    source, type, kept = tensor(x.shape, expressed), q.type(*x.shape), tensor(x.shape, q.signed_name)
    lines = [
        f"%q = stablehlo.uniform_quantize %a0 : ({source}) -> {type}",
        f"%s = stablehlo.bitcast_convert %q : ({type}) -> {kept}",
        f"%d = stablehlo.uniform_dequantize %q : ({type}) -> {source}",
    ]
    stored, back = run(main([source], lines, [("%s", kept), ("%d", source)]), x)
    wide = x.astype(np.float64)
    nearest_storage(stored, wide, q, slack=2 * float(ml_dtypes.finfo(x.dtype).eps) * np.abs(q.scaled(wide)) + 1e-6)
    want = q.value(stored).astype(DTYPES[expressed])
    np.testing.assert_array_equal(back.astype(np.float64), want.astype(np.float64))


@pytest.mark.parametrize("zero", [-3, 0, 1, 4])
def test_ties_go_to_even_after_the_zero_point(run, zero: int) -> None:
    q = Q("i8", (0.5,), (zero,))
    x = (np.arange(-20, 21) / 4).astype(np.float32)
    line = f"%0 = stablehlo.uniform_quantize %a0 : ({tensor(x.shape, 'f32')}) -> {q.type(*x.shape)}"
    (got,) = run(main([tensor(x.shape, "f32")], [line], [("%0", q.type(*x.shape))]), x)
    np.testing.assert_array_equal(got, q.quantize(x))


@pytest.mark.parametrize("bounds", [(-10, 10), (0, 100), (-128, -1)])
def test_a_narrowed_range(run, bounds: tuple[int, int]) -> None:
    q = Q("i8", (0.5,), (-1 if bounds[0] < -1 else 3,), bounds=bounds)
    x = np.linspace(-80, 80, 99).astype(np.float32)
    line = f"%0 = stablehlo.uniform_quantize %a0 : ({tensor(x.shape, 'f32')}) -> {q.type(*x.shape)}"
    (got,) = run(main([tensor(x.shape, "f32")], [line], [("%0", q.type(*x.shape))]), x)
    np.testing.assert_array_equal(got, q.quantize(x))
    assert (got.min(), got.max()) == bounds


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("storage", ["i4", "i8", "u8", "i16"])
def test_per_axis(run, storage: str, axis: int) -> None:
    shape = (2, 3, 4)
    n = shape[axis]
    q = Q(storage, tuple(0.25 * 2**i for i in range(n)), tuple(zero_of(storage) + i for i in range(n)), axis)
    x = np.random.default_rng(1).uniform(-9, 9, shape).astype(np.float32)
    source = tensor(shape, "f32")
    lines = [
        f"%q = stablehlo.uniform_quantize %a0 : ({source}) -> {q.type(*shape)}",
        f"%d = stablehlo.uniform_dequantize %q : ({q.type(*shape)}) -> {source}",
    ]
    stored, back = run(main([source], lines, [("%q", q.type(*shape)), ("%d", source)]), x)
    nearest_storage(stored, x.astype(np.float64), q)
    np.testing.assert_array_equal(back, q.value(stored).astype(np.float32))


def test_requantization(run) -> None:
    a, b = Q("i8", (0.5,), (3,)), Q("i8", (0.75,), (-7,))
    x = np.arange(-128, 128).astype(np.int8)
    line = f"%0 = stablehlo.uniform_quantize %a0 : ({a.type(256)}) -> {b.type(256)}"
    (got,) = run(main([a.type(256)], [line], [("%0", b.type(256))]), x)
    nearest_storage(got, a.value(x), b)


def test_large_storage_is_not_rounded_before_the_zero_point_is_taken_off(run) -> None:
    q = Q("i32", (1.0,), (2**24 + 1,))
    x = np.array([2**24 + 1, 2**24 + 2, 2**24, 2**24 + 4], np.int32)
    line = f"%0 = stablehlo.uniform_dequantize %a0 : ({q.type(4)}) -> {tensor((4,), 'f32')}"
    (got,) = run(main([q.type(4)], [line], [("%0", tensor((4,), "f32"))]), x)
    assert got.tolist() == [0, 1, -1, 3]


UNARY = {
    "abs": np.abs,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "floor": np.floor,
    "logistic": scipy.special.expit,
    "negate": np.negative,
    "round_nearest_even": np.rint,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "sign": np.sign,
    "sine": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
}
POSITIVE = {"log": np.log, "log_plus_one": np.log1p, "rsqrt": lambda x: 1 / np.sqrt(x), "sqrt": np.sqrt}
BINARY = {
    "add": np.add,
    "atan2": np.arctan2,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "subtract": np.subtract,
}


@pytest.mark.parametrize("storage", ["i8", "u8", "i16", "i4"])
def test_functions_go_through_the_expressed_type(run, storage: str) -> None:
    a, b, r = (Q(storage, (s,), (z,)) for s, z in ((0.03, zero_of(storage)), (0.05, 1), (0.02, 3)))
    rng = np.random.default_rng(4)
    x, y = a.random(rng, 200), b.random(rng, 200)
    y = np.where(y == b.dtype.type(1), b.dtype.type(2), y)  # nothing is divided by 0
    positive = np.where(x.astype(np.int64) <= a.zeros[0], np.array(a.zeros[0] + 1).astype(a.dtype), x)
    types = [a.type(200), b.type(200), a.type(200)]
    lines = [f'%{n} = "stablehlo.{n}"(%a0) : ({types[0]}) -> {r.type(200)}' for n in UNARY]
    lines += [f'%{n} = "stablehlo.{n}"(%a2) : ({types[2]}) -> {r.type(200)}' for n in POSITIVE]
    lines += [f'%{n} = "stablehlo.{n}"(%a0, %a1) : ({types[0]}, {types[1]}) -> {r.type(200)}' for n in BINARY]
    names = [*UNARY, *POSITIVE, *BINARY]
    outs = run(main(types, lines, [(f"%{n}", r.type(200)) for n in names]), x, y, positive)
    u, v, p = a.value(x), b.value(y), a.value(positive)
    for name, got in zip(names, outs, strict=True):
        want = UNARY[name](u) if name in UNARY else POSITIVE[name](p) if name in POSITIVE else BINARY[name](u, v)
        # Where a function jumps, its float32 argument may lie on the other side than the exact one.
        smooth = (
            np.abs(u - np.rint(u * 2) / 2) > 1e-4
            if name in ("ceil", "floor") or "round" in name
            else np.full(200, True)
        )
        if name == "tan":
            smooth = np.abs(np.cos(u)) > 0.1
        nearest_storage(got[smooth], want[smooth], r, slack=2e-2)


def test_compare_select_and_clamp(run) -> None:
    a, b = Q("i8", (0.5,), (3,)), Q("i8", (0.25,), (-2,))
    rng = np.random.default_rng(5)
    x, y, z = a.random(rng, 99), b.random(rng, 99), a.random(rng, 99)
    bools = tensor((99,), "i1")
    types = [a.type(99), b.type(99), a.type(99)]
    lines = [
        f"%{d} = stablehlo.compare {d}, %a0, %a1 : ({types[0]}, {types[1]}) -> {bools}" for d in ("LT", "EQ", "GE")
    ]
    lines.append(f'%select = "stablehlo.select"(%LT, %a0, %a2) : ({bools}, {types[0]}, {types[2]}) -> {types[0]}')
    lines.append(f"%low = stablehlo.minimum %a0, %a2 : {types[0]}")
    lines.append(f"%high = stablehlo.maximum %a0, %a2 : {types[0]}")
    lines.append(f"%clamp = stablehlo.clamp %low, %a2, %high : ({types[0]}, {types[0]}, {types[0]}) -> {types[0]}")
    outs = run(
        main(
            types, lines, [*((f"%{d}", bools) for d in ("LT", "EQ", "GE")), ("%select", types[0]), ("%clamp", types[0])]
        ),
        x,
        y,
        z,
    )
    u, v = a.value(x), b.value(y)
    for got, want in zip(outs[:3], (u < v, u == v, u >= v), strict=True):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(outs[3], np.where(u < v, x, z))
    np.testing.assert_array_equal(outs[4], z)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_sum_per_axis(run, axis: int) -> None:
    shape = (2, 3, 4)
    n = shape[axis]
    a = Q("i8", tuple(0.5 + i for i in range(n)), tuple(range(n)), axis)
    r = Q("i8", tuple(1.5 + i for i in range(n)), tuple(range(-n, 0)), axis)
    rng = np.random.default_rng(6)
    x, y = a.random(rng, *shape), a.random(rng, *shape)
    line = f"%0 = stablehlo.add %a0, %a1 : ({a.type(*shape)}, {a.type(*shape)}) -> {r.type(*shape)}"
    (got,) = run(main([a.type(*shape), a.type(*shape)], [line], [("%0", r.type(*shape))]), x, y)
    nearest_storage(got, a.value(x) + a.value(y), r)


@pytest.mark.parametrize("storage", ["i4", "i8", "u8", "i32", "i2"])
def test_ops_that_move_elements_move_what_is_stored(run, storage: str) -> None:
    q = Q(storage, (0.5,), (zero_of(storage),))
    rng = np.random.default_rng(7)
    x, y = q.random(rng, 3, 4), q.random(rng, 3, 4)
    fill = q.random(rng)
    index = np.array([[2], [0]], np.int32)
    a = q.type(3, 4)
    moves = {
        "reshape": (f"stablehlo.reshape %a0 : ({a}) -> {q.type(2, 6)}", (2, 6), x.reshape(2, 6)),
        "transpose": (f"stablehlo.transpose %a0, dims = [1, 0] : ({a}) -> {q.type(4, 3)}", (4, 3), x.T),
        "broadcast": (
            f"stablehlo.broadcast_in_dim %a0, dims = [1, 2] : ({a}) -> {q.type(2, 3, 4)}",
            (2, 3, 4),
            np.broadcast_to(x, (2, 3, 4)),
        ),
        "concatenate": (
            f"stablehlo.concatenate %a0, %a1, dim = 1 : ({a}, {a}) -> {q.type(3, 8)}",
            (3, 8),
            np.concatenate([x, y], 1),
        ),
        "slice": (f"stablehlo.slice %a0 [0:3:2, 1:4] : ({a}) -> {q.type(2, 3)}", (2, 3), x[0:3:2, 1:4]),
        "reverse": (f"stablehlo.reverse %a0, dims = [0, 1] : {a}", (3, 4), x[::-1, ::-1]),
        "pad": (
            f"stablehlo.pad %a0, %a2, low = [1, 0], high = [0, -1], interior = [0, 1] : ({a}, {q.type()}) -> {q.type(4, 6)}",
            (4, 6),
            None,
        ),
        "gather": (
            f'"stablehlo.gather"(%a0, %a3) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
            "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} "
            f": ({a}, tensor<2x1xi32>) -> {q.type(2, 4)}",
            (2, 4),
            x[[2, 0]],
        ),
        "dynamic_slice": (
            f"stablehlo.dynamic_slice %a0, %one, %one, sizes = [2, 2] : ({a}, tensor<i32>, tensor<i32>) -> {q.type(2, 2)}",
            (2, 2),
            x[1:3, 1:3],
        ),
        "dynamic_update_slice": (
            f"stablehlo.dynamic_update_slice %a0, %ds, %one, %one : ({a}, {q.type(2, 2)}, tensor<i32>, tensor<i32>) -> {a}",
            (3, 4),
            x,
        ),
        "barrier": (f"stablehlo.optimization_barrier %a0 : {a}", (3, 4), x),
    }
    padded = np.full((4, 7), fill)
    padded[1:, ::2] = x
    want = {name: v for name, (_, _, v) in moves.items()} | {"pad": padded[:, :6]}
    names = {"dynamic_slice": "ds"}
    lines = ["%one = stablehlo.constant dense<1> : tensor<i32>"]
    lines += [f"%{names.get(n, n)} = {text}" for n, (text, _, _) in moves.items()]
    results = [(f"%{names.get(n, n)}", q.type(*shape)) for n, (_, shape, _) in moves.items()]
    outs = run(main([a, a, q.type(), "tensor<2x1xi32>"], lines, results), x, y, fill, index)
    for name, got in zip(moves, outs, strict=True):
        assert got.dtype == q.dtype, name
        np.testing.assert_array_equal(got, want[name], err_msg=name)


@pytest.mark.parametrize("permutation", [(0, 2, 1), (2, 0, 1), (1, 2, 0)])
def test_the_axis_of_scales_goes_where_its_dimension_goes(run, permutation: tuple[int, ...]) -> None:
    q = Q("i8", (0.5, 1.0, 2.0), (0, 1, -2), axis=1)
    moved = Q("i8", q.scales, q.zeros, axis=permutation.index(1))
    x = q.random(np.random.default_rng(8), 2, 3, 4)
    shape = tuple(x.shape[d] for d in permutation)
    lines = [
        f"%t = stablehlo.transpose %a0, dims = {list(permutation)} : ({q.type(2, 3, 4)}) -> {moved.type(*shape)}",
        f"%d = stablehlo.uniform_dequantize %t : ({moved.type(*shape)}) -> {tensor(shape, 'f32')}",
    ]
    (got,) = run(main([q.type(2, 3, 4)], lines, [("%d", tensor(shape, "f32"))]), x)
    np.testing.assert_array_equal(got, q.value(x).transpose(permutation))


def test_constants_hold_what_is_stored(run) -> None:
    q = Q("i8", (0.5,), (3,))
    lines = ["", f"%1 = stablehlo.uniform_dequantize %0 : ({q.type(3)}) -> tensor<3xf32>"]
    lines[0] = f'%0 = "stablehlo.constant"() {{value = dense<[1, -128, 127]> : tensor<3xi8>}} : () -> {q.type(3)}'
    (got,) = run(main([], lines, [("%1", "tensor<3xf32>")]))
    assert got.tolist() == [-1, -65.5, 62]
