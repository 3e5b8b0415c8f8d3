"""Ops that move, sum, sort and contract, on arrays of every narrow type."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import (
    DTYPES,
    NARROW_FLOATS,
    NARROW_INTEGERS,
    every_value,
    main,
    tensor,
)

NARROW = [*NARROW_FLOATS, "f8E8M0FNU", *NARROW_INTEGERS]
EACH = pytest.mark.parametrize("element", NARROW)


def values(element: str, *shape: int, seed: int = 0) -> np.ndarray:
    """Finite values of the type."""
    every = every_value(element)
    return np.random.default_rng(seed).choice(every[np.isfinite(every.astype(np.float64))], shape)


def equal(got: np.ndarray, want: np.ndarray, name: str) -> None:
    assert got.dtype == want.dtype, name
    np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64), err_msg=name)


@EACH
def test_elements_move(run, element: str) -> None:
    x, y, fill = values(element, 3, 5), values(element, 3, 5, seed=1), values(element, seed=2)

    def t(*shape: int) -> str:
        return tensor(shape, element)

    index = np.array([[2], [0], [1], [2]], np.int32)
    predicate = np.arange(15).reshape(3, 5) % 3 == 0
    padded = np.full((5, 9), fill)
    padded[1:4, ::2] = x
    updated = x.copy()
    updated[1:3, 2:4] = y[:2, :2]
    # name: (text, shape, what numpy makes of it)
    ops = {
        "reshape": (f"stablehlo.reshape %a0 : ({t(3, 5)}) -> {t(15)}", x.reshape(15)),
        "transpose": (f"stablehlo.transpose %a0, dims = [1, 0] : ({t(3, 5)}) -> {t(5, 3)}", x.T),
        "broadcast": (
            f"stablehlo.broadcast_in_dim %a0, dims = [0, 2] : ({t(3, 5)}) -> {t(3, 2, 5)}",
            np.broadcast_to(x[:, None], (3, 2, 5)),
        ),
        "concatenate": (
            f"stablehlo.concatenate %a0, %a1, dim = 1 : ({t(3, 5)}, {t(3, 5)}) -> {t(3, 10)}",
            np.concatenate([x, y], 1),
        ),
        "slice": (f"stablehlo.slice %a0 [1:3, 0:5:2] : ({t(3, 5)}) -> {t(2, 3)}", x[1:3, ::2]),
        "reverse": (f"stablehlo.reverse %a0, dims = [0, 1] : {t(3, 5)}", x[::-1, ::-1]),
        "pad": (
            f"stablehlo.pad %a0, %a2, low = [1, 0], high = [1, 0], interior = [0, 1] : ({t(3, 5)}, {t()}) -> {t(5, 9)}",
            padded,
        ),
        "select": (
            f"stablehlo.select %a4, %a0, %a1 : ({tensor((3, 5), 'i1')}, {t(3, 5)}, {t(3, 5)}) -> {t(3, 5)}",
            np.where(predicate, x, y),
        ),
        "gather": (
            f'"stablehlo.gather"(%a0, %a3) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims '
            f"= [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}} : ({t(3, 5)}, "
            f"tensor<4x1xi32>) -> {t(4, 5)}",
            x[index[:, 0]],
        ),
        "dynamic_slice": (
            f"stablehlo.dynamic_slice %a0, %one, %two, sizes = [2, 2] : ({t(3, 5)}, tensor<i32>, tensor<i32>) -> {t(2, 2)}",
            x[1:3, 2:4],
        ),
        "dynamic_update_slice": (
            f"stablehlo.dynamic_update_slice %a0, %part, %one, %two : ({t(3, 5)}, {t(2, 2)}, tensor<i32>, tensor<i32>) -> "
            f"{t(3, 5)}",
            updated,
        ),
        "barrier": (f"stablehlo.optimization_barrier %a0 : {t(3, 5)}", x),
    }
    lines = [f"%{n} = stablehlo.constant dense<{v}> : tensor<i32>" for n, v in (("one", 1), ("two", 2))]
    lines.append(f"%part = stablehlo.slice %a1 [0:2, 0:2] : ({t(3, 5)}) -> {t(2, 2)}")
    lines += [f"%r_{name} = {text}" for name, (text, _) in ops.items()]
    results = [(f"%r_{name}", t(*want.shape)) for name, (_, want) in ops.items()]
    types = [t(3, 5), t(3, 5), t(), "tensor<4x1xi32>", tensor((3, 5), "i1")]
    for name, got in zip(ops, run(main(types, lines, results), x, y, fill, index, predicate), strict=True):
        equal(got, ops[name][1], name)


def body(op: str, scalar: str) -> str:
    return (
        f"({{\n  ^bb0(%x: {scalar}, %y: {scalar}):\n    %s = stablehlo.{op} %x, %y : {scalar}\n"
        f"    stablehlo.return %s : {scalar}\n  }})"
    )


@pytest.mark.parametrize("element", [*NARROW_FLOATS, *NARROW_INTEGERS])
def test_extremes_and_sorts(run, element: str) -> None:
    """reduce, reduce_window, scatter, sort: exact, whatever the order of evaluation."""
    x = values(element, 4, 6)
    updates = values(element, 5, 6, seed=3)
    where = np.array([[3], [0], [3], [1], [0]], np.int32)
    low = np.array(every_value(element)[np.nanargmin(every_value(element).astype(np.float64))])

    def t(*shape: int) -> str:
        return tensor(shape, element)

    lines = [
        f'%r = "stablehlo.reduce"(%a0, %a1) {body("maximum", t())} {{dimensions = array<i64: 0>}} : ({t(4, 6)}, {t()}) -> {t(6)}',
        f'%w = "stablehlo.reduce_window"(%a0, %a1) {body("maximum", t())} {{window_dimensions = array<i64: 2, 2>, '
        f"window_strides = array<i64: 1, 2>}} : ({t(4, 6)}, {t()}) -> {t(3, 3)}",
        f'%s = "stablehlo.scatter"(%a0, %a3, %a2) {body("maximum", t())} {{scatter_dimension_numbers = #stablehlo.scatter<'
        f"update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} "
        f": ({t(4, 6)}, tensor<5x1xi32>, {t(5, 6)}) -> {t(4, 6)}",
        f'%o = "stablehlo.sort"(%a0) ({{\n  ^bb0(%x: {t()}, %y: {t()}):\n    %c = stablehlo.compare GT, %x, %y : ({t()}, '
        f"{t()}) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }}) {{dimension = 1 : i64, is_stable = true}} : "
        f"({t(4, 6)}) -> {t(4, 6)}",
    ]
    results = [("%r", t(6)), ("%w", t(3, 3)), ("%s", t(4, 6)), ("%o", t(4, 6))]
    outs = run(main([t(4, 6), t(), t(5, 6), "tensor<5x1xi32>"], lines, results), x, low, updates, where)
    wide = x.astype(np.float64)
    windows = np.maximum(wide[:-1], wide[1:]).reshape(3, 3, 2).max(-1)
    scattered = wide.copy()
    np.maximum.at(scattered, where[:, 0], updates.astype(np.float64))
    for got, want in zip(outs, (wide.max(0), windows, scattered, -np.sort(-wide, 1)), strict=True):
        np.testing.assert_array_equal(got.astype(np.float64), want)


@pytest.mark.parametrize("element", NARROW_INTEGERS)
def test_sums_and_products_of_integers_wrap(run, element: str) -> None:
    x, y = values(element, 3, 7), values(element, 7, 4, seed=1)

    def t(*shape: int) -> str:
        return tensor(shape, element)

    lines = [
        f"%d = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({t(3, 7)}, {t(7, 4)}) -> {t(3, 4)}",
        f"%e = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({t(3, 7)}, {t(7, 4)}) -> tensor<3x4xi32>",
        f"%z = stablehlo.constant dense<0> : {t()}",
        f'%s = "stablehlo.reduce"(%a0, %z) {body("add", t())} {{dimensions = array<i64: 1>}} : ({t(3, 7)}, {t()}) -> {t(3)}',
    ]
    narrow, wide, total = run(
        main([t(3, 7), t(7, 4)], lines, [("%d", t(3, 4)), ("%e", "tensor<3x4xi32>"), ("%s", t(3))]), x, y
    )
    exact = x.astype(np.int64) @ y.astype(np.int64)
    info = ml_dtypes.iinfo(DTYPES[element])
    low, span = int(info.min), int(info.max) - int(info.min) + 1

    def wrap(v: np.ndarray) -> np.ndarray:
        return (v - low) % span + low

    np.testing.assert_array_equal(narrow.astype(np.int64), wrap(exact))
    np.testing.assert_array_equal(wide, exact)
    np.testing.assert_array_equal(total.astype(np.int64), wrap(x.astype(np.int64).sum(1)))


@pytest.mark.parametrize("element", NARROW_FLOATS)
def test_products_of_floats_into_wider_types(run, element: str) -> None:
    """dot_general and convolution with an f32 result: every product is exact there."""
    x, y = values(element, 3, 8), values(element, 8, 4, seed=1)

    def t(*shape: int) -> str:
        return tensor(shape, element)

    lines = [
        f"%d = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : ({t(3, 8)}, {t(8, 4)}) -> tensor<3x4xf32>",
        f"%i = stablehlo.reshape %a0 : ({t(3, 8)}) -> {t(1, 3, 8)}",
        f"%k = stablehlo.reshape %a1 : ({t(8, 4)}) -> {t(1, 8, 4)}",
        "%c = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = "
        f"1 : i64, feature_group_count = 1 : i64}} : ({t(1, 3, 8)}, {t(1, 8, 4)}) -> tensor<1x3x4xf32>",
    ]
    product, convolved = run(
        main([t(3, 8), t(8, 4)], lines, [("%d", "tensor<3x4xf32>"), ("%c", "tensor<1x3x4xf32>")]), x, y
    )
    a, b = x.astype(np.float64), y.astype(np.float64)
    bound = 8 * 2.0**-23 * (np.abs(a) @ np.abs(b))
    assert np.all(np.abs(product - a @ b) <= bound)
    assert np.all(np.abs(convolved[0] - a @ b) <= bound)


@pytest.mark.parametrize("element", NARROW_INTEGERS)
def test_iota_and_constants_count_modulo_the_width(run, element: str) -> None:
    info = ml_dtypes.iinfo(DTYPES[element])
    count = int(info.max) + 1
    type = tensor((count,), element)
    literal = ", ".join(str(int(v)) for v in range(count))
    lines = [f"%i = stablehlo.iota dim = 0 : {type}", f"%c = stablehlo.constant dense<[{literal}]> : {type}"]
    for got in run(main([], lines, [("%i", type), ("%c", type)])):
        np.testing.assert_array_equal(got.astype(np.int64), np.arange(count))


@pytest.mark.parametrize("element", NARROW_FLOATS)
def test_constants_of_floats(run, element: str) -> None:
    x = values(element, 9)
    literal = ", ".join(f"{float(v):e}" for v in x)
    type = tensor((9,), element)
    (got,) = run(main([], [f"%c = stablehlo.constant dense<[{literal}]> : {type}"], [("%c", type)]))
    equal(got, x, element)
