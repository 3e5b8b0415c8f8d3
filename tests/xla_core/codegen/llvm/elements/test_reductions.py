"""Reductions, windows, contractions, sort and scatter against the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import (
    F32,
    S32,
    Loaded,
    array,
    check,
    f32,
    fuse,
    random_array,
    scalar,
    scalar_body,
)
from xla_core.codegen.llvm import may_share_buffer
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.table.attributes import ConvolutionDimensionNumbers, WindowDimension
from xla_core.hlo.values.element_type import ElementType as T


@pytest.mark.parametrize("dimensions", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("opcode", ["add", "maximum"])
def test_reduce(dimensions: tuple[int, ...], opcode: str) -> None:
    def build(c, x):
        start = scalar(c, -np.inf if opcode == "maximum" else 2.0)
        return c.add("reduce", x, start, dimensions=dimensions, to_apply=scalar_body(opcode))

    check(build, f32(6, 35, 20), tolerance=1e-4)


@pytest.mark.parametrize("t", [T.PRED, T.S8, T.U16, T.S64, T.BF16, T.F16, T.F64, T.C64], ids=str)
def test_reduce_of_every_type(t: T) -> None:
    opcode = "and" if t is T.PRED else "add"

    def build(c, x):
        return [c.add("reduce", x, scalar(c, 1, t), dimensions=(d,), to_apply=scalar_body(opcode, t)) for d in (0, 1)]

    tolerance = 2e-2 if t.bit_width == 16 and t.is_floating else 1e-4 if not t.is_integral else 0
    check(build, array(t, 24, 24), tolerance=tolerance)


def test_products_stay_above_zero_in_the_type_without_one() -> None:
    x = np.array([[2.0**-100, 2.0**-100, 8], [4, 2.0**-3, 2.0**-127]], T.F8E8M0FNU.dtype)
    window = tuple(WindowDimension(size) for size in (1, 2))

    def build(c, x):
        one, product = scalar(c, 1, T.F8E8M0FNU), scalar_body("multiply", T.F8E8M0FNU)
        rows = c.add("reduce", x, one, dimensions=(1,), to_apply=product)
        return [rows, c.add("reduce-window", x, one, window=window, to_apply=product)]

    check(build, array(T.F8E8M0FNU, 2, 3), arguments=[x])


def test_rows_and_columns_become_vectors() -> None:
    for dimension in (0, 1):
        loaded = Loaded(
            fuse(
                lambda c, x, d=dimension: c.add(
                    "reduce", x, scalar(c, 0), dimensions=(d,), to_apply=scalar_body("add")
                ),
                f32(256, 512),
            )
        )
        assert " x float>" in loaded.compiled.ir()


def softmax(c, x):
    """Along the last dimension."""
    kept = tuple(range(x.shape.rank - 1))
    last = (x.shape.rank - 1,)
    top = c.add("reduce", x, scalar(c, -np.inf), dimensions=last, to_apply=scalar_body("maximum"))
    shifted = c.add("subtract", x, c.add("broadcast", top, shape=x.shape, dimensions=kept))
    e = c.add("exponential", shifted)
    total = c.add("reduce", e, scalar(c, 0), dimensions=last, to_apply=scalar_body("add"))
    return c.add("divide", e, c.add("broadcast", total, shape=x.shape, dimensions=kept))


def test_softmax_is_one_kernel_whose_reductions_run_once_a_row() -> None:
    loaded = check(softmax, f32(20, 100))
    assert loaded.text.count("reduce.body") >= 2
    row_loop = loaded.text.index("dim1.")
    assert loaded.kernel.partition_count == 20
    assert row_loop > 0


def test_only_a_short_reduction_accumulates_in_several_vectors() -> None:
    """In softmax the maximum does; the sum computes an exponential for each element."""
    loops = Loaded(fuse(softmax, f32(20, 1024))).text.count('!"llvm.loop.interleave.count"')
    assert loops == 1
    assert "interleave" not in Loaded(fuse(softmax, f32(20, 100))).text  # too short for four vectors


def test_layer_norm() -> None:
    def build(c, x, scale):
        n, d = x.shape.dimensions

        def mean(v):
            total = c.add("reduce", v, scalar(c, 0), dimensions=(1,), to_apply=scalar_body("add"))
            return c.add("multiply", total, c.add("broadcast", scalar(c, 1 / d), shape=f32(n), dimensions=()))

        centred = c.add("subtract", x, c.add("broadcast", mean(x), shape=x.shape, dimensions=(0,)))
        variance = mean(c.add("multiply", centred, centred))
        epsilon = c.add("broadcast", scalar(c, 1e-5), shape=f32(n), dimensions=())
        root = c.add("rsqrt", c.add("add", variance, epsilon))
        normal = c.add("multiply", centred, c.add("broadcast", root, shape=x.shape, dimensions=(0,)))
        return c.add("multiply", normal, c.add("broadcast", scale, shape=x.shape, dimensions=(1,)))

    check(build, f32(16, 70), f32(70))


def test_column_mean_with_what_follows_it() -> None:
    def build(c, x):
        total = c.add("reduce", c.add("multiply", x, x), scalar(c, 0), dimensions=(0,), to_apply=scalar_body("add"))
        low = c.add("reduce", x, scalar(c, np.inf), dimensions=(0,), to_apply=scalar_body("minimum"))
        return [c.add("sqrt", total), c.add("subtract", total, low)]

    check(build, f32(33, 300), tolerance=1e-4)


def argmax_body() -> HloComputation:
    body = HloComputation("argmax")
    x, i = body.parameter(0, array(F32)), body.parameter(1, array(S32))
    y, j = body.parameter(2, array(F32)), body.parameter(3, array(S32))
    larger = body.add("or", body.add("compare", x, y, direction="GT"), body.add("compare", x, x, direction="NE"))
    tie = body.add("and", body.add("compare", x, y, direction="EQ"), body.add("compare", i, j, direction="LT"))
    chosen = body.add("or", larger, tie)
    body.set_root(body.add("tuple", body.add("select", larger, x, y), body.add("select", chosen, i, j)))
    return body


@pytest.mark.parametrize("dimension", [0, 1])
def test_argmax(dimension: int) -> None:
    def build(c, x):
        numbers = c.add("iota", shape=array(S32, 40, 50), iota_dimension=dimension)
        start, first = scalar(c, -np.inf), scalar(c, 0, S32)
        result = c.add("reduce", x, numbers, start, first, dimensions=(dimension,), to_apply=argmax_body())
        return [c.add("get-tuple-element", result, index=1), c.add("get-tuple-element", result, index=0)]

    values = np.round(random_array(f32(40, 50)), 1)
    values[3, 4] = np.nan
    check(build, f32(40, 50), arguments=[values])


def test_reduce_of_nothing() -> None:
    check(lambda c, x: c.add("reduce", x, scalar(c, 3), dimensions=(1,), to_apply=scalar_body("add")), f32(4, 0))
    check(lambda c, x: c.add("reduce", x, scalar(c, 3), dimensions=(0,), to_apply=scalar_body("add")), f32(0, 8))


WINDOWS = {
    "pooling, features minor": ((2, 9, 10, 8), (None, (2, 2, 0, 0), (3, 2, 1, 1), None)),
    "pooling, pixels minor": ((2, 3, 9, 10), (None, None, (2, 2, 0, 0), (3, 2, 1, 1))),
    "running": ((70,), ((70, 1, 69, 0),)),
    "dilated": ((6, 7), ((2, 1, 1, 2, 2, 1), (2, 1, 0, 1, 1, 3))),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_reduce_window(name: str) -> None:
    dims, window = WINDOWS[name]
    windows = tuple(WindowDimension(*(w or ())) for w in window)
    for opcode, start in (("add", 0.5), ("maximum", -np.inf)):
        check(
            lambda c, x, o=opcode, s=start: c.add(
                "reduce-window", x, scalar(c, s), window=windows, to_apply=scalar_body(o)
            ),
            f32(*dims),
            tolerance=1e-4,
        )


@pytest.mark.parametrize(
    ("size", "functions", "is_unrolled"), [(3, 0, True), (9, 0, False), (2, 5, True), (8, 5, False)]
)
def test_pixels_become_vectors_where_little_code_combines_a_window(
    size: int, functions: int, is_unrolled: bool
) -> None:
    """The optimized code has the loads of each vector of pixels, one for each element of the window."""
    windows = (WindowDimension(), WindowDimension(size), WindowDimension(size))

    def build(c, x):
        for _ in range(functions):
            x = c.add("abs", c.add("negate", x))
        return c.add("reduce-window", x, scalar(c, 0.0), window=windows, to_apply=scalar_body("add"))

    loaded = check(build, f32(3, 20, 72), tolerance=1e-4)
    assert ("llvm.loop.unroll.full" in loaded.text) == is_unrolled
    assert ("<8 x float>" in loaded.compiled.ir()) >= is_unrolled


@pytest.mark.parametrize("size", [3, 7])
def test_sums_of_small_floats_are_rounded_once(size: int) -> None:
    """Each is the exact sum, rounded. (XLA's CPU compiler rounds after every addition, and is further from it.)"""
    shape = array(T.BF16, 210)
    window = (WindowDimension(size, padding_low=size // 2, padding_high=size // 2),)

    def build(c, x):
        body = scalar_body("add", T.BF16)
        return c.add("reduce-window", x, scalar(c, 0, T.BF16), window=window, to_apply=body)

    x = random_array(shape)
    (got,) = check(build, shape, tolerance=0)(x)
    padded = np.pad(x, size // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)
    exact = windows.astype(np.float64).sum(1)
    np.testing.assert_array_equal(got.astype(np.float64), exact.astype(x.dtype).astype(np.float64))
    stepwise = np.zeros_like(x)
    for column in range(size):
        stepwise = stepwise + windows[:, column]
    ours, theirs = (np.abs(sums.astype(np.float64) - exact) for sums in (got, stepwise))
    assert (ours <= theirs).all()
    assert (ours < theirs).any()


def test_select_and_scatter() -> None:
    windows = (WindowDimension(), WindowDimension(2, 2), WindowDimension(3, 2, 1, 1), WindowDimension())
    select = scalar_body("compare", direction="GE")
    check(
        lambda c, x, s: c.add(
            "select-and-scatter", x, s, scalar(c, 0), window=windows, select=select, scatter=scalar_body("add")
        ),
        f32(2, 8, 9, 3),
        f32(2, 4, 5, 3),
    )


DOTS = {
    "matrices": ((20, 30), (30, 40), (1,), (0,), (), ()),
    "rows by rows": ((20, 30), (40, 30), (1,), (1,), (), ()),
    "matrix by vector": ((20, 30), (30,), (1,), (0,), (), ()),
    "inner": ((30,), (30,), (0,), (0,), (), ()),
    "outer": ((5,), (7,), (), (), (), ()),
    "batches anywhere": ((6, 7, 3), (3, 5, 7), (1,), (2,), (2,), (0,)),
    "two contracted": ((4, 5, 6), (6, 8, 5), (1, 2), (2, 0), (), ()),
    "nothing contracted": ((4, 0), (0, 6), (1,), (0,), (), ()),
}


@pytest.mark.parametrize("name", DOTS)
def test_dot(name: str) -> None:
    lhs, rhs, lhs_contracting, rhs_contracting, lhs_batch, rhs_batch = DOTS[name]
    check(
        lambda c, x, y: c.add(
            "dot",
            x,
            y,
            lhs_contracting_dims=lhs_contracting,
            rhs_contracting_dims=rhs_contracting,
            lhs_batch_dims=lhs_batch,
            rhs_batch_dims=rhs_batch,
        ),
        f32(*lhs),
        f32(*rhs),
        tolerance=1e-4,
    )


@pytest.mark.parametrize("t", [T.S8, T.U32, T.S64, T.BF16, T.F16, T.F64, T.C64, T.C128], ids=str)
def test_dot_of_every_type(t: T) -> None:
    tolerance = 0 if t.is_integral else 3e-2 if t.bit_width == 16 else 1e-4
    check(
        lambda c, x, y: c.add("dot", x, y, lhs_contracting_dims=(1,), rhs_contracting_dims=(0,)),
        array(t, 9, 20),
        array(t, 20, 17),
        tolerance=tolerance,
    )


def test_dot_with_a_wider_result_and_what_follows_it() -> None:
    def build(c, x, y, bias):
        product = c.add("dot", x, y, shape=array(T.S32, 9, 17), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
        return c.add("add", product, c.add("broadcast", bias, shape=array(T.S32, 9, 17), dimensions=(1,)))

    check(build, array(T.S8, 9, 20), array(T.S8, 20, 17), array(T.S32, 17), tolerance=0)


NHWC = ConvolutionDimensionNumbers(0, 3, (1, 2), 2, 3, (0, 1), 0, 3, (1, 2))
NCHW = ConvolutionDimensionNumbers(0, 1, (2, 3), 1, 0, (2, 3), 0, 1, (2, 3))
SAME = (WindowDimension(3, 1, 1, 1), WindowDimension(3, 1, 1, 1))
ODD = (WindowDimension(3, 2, 1, 2, 2, 2, True), WindowDimension(2, 1, 1, 0, 1, 3))
CONVOLUTIONS = {
    "features minor": ((2, 8, 9, 5), (3, 3, 5, 6), SAME, NHWC, 1, 1),
    "pixels minor": ((2, 5, 8, 9), (6, 5, 3, 3), SAME, NCHW, 1, 1),
    "dilated, reversed, grouped": ((4, 9, 11, 8), (3, 2, 4, 6), ODD, NHWC, 2, 1),
    "depthwise": ((2, 8, 8, 6), (3, 3, 1, 6), SAME, NHWC, 6, 1),
    "batch groups": ((4, 9, 11, 8), (3, 2, 8, 6), ODD, NHWC, 1, 2),
    "one feature": ((2, 8, 9, 5), (3, 3, 5, 1), SAME, NHWC, 1, 1),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name: str) -> None:
    lhs, rhs, window, labels, feature_groups, batch_groups = CONVOLUTIONS[name]
    check(
        lambda c, x, y: c.add(
            "convolution",
            x,
            y,
            window=window,
            dim_labels=labels,
            feature_group_count=feature_groups,
            batch_group_count=batch_groups,
        ),
        f32(*lhs),
        f32(*rhs),
        tolerance=1e-4,
    )


def comparator(types: list[T], direction: str = "LT") -> HloComputation:
    body = HloComputation("comparator")
    parameters = [body.parameter(i, array(t)) for i, t in enumerate(t for t in types for _ in range(2))]
    body.set_root(body.add("compare", parameters[0], parameters[1], direction=direction))
    return body


@pytest.mark.parametrize("length", [1, 5, 16, 17, 31, 32, 33, 48, 65, 100, 1000])
def test_sort(length: int) -> None:
    check(lambda c, x: c.add("sort", x, dimensions=(0,), to_apply=comparator([F32])), f32(length), tolerance=0)


@pytest.mark.parametrize("t", [T.PRED, T.S8, T.BF16, T.U64], ids=str)
def test_sort_is_stable_along_any_dimension(t: T) -> None:
    for dimension in (0, 1):
        check(
            lambda c, x, y, d=dimension: c.add(
                "sort", x, y, dimensions=(d,), is_stable=True, to_apply=comparator([t, S32], "GT")
            ),
            array(t, 40, 50),
            array(S32, 40, 50),
            tolerance=0,
        )


@pytest.mark.parametrize("length", [33, 100, 257])
def test_a_sort_by_an_inconsistent_comparator_is_a_permutation(length: int) -> None:
    values = np.where(np.arange(length) % 3 == 0, np.nan, random_array(f32(length)))
    numbers = np.arange(length, dtype=np.int32)

    def build(c, x, y):
        return c.add("sort", x, y, dimensions=(0,), to_apply=comparator([F32, S32]))

    _, got = Loaded(fuse(build, f32(length), array(S32, length)))(values.astype(np.float32), numbers)
    np.testing.assert_array_equal(np.sort(got), numbers)


def test_a_large_sort_takes_scratch_memory() -> None:
    values = random_array(f32(5000))
    (got,) = Loaded(fuse(lambda c, x: c.add("sort", x, dimensions=(0,), to_apply=comparator([F32])), f32(5000)))(values)
    np.testing.assert_array_equal(got, np.sort(values))


def scatter_rows(c, x, i, u):
    return c.add(
        "scatter",
        x,
        i,
        u,
        update_window_dims=(1,),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
        index_vector_dim=1,
        to_apply=scalar_body("add"),
    )


@pytest.mark.parametrize("in_place", [False, True])
def test_scatter_of_rows(in_place: bool) -> None:
    shapes = f32(10, 600), array(S32, 17), f32(17, 600)
    indices = np.random.default_rng(0).integers(-3, 14, 17).astype(np.int32)
    arguments = [random_array(shapes[0]), indices, random_array(shapes[2], 1)]
    loaded = check(scatter_rows, *shapes, arguments=arguments, aliasing={(0, 0)} if in_place else ())
    assert (loaded.kernel.partition_count > 1) == in_place
    assert may_share_buffer(fuse(scatter_rows, *shapes), 0, 0)


def test_scatter_drops_windows_that_reach_outside() -> None:
    def build(c, x, i, u):
        return c.add(
            "scatter",
            x,
            i,
            u,
            update_window_dims=(1, 2),
            inserted_window_dims=(),
            scatter_dims_to_operand_dims=(1, 0),
            index_vector_dim=1,
            to_apply=scalar_body("multiply"),
        )

    shapes = f32(10, 30), array(S32, 17, 2), f32(17, 3, 2)
    indices = np.random.default_rng(0).integers(-3, 14, (17, 2)).astype(np.int32)
    check(build, *shapes, arguments=[random_array(shapes[0]), indices, random_array(shapes[2], 1)])


def test_scatter_of_scalars_with_batching() -> None:
    def build(c, x, i, u):
        return c.add(
            "scatter",
            x,
            i,
            u,
            update_window_dims=(),
            inserted_window_dims=(1,),
            scatter_dims_to_operand_dims=(1,),
            input_batching_dims=(0,),
            scatter_indices_batching_dims=(0,),
            index_vector_dim=2,
            to_apply=scalar_body("add", T.S64),
        )

    shapes = array(T.S64, 4, 10), array(S32, 4, 9), array(T.S64, 4, 9)
    indices = np.random.default_rng(0).integers(-3, 14, (4, 9)).astype(np.int32)
    check(build, *shapes, arguments=[random_array(shapes[0]), indices, random_array(shapes[2], 1)], tolerance=0)
