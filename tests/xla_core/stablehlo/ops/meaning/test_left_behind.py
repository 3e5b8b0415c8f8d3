"""Ops of the dialect that the specification left out, tuples, tokens and branches: numpy decides, on each backend."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.stablehlo.ops.meaning.programs import main, tensor, type_of

RNG = np.random.default_rng(11)
X = RNG.normal(size=(3, 4)).astype(np.float32)
Y = RNG.normal(size=(4, 5)).astype(np.float32)


def close(got: np.ndarray, want: np.ndarray, terms: int) -> None:
    np.testing.assert_allclose(got, want, rtol=0, atol=terms * 2.0**-23 * max(np.abs(want).max(initial=0), 1))


@pytest.mark.parametrize(("sizes", "shape"), [([2], (3,)), ([2, 0], (3,)), ([], (3, 2)), ([4, 1], ())])
def test_broadcast_puts_dimensions_in_front(run, sizes: list[int], shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int16).reshape(shape)
    result = tensor((*sizes, *shape), "i16")
    dims = "array<i64" + (": " + ", ".join(map(str, sizes)) if sizes else "") + ">"
    line = f'%0 = "stablehlo.broadcast"(%a0) {{broadcast_sizes = {dims}}} : ({type_of(x)}) -> {result}'
    (got,) = run(main([type_of(x)], [line], [("%0", result)]), x)
    np.testing.assert_array_equal(got, np.broadcast_to(x, (*sizes, *shape)))


@pytest.mark.parametrize(("a", "b"), [(X, Y), (X[0], Y), (X, Y[:, 0]), (X[0], Y[:, 0])])
def test_dot(run, a: np.ndarray, b: np.ndarray) -> None:
    want = a.astype(np.float64) @ b
    result = tensor(want.shape, "f32")
    line = f'%0 = "stablehlo.dot"(%a0, %a1) : ({type_of(a)}, {type_of(b)}) -> {result}'
    (got,) = run(main([type_of(a), type_of(b)], [line], [("%0", result)]), a, b)
    close(got, want, 8)


@pytest.mark.parametrize("config", ["ij,jk->ik", "ij,jk->ki", "ij,jk->", "ij,jk->ijk", "ij,jk->j"])
def test_einsum(run, config: str) -> None:
    want = np.einsum(config, X.astype(np.float64), Y.astype(np.float64))
    result = tensor(want.shape, "f32")
    line = (
        f'%0 = "stablehlo.einsum"(%a0, %a1) {{einsum_config = "{config}"}} : ({type_of(X)}, {type_of(Y)}) -> {result}'
    )
    (got,) = run(main([type_of(X), type_of(Y)], [line], [("%0", result)]), X, Y)
    close(got, want, 32)


@pytest.mark.parametrize("config", ["iij->j", "iji->ij", "ijk->kji", "iii->i", "ijk->", "iij->ij"])
def test_unary_einsum(run, config: str) -> None:
    x = RNG.normal(size=(3, 3, 3)).astype(np.float32)
    want = np.einsum(config, x.astype(np.float64))
    result = tensor(want.shape, "f32")
    line = f'%0 = "stablehlo.unary_einsum"(%a0) {{einsum_config = "{config}"}} : ({type_of(x)}) -> {result}'
    (got,) = run(main([type_of(x)], [line], [("%0", result)]), x)
    close(got, want, 32)


@pytest.mark.parametrize(("dim", "batch"), [(0, 0), (1, 0), (2, 0), (-1, 0), (1, 1), (2, 1), (-1, -1), (2, 2)])
def test_torch_index_select(run, dim: int, batch: int) -> None:
    x = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    index = RNG.integers(0, 2, (2, 3)).astype(np.int32)
    axis, batches = dim % 3, batch % 3 if batch < 0 else batch
    batches = batch + 2 if batch < 0 else batch
    want = x
    if batches == 0:
        want = np.take(x, index, axis=axis)
    elif batches == 1:
        want = np.stack([np.take(x[i], index[i], axis=axis - 1) for i in range(2)])
    else:
        want = np.stack([np.stack([np.take(x[i, j], index[i, j], axis=axis - 2) for j in range(3)]) for i in range(2)])
    result = tensor(want.shape, "f32")
    line = (
        f'%0 = "stablehlo.torch_index_select"(%a0, %a1) {{dim = {dim} : i64, batch_dims = {batch} : i64}} : '
        f"({type_of(x)}, {type_of(index)}) -> {result}"
    )
    (got,) = run(main([type_of(x), type_of(index)], [line], [("%0", result)]), x, index)
    np.testing.assert_array_equal(got, want)


def test_create_token_and_cross_replica_sum(run_collective) -> None:
    lines = [
        '%t = "stablehlo.create_token"() : () -> !stablehlo.token',
        "%u = stablehlo.after_all %t, %t : !stablehlo.token",
        f'%s = "stablehlo.cross-replica-sum"(%a0) {{replica_groups = dense<[[0]]> : tensor<1x1xi64>}} : ({type_of(X)}) -> {type_of(X)}',
        f"%b:2 = stablehlo.optimization_barrier %s, %u : {type_of(X)}, !stablehlo.token",
    ]
    (got,) = run_collective(main([type_of(X)], lines, [("%b#0", type_of(X))]), X)
    np.testing.assert_array_equal(got, X)


def test_real_dynamic_slice_of_known_bounds(run) -> None:
    lines = [
        "%s = stablehlo.constant dense<[0, 1]> : tensor<2xi32>",
        "%l = stablehlo.constant dense<[3, 4]> : tensor<2xi32>",
        "%d = stablehlo.constant dense<[2, 1]> : tensor<2xi32>",
        f'%0 = "stablehlo.real_dynamic_slice"(%a0, %s, %l, %d) : ({type_of(X)}, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) '
        "-> tensor<2x3xf32>",
    ]
    (got,) = run(main([type_of(X)], lines, [("%0", "tensor<2x3xf32>")]), X)
    np.testing.assert_array_equal(got, X[0:3:2, 1:4])


def test_tuples_within_tuples(run) -> None:
    inner = f"tuple<{type_of(X)}, tensor<i32>>"
    outer = f"tuple<{inner}, tuple<>, {type_of(X)}>"
    lines = [
        "%n = stablehlo.constant dense<7> : tensor<i32>",
        f"%i = stablehlo.tuple %a0, %n : {inner}",
        "%e = stablehlo.tuple : tuple<>",
        f"%o = stablehlo.tuple %i, %e, %a0 : {outer}",
        f"%p = stablehlo.get_tuple_element %o[0] : ({outer}) -> {inner}",
        f"%x = stablehlo.get_tuple_element %p[1] : ({inner}) -> tensor<i32>",
        f"%y = stablehlo.get_tuple_element %o[2] : ({outer}) -> {type_of(X)}",
    ]
    number, array, flat, seven, last = run(
        main([type_of(X)], lines, [("%x", "tensor<i32>"), ("%y", type_of(X)), ("%o", outer)]), X
    )
    assert int(number) == int(seven) == 7
    for got in (array, flat, last):
        np.testing.assert_array_equal(got, X)


@pytest.mark.parametrize("index", [-5, -1, 0, 1, 2, 3, 100, -(2**31), 2**31 - 1])
def test_case_out_of_range_takes_the_last_branch(run, index: int) -> None:
    branches = ", ".join(
        f"{{\n    %c = stablehlo.constant dense<{value}> : tensor<i32>\n    stablehlo.return %c : tensor<i32>\n  }}"
        for value in (10, 20, 30)
    )
    line = f'%0 = "stablehlo.case"(%a0) ({branches}) : (tensor<i32>) -> tensor<i32>'
    (got,) = run(main(["tensor<i32>"], [line], [("%0", "tensor<i32>")]), np.int32(index))
    assert int(got) == (10, 20, 30)[index if 0 <= index < 3 else 2]


STARTS = [(-1, 0), (0, 0), (1, 2), (2, 3), (99, -99), (-(2**31), 2**31 - 1)]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("index", ["i32", "i64", "i8", "ui8"])
def test_dynamic_slices_stay_inside(run, index: str, start: tuple[int, int]) -> None:
    info = np.iinfo(np.dtype("u" * index.startswith("u") + "int" + index.lstrip("ui")))
    at = [np.array(min(max(s, int(info.min)), int(info.max)), info.dtype) for s in start]
    scalar = tensor((), index)
    update = np.full((2, 3), 9, np.float32)
    lines = [
        f"%0 = stablehlo.dynamic_slice %a0, %a1, %a2, sizes = [2, 3] : ({type_of(X)}, {scalar}, {scalar}) -> tensor<2x3xf32>",
        f"%1 = stablehlo.dynamic_update_slice %a0, %a3, %a1, %a2 : ({type_of(X)}, tensor<2x3xf32>, {scalar}, {scalar}) -> {type_of(X)}",
    ]
    types = [type_of(X), scalar, scalar, "tensor<2x3xf32>"]
    taken, put = run(main(types, lines, [("%0", "tensor<2x3xf32>"), ("%1", type_of(X))]), X, *at, update)
    i, j = (min(max(int(v), 0), limit) for v, limit in zip(at, (1, 1), strict=True))
    np.testing.assert_array_equal(taken, X[i : i + 2, j : j + 3])
    want = X.copy()
    want[i : i + 2, j : j + 3] = 9
    np.testing.assert_array_equal(put, want)


def sort_text(types: list[str], scalars: list[str], comparator: str, stable: bool, dimension: int) -> str:
    names = ", ".join(f"%x{i}: {s}, %y{i}: {s}" for i, s in enumerate(scalars))
    operands = ", ".join(f"%a{i}" for i in range(len(types)))
    n = len(types)
    result = f"%s{':' + str(n) if n > 1 else ''}"
    body = f"({{\n  ^bb0({names}):\n{comparator}\n  }})"
    outs = ", ".join(types)
    line = (
        f'{result} = "stablehlo.sort"({operands}) {body} {{dimension = {dimension} : i64, is_stable = {str(stable).lower()}}} '
        f": ({outs}) -> {'(' + outs + ')' if n > 1 else outs}"
    )
    return main(types, [line], [(f"%s#{i}" if n > 1 else "%s", t) for i, t in enumerate(types)])


def test_a_stable_sort_by_the_total_order_puts_nans_last(run) -> None:
    keys = np.array([np.nan, 1, -0.0, 0.0, -np.inf, np.nan, 1, np.inf, -np.nan, 0.0, -0.0], np.float32)
    ids = np.arange(len(keys), dtype=np.int32)
    comparator = (
        "    %c = stablehlo.compare LT, %x0, %y0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "    stablehlo.return %c : tensor<i1>"
    )
    text = sort_text([type_of(keys), type_of(ids)], ["tensor<f32>", "tensor<i32>"], comparator, True, 0)
    _, order = run(text, keys, ids)
    bits = keys.view(np.int32).astype(np.int64)
    total = np.where(bits < 0, -(bits & 0x7FFFFFFF) - 1, bits)
    np.testing.assert_array_equal(order, np.argsort(total, kind="stable"))


def test_a_sort_by_any_comparator(run) -> None:
    """By the last digit, descending; then by the second operand: along the first dimension."""
    a = RNG.integers(0, 100, (40, 3)).astype(np.int32)
    b = RNG.normal(size=(40, 3)).astype(np.float32)
    comparator = """    %ten = stablehlo.constant dense<10> : tensor<i32>
    %x = stablehlo.remainder %x0, %ten : tensor<i32>
    %y = stablehlo.remainder %y0, %ten : tensor<i32>
    %more = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %less = stablehlo.compare LT, %x1, %y1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %both = stablehlo.and %same, %less : tensor<i1>
    %c = stablehlo.or %more, %both : tensor<i1>
    stablehlo.return %c : tensor<i1>"""
    text = sort_text([type_of(a), type_of(b)], ["tensor<i32>", "tensor<f32>"], comparator, True, 0)
    keys, values = run(text, a, b)
    for column in range(3):
        order = np.lexsort((b[:, column], -(a[:, column] % 10)))
        np.testing.assert_array_equal(keys[:, column], a[order, column])
        np.testing.assert_array_equal(values[:, column], b[order, column])


ASYNC = {
    "slice": ("stablehlo.slice %x [0:2, 1:3] : (tensor<3x4xf32>) -> tensor<2x2xf32>", (2, 2), X[0:2, 1:3]),
    "all_reduce": (
        '"stablehlo.all_reduce"(%x) ({\n    ^bb1(%p: tensor<f32>, %q: tensor<f32>):\n      %s = stablehlo.add %p, %q : '
        "tensor<f32>\n      stablehlo.return %s : tensor<f32>\n    }) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : "
        "(tensor<3x4xf32>) -> tensor<3x4xf32>",
        (3, 4),
        X,
    ),
    "all_gather": (
        '"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : '
        "(tensor<3x4xf32>) -> tensor<3x4xf32>",
        (3, 4),
        X,
    ),
}


@pytest.mark.parametrize("kind", ASYNC)
def test_async_start_and_done(run_collective, kind: str) -> None:
    inner, shape, want = ASYNC[kind]
    result = tensor(shape, "f32")
    lines = [
        f'%f = "stablehlo.async_start"(%a0) ({{\n  ^bb0(%x: tensor<3x4xf32>):\n    %r = {inner}\n    stablehlo.return %r : '
        f"{result}\n  }}) : (tensor<3x4xf32>) -> !stablehlo.future<{result}>",
        f'%0 = "stablehlo.async_done"(%f) : (!stablehlo.future<{result}>) -> {result}',
    ]
    (got,) = run_collective(main([type_of(X)], lines, [("%0", result)]), X)
    np.testing.assert_array_equal(got, want)
