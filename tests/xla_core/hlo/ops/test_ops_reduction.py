"""Reductions, windows, scatter and sort, against loops in Python that follow the definitions."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xla_core
from tests.xla_core.hlo.ops.ops_testing import F32, PRED, S32, body, run
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import (
    ElementType,
    HloComputation,
    HloInstruction,
    Shape,
    WindowDimension,
    comparator,
    parse_hlo,
    scalar_computation,
    verify,
)

FUNCTIONS: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def wrap32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("opcode", FUNCTIONS)
@pytest.mark.parametrize("axes", [(), (0,), (2,), (0, 2), (1, 0, 2)])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (30, 2, 3), (0, 2, 3)])
def test_reduce_integers(opcode: str, axes: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-(2**31), 2**31 - 1, sizes).astype(np.int32)
    kept = [d for d in range(3) if d not in axes]
    expected = np.empty([sizes[d] for d in kept], np.int32)
    for index in np.ndindex(*expected.shape):
        cut: list = [slice(None)] * 3
        for d, i in zip(kept, index, strict=True):
            cut[d] = i
        column = [int(v) for v in x[tuple(cut)].reshape(-1)]
        expected[index] = wrap32(functools.reduce(FUNCTIONS[opcode], column, 5))
    result = run("reduce", x, np.int32(5), dimensions=axes, to_apply=scalar_computation(opcode, S32))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("t", [ElementType.BF16, ElementType.F16, F32, ElementType.F64, ElementType.F8E4M3FN], ids=str)
def test_long_float_sums_are_rounded_once(t: ElementType) -> None:
    x = np.random.default_rng(2).normal(size=(3, 2000)).astype(t.dtype)
    exact = np.array([math.fsum(row) for row in x.astype(np.float64)])
    result = run("reduce", x, t.dtype.type(0), dimensions=(1,), to_apply=scalar_computation("add", t))
    rounded = exact.astype(t.dtype).astype(np.float64)
    np.testing.assert_allclose(result.astype(np.float64), rounded, rtol=1e-15 if t is ElementType.F64 else 0)


@pytest.mark.parametrize("t", [ElementType.BF16, F32, ElementType.F64, ElementType.C64], ids=str)
@pytest.mark.parametrize("count", [1, 9, 40])
def test_a_sum_of_negative_zeros_alone_is_negative(t: ElementType, count: int) -> None:
    negative = -t.dtype.type(0)
    x = np.full((2, count), negative)
    x[1, -1] = 0
    for start, expected in ((negative, [True, False]), (t.dtype.type(0), [False, False])):
        result = run("reduce", x, start, dimensions=(1,), to_apply=scalar_computation("add", t))
        parts = [result.real, result.imag] if t.is_complex else [result]
        for part in parts:
            np.testing.assert_array_equal(np.signbit(part), expected)


def test_reduce_special_values() -> None:
    x = np.array([[0.0, -0.0, -1.0], [-0.0, -0.0, -3.0], [np.nan, 1.0, 2.0]], np.float32)
    largest = run("reduce", x, np.float32(-np.inf), dimensions=(1,), to_apply=scalar_computation("maximum", F32))
    np.testing.assert_array_equal(largest, [0, 0, np.nan])
    np.testing.assert_array_equal(np.signbit(largest[:2]), [False, True])
    every = np.array([[True, True], [True, False]])
    result = run("reduce", every, np.asarray(True), dimensions=(1,), to_apply=scalar_computation("and", PRED))
    np.testing.assert_array_equal(result, [True, False])


def argmax_body() -> HloComputation:
    def root(c: HloComputation, a: HloInstruction, i: HloInstruction, b: HloInstruction, j: HloInstruction):
        greater = c.add("compare", a, b, direction="GT")
        same = c.add("compare", a, b, direction="EQ")
        first = c.add("or", greater, c.add("and", same, c.add("compare", i, j, direction="LT")))
        return c.add("tuple", c.add("select", first, a, b), c.add("select", first, i, j))

    return body([F32, S32, F32, S32], root)


@pytest.mark.parametrize("length", [1, 7, 600, 1025])
def test_reduce_of_several_operands(length: int) -> None:
    x = np.random.default_rng(3).integers(0, 50, (4, length)).astype(np.float32)
    index = np.broadcast_to(np.arange(length, dtype=np.int32), x.shape)
    values, places = run("reduce", x, index, np.float32(-np.inf), np.int32(0), dimensions=(1,), to_apply=argmax_body())
    np.testing.assert_array_equal(values, x.max(1))
    np.testing.assert_array_equal(places, x.argmax(1))


def test_reduce_body_with_control_flow() -> None:
    """A conditional is evaluated on whole arrays; a loop (Euclid's algorithm) element by element."""

    def sign_sum(c: HloComputation, a: HloInstruction, b: HloInstruction) -> HloInstruction:
        branches = []
        for opcode in ("add", "subtract"):
            branch = HloComputation(opcode)
            pair = branch.parameter(0, c.add("tuple", a, b).shape)
            left, right = (branch.add("get-tuple-element", pair, index=i) for i in (0, 1))
            branch.set_root(branch.add(opcode, left, right))
            branches.append(branch)
        pair = c.add("tuple", a, b)
        positive = c.add("compare", b, c.constant(np.int32(0)), direction="GT")
        return c.add("conditional", positive, pair, pair, true_computation=branches[0], false_computation=branches[1])

    x = np.array([[3, -4, 5], [-1, -2, 7]], np.int32)
    from tests.xla_core.hlo.ops.ops_testing import build
    from xla_core.hlo import EvaluationContext, evaluate_computation

    combined = body([S32, S32], sign_sum)
    module = build(lambda c, p, q: c.add("reduce", p, q, dimensions=(1,), to_apply=combined), x, np.int32(0))
    (result,) = evaluate_computation(module.entry, [x, np.int32(0)], EvaluationContext())
    np.testing.assert_array_equal(result, np.abs(x).sum(1))

    def gcd(c: HloComputation, a: HloInstruction, b: HloInstruction) -> HloInstruction:
        state = c.add("tuple", a, b)
        condition, step = HloComputation("condition"), HloComputation("step")
        q = condition.add("get-tuple-element", condition.parameter(0, state.shape), index=1)
        condition.add("compare", q, condition.constant(np.int32(0)), direction="NE")
        p = step.parameter(0, state.shape)
        p0, p1 = (step.add("get-tuple-element", p, index=i) for i in (0, 1))
        step.add("tuple", p1, step.add("remainder", p0, p1))
        return c.add("get-tuple-element", c.add("while", state, condition=condition, body=step), index=0)

    x = np.array([[12, 18, 30], [7, 21, 14]], np.int32)
    combined = body([S32, S32], gcd)
    module = build(lambda c, p, q: c.add("reduce", p, q, dimensions=(1,), to_apply=combined), x, np.int32(0))
    (result,) = evaluate_computation(module.entry, [x, np.int32(0)], EvaluationContext())
    np.testing.assert_array_equal(result, [6, 7])


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse: bool) -> None:
    """A running sum along dimension 1, whose outputs are the doubled sums."""
    step = HloComputation("step")
    row, carry = (step.parameter(i, Shape.array(F32, (2,))) for i in (0, 1))
    total = step.add("add", row, carry)
    step.add("tuple", step.add("add", total, total), total)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    attributes = {"dimensions": (1,), "num_carries": 1, "is_reverse": reverse, "to_apply": step}
    outputs, last = run("scan", x, np.ones(2, np.float32), **attributes)
    sums = 1 + (np.cumsum(x[:, ::-1], 1)[:, ::-1] if reverse else np.cumsum(x, 1))
    np.testing.assert_array_equal(outputs, 2 * sums)
    np.testing.assert_array_equal(last, 1 + x.sum(1))


def test_map() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    affine = body([F32, F32], lambda c, a, b: c.add("subtract", c.add("multiply", a, a), b))
    np.testing.assert_array_equal(run("map", x, x, dimensions=(0, 1), to_apply=affine), x * x - x)


def test_reduce_refuses_wrong_bodies() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(InvalidArgumentError, match="does not fit f32"):
        run("reduce", x, np.float32(0), dimensions=(0,), to_apply=scalar_computation("add", S32))
    with pytest.raises(InvalidArgumentError, match="expected 2 scalar parameters"):
        run("reduce", x, np.float32(0), dimensions=(0,), to_apply=body([F32], lambda c, a: a))
    with pytest.raises(InvalidArgumentError, match="expected a scalar"):
        run("reduce", x, x, dimensions=(0,), to_apply=scalar_computation("add", F32))


# -- windows -------------------------------------------------------------------------------------------------------


def windows_of(x: np.ndarray, window: tuple[WindowDimension, ...]):
    """(result index, operand indices or None for padding), by the definition."""
    counts = [w.output_size(n) for w, n in zip(window, x.shape, strict=True)]
    for out in np.ndindex(*counts):
        places = []
        for offset in itertools.product(*(range(w.size) for w in window)):
            place: list[int] | None = []
            for o, k, w, n in zip(out, offset, window, x.shape, strict=True):
                at = o * w.stride + k * w.window_dilation - w.padding_low
                if at % w.base_dilation or not 0 <= at // w.base_dilation < n:
                    place = None
                    break
                place.append(at // w.base_dilation)
            places.append(tuple(place) if place is not None else None)
        yield out, places


window_dimension = st.builds(
    WindowDimension,
    size=st.integers(1, 4),
    stride=st.integers(1, 3),
    padding_low=st.integers(-2, 3),
    padding_high=st.integers(-2, 3),
    base_dilation=st.integers(1, 3),
    window_dilation=st.integers(1, 2),
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), window_dimension), min_size=1, max_size=2), st.sampled_from(sorted(FUNCTIONS))
)
def test_reduce_window(config: list[tuple[int, WindowDimension]], opcode: str) -> None:
    sizes, window = [c[0] for c in config], tuple(c[1] for c in config)
    x = np.random.default_rng(5).integers(-9, 9, sizes).astype(np.int32)
    expected = np.zeros([w.output_size(n) for w, n in zip(window, sizes, strict=True)], np.int32)
    for out, places in windows_of(x, window):
        values = [int(x[p]) if p is not None else 3 for p in places]
        expected[out] = wrap32(functools.reduce(FUNCTIONS[opcode], values, 3))
    result = run("reduce-window", x, np.int32(3), window=window, to_apply=scalar_computation(opcode, S32))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("size", [1, 16, 17, 31, 100])
def test_long_windows_are_cumulative_reductions(size: int) -> None:
    x = np.random.default_rng(6).normal(size=(3, 100))
    window = (WindowDimension(), WindowDimension(size=size, padding_low=size - 1))
    result = run("reduce-window", x, np.float64(0), window=window, to_apply=scalar_computation("add", ElementType.F64))
    expected = [[math.fsum(row[max(0, i - size + 1) : i + 1]) for i in range(100)] for row in x]
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-13)


def test_reduce_window_of_several_operands() -> None:
    x = np.random.default_rng(7).integers(0, 30, (3, 40)).astype(np.float32)
    index = np.broadcast_to(np.arange(40, dtype=np.int32), x.shape)
    window = (WindowDimension(), WindowDimension(size=20, stride=5))
    _, places = run("reduce-window", x, index, np.float32(-np.inf), np.int32(-1), window=window, to_apply=argmax_body())
    expected = [[i * 5 + row[i * 5 : i * 5 + 20].argmax() for i in range(5)] for row in x]
    np.testing.assert_array_equal(places, expected)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 6),
            st.builds(
                WindowDimension,
                size=st.integers(1, 3),
                stride=st.integers(1, 3),
                padding_low=st.integers(0, 2),
                padding_high=st.integers(0, 2),
            ),
        ),
        min_size=1,
        max_size=2,
    )
)
def test_select_and_scatter(config: list[tuple[int, WindowDimension]]) -> None:
    sizes, window = [c[0] for c in config], tuple(c[1] for c in config)
    rng = np.random.default_rng(8)
    x = rng.integers(0, 5, sizes).astype(np.int32)
    source = rng.integers(-9, 9, [w.output_size(n) for w, n in zip(window, sizes, strict=True)]).astype(np.int32)
    expected = np.full(sizes, 2, np.int32)
    for out, places in windows_of(x, window):
        best = None
        for place in places:
            if place is not None and (best is None or not x[best] >= x[place]):
                best = place
        if best is not None:
            expected[best] += source[out]
    select = body([S32, S32], lambda c, a, b: c.add("compare", a, b, direction="GE"))
    result = run(
        "select-and-scatter",
        x,
        source,
        np.int32(2),
        window=window,
        select=select,
        scatter=scalar_computation("add", S32),
    )
    np.testing.assert_array_equal(result, expected)


# -- gather and scatter --------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_gather_and_scatter(data: st.DataObject) -> None:
    """Random dimension numbers; scatter with a body that is neither commutative nor known, so that order shows."""
    rank = data.draw(st.integers(1, 3))
    sizes = [data.draw(st.integers(1, 4)) for _ in range(rank)]
    axes = data.draw(st.permutations(range(rank)))
    batching = sorted(axes[: data.draw(st.integers(0, rank - 1))])
    rest = [d for d in range(rank) if d not in batching]
    index_map = tuple(data.draw(st.permutations(rest))[: data.draw(st.integers(1, len(rest)))])
    collapsed = tuple(d for d in rest if data.draw(st.booleans()))
    slice_sizes = tuple(
        1 if d in batching or d in collapsed else data.draw(st.integers(1, sizes[d])) for d in range(rank)
    )
    batch_sizes = [sizes[d] for d in batching] + [
        data.draw(st.integers(1, 3)) for _ in range(data.draw(st.integers(0, 1)))
    ]
    vector_dim = data.draw(st.integers(0, len(batch_sizes)))
    index_shape = [*batch_sizes[:vector_dim], len(index_map), *batch_sizes[vector_dim:]]
    index_batching = tuple(i + (i >= vector_dim) for i in range(len(batching)))
    kept = [d for d in range(rank) if d not in collapsed and d not in batching]
    total = len(batch_sizes) + len(kept)
    offset_dims = tuple(sorted(data.draw(st.permutations(range(total)))[: len(kept)]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.integers(-50, 50, sizes).astype(np.int32)
    indices = rng.integers(-1, 5, index_shape).astype(np.int32)

    batch_dims = [d for d in range(total) if d not in offset_dims]
    result_sizes = [0] * total
    for d, n in zip(batch_dims, batch_sizes, strict=True):
        result_sizes[d] = n
    for d, o in zip(offset_dims, kept, strict=True):
        result_sizes[d] = slice_sizes[o]

    def place(index: tuple[int, ...], clamp: bool) -> tuple[int, ...] | None:
        batch = [index[d] for d in batch_dims]
        vector = indices[(*batch[:vector_dim], slice(None), *batch[vector_dim:])]
        start = [0] * rank
        for value, d in zip(vector, index_map, strict=True):
            start[d] = int(value)
        for d, position in zip(batching, range(len(batching)), strict=True):
            start[d] = batch[position]
        if clamp:
            start = [max(0, min(s, n - k)) for s, n, k in zip(start, sizes, slice_sizes, strict=True)]
        elif any(not 0 <= s <= n - k for s, n, k in zip(start, sizes, slice_sizes, strict=True)):
            return None
        for d, o in zip(offset_dims, kept, strict=True):
            start[o] += index[d]
        return tuple(start)

    gathered = np.empty(result_sizes, np.int32)
    for index in np.ndindex(*result_sizes):
        gathered[index] = x[place(index, True)]
    result = run(
        "gather",
        x,
        indices,
        offset_dims=offset_dims,
        collapsed_slice_dims=collapsed,
        start_index_map=index_map,
        operand_batching_dims=tuple(batching),
        start_indices_batching_dims=index_batching,
        index_vector_dim=vector_dim,
        slice_sizes=slice_sizes,
    )
    np.testing.assert_array_equal(result, gathered)

    updates = rng.integers(-9, 9, result_sizes).astype(np.int32)
    bodies = {
        "add": (scalar_computation("add", S32), lambda a, b: a + b),
        "overwrite": (body([S32, S32], lambda c, a, b: b), lambda a, b: b),
        "mixed": (
            body([S32, S32], lambda c, a, b: c.add("subtract", c.add("multiply", a, c.constant(np.int32(3))), b)),
            lambda a, b: 3 * a - b,
        ),
    }
    for name, (computation, function) in bodies.items():
        expected = x.astype(object)
        for index in np.ndindex(*result_sizes):
            at = place(index, False)
            if at is not None:
                expected[at] = wrap32(function(expected[at], int(updates[index])))
        scattered = run(
            "scatter",
            x,
            indices,
            updates,
            update_window_dims=offset_dims,
            inserted_window_dims=collapsed,
            scatter_dims_to_operand_dims=index_map,
            input_batching_dims=tuple(batching),
            scatter_indices_batching_dims=index_batching,
            index_vector_dim=vector_dim,
            to_apply=computation,
        )
        np.testing.assert_array_equal(scattered, expected.astype(np.int32), err_msg=name)


@pytest.mark.parametrize("opcode", ["maximum", "minimum", "multiply"])
@pytest.mark.parametrize("element", ["s32", "u8", "f32", "bf16", "c64"])
def test_many_updates_of_few_elements(opcode: str, element: str) -> None:
    if element == "c64" and opcode != "multiply":
        return
    rng, shape = np.random.default_rng(3), Shape(ElementType(element))
    x, updates = (rng.choice([0, 1, 2, 3], n).astype(shape.dtype) for n in (5, 300))
    x[rng.integers(5)] = 2
    places = rng.integers(-1, 7, 300).astype(np.int32)
    expected = x.copy()
    for place, update in zip(places, updates, strict=True):
        if 0 <= place < 5:
            expected[place] = FUNCTIONS[opcode](expected[place], update)
    numbers = {"inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1}
    with np.errstate(all="ignore"):
        result = run(
            "scatter", x, places, updates, **numbers, to_apply=scalar_computation(opcode, ElementType(element))
        )
    np.testing.assert_array_equal(result, expected)


def test_scatter_of_several_operands() -> None:
    def swapped(c: HloComputation, a: HloInstruction, b: HloInstruction, u: HloInstruction, v: HloInstruction):
        return c.add("tuple", c.add("add", b, u), c.add("multiply", a, v))

    x, y = np.array([1, 2], np.int32), np.array([10, 20], np.int32)
    u, v = np.array([1, 2, 3], np.int32), np.array([2, 3, 4], np.int32)
    numbers = {
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
        "index_vector_dim": 1,
        "to_apply": body([S32] * 4, swapped),
    }
    a, b = run("scatter", x, y, np.array([1, 0, 1], np.int32), u, v, **numbers)
    np.testing.assert_array_equal(a, [10 + 2, 2 * 2 + 3])
    np.testing.assert_array_equal(b, [1 * 3, (20 + 1) * 4])


# -- sort ----------------------------------------------------------------------------------------------------------


def total(v: float) -> tuple:
    bits = int(np.float32(v).view(np.int32))
    return (bits if bits >= 0 else bits ^ 0x7FFFFFFF,)


@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sort_in_total_order(direction: str, axis: int) -> None:
    x = np.random.default_rng(9).normal(size=(7, 9)).astype(np.float32)
    x.flat[:8] = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, 1.0]
    result = run("sort", x, dimensions=(axis,), to_apply=comparator(direction, F32, type="TOTALORDER"))
    expected = [sorted(row, key=total, reverse=direction == "GT") for row in np.moveaxis(x, axis, 1)]
    assert np.moveaxis(result, axis, 1).tobytes() == np.array(expected, np.float32).tobytes()


@pytest.mark.parametrize("length", [0, 1, 2, 5, 64, 97])
@pytest.mark.parametrize("known", [True, False])
def test_sort_is_stable_and_carries_operands(length: int, known: bool) -> None:
    keys = np.random.default_rng(10).integers(0, 8, (3, length)).astype(np.int32)
    index = np.broadcast_to(np.arange(length, dtype=np.int32), keys.shape)

    def less(c: HloComputation, a: HloInstruction, b: HloInstruction, i: HloInstruction, j: HloInstruction):
        difference = c.add("subtract", a, b)
        return c.add("compare", difference, c.constant(np.int32(0)), direction="LT")

    order = comparator("LT", S32, S32) if known else body([S32] * 4, less)
    sorted_keys, places = run("sort", keys, index, dimensions=(1,), is_stable=True, to_apply=order)
    np.testing.assert_array_equal(places, np.argsort(keys, axis=1, kind="stable"))
    np.testing.assert_array_equal(sorted_keys, np.sort(keys, axis=1))


@pytest.mark.parametrize("form", ["or", "select"])
def test_sort_by_two_keys(form: str) -> None:
    rng = np.random.default_rng(11)
    a, b = rng.integers(0, 4, 50).astype(np.int32), rng.normal(size=50).astype(np.float32)

    def less(c: HloComputation, a0: HloInstruction, a1: HloInstruction, b0: HloInstruction, b1: HloInstruction):
        equal = c.add("compare", a0, a1, direction="EQ")
        first = c.add("compare", a0, a1, direction="LT")
        second = c.add("compare", b0, b1, direction="GT", type="TOTALORDER")
        if form == "select":
            return c.add("select", equal, second, first)
        return c.add("or", first, c.add("and", equal, second))

    left, right = run("sort", a, b, dimensions=(0,), to_apply=body([S32, S32, F32, F32], less))
    order = np.lexsort((-b, a))
    np.testing.assert_array_equal(left, a[order])
    np.testing.assert_array_equal(right, b[order])


def test_sort_by_a_comparator_that_is_no_order() -> None:
    """Some permutation comes out."""
    always = body([S32, S32], lambda c, a, b: c.constant(np.asarray(True)))
    x = np.arange(9, dtype=np.int32)
    assert sorted(run("sort", x, dimensions=(0,), to_apply=always)) == list(range(9))


@pytest.mark.parametrize("length", [2, 3, 5, 64, 1000, 20_000])
@pytest.mark.parametrize("known", [True, False])
def test_sort_by_a_partial_order_of_floats(length: int, known: bool) -> None:
    """By keys, and by merging, as a NaN would take: both are stable."""

    def less(c: HloComputation, a: HloInstruction, b: HloInstruction, *_: HloInstruction) -> HloInstruction:
        below = c.add("compare", a, b, direction="LT")
        return below if known else c.add("and", below, c.add("not", c.add("compare", b, a, direction="LT")))

    x = np.random.default_rng(length).integers(0, 300, length).astype(np.float32)
    order = body([F32, F32, S32, S32], less)
    values, places = run("sort", x, np.arange(length, dtype=np.int32), dimensions=(0,), to_apply=order)
    np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(values, np.sort(x))


@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("element", [F32, ElementType.BF16, ElementType.F8E4M3FN, ElementType.F8E8M0FNU])
def test_sort_takes_zeros_of_both_signs_as_equal(element: ElementType, direction: str) -> None:
    chosen = [0.0, -0.0, 1.0, 2.0, -1.0] if element.has_zero else [1.0, 2.0, 4.0]
    x = np.random.default_rng(3).choice(np.asarray(chosen), 33).astype(element.dtype)
    order = comparator(direction, element, S32)
    values, places = run("sort", x, np.arange(33, dtype=np.int32), dimensions=(0,), is_stable=True, to_apply=order)
    sign = 1 if direction == "LT" else -1
    np.testing.assert_array_equal(places, np.argsort(sign * x.astype(np.float64), kind="stable"))
    np.testing.assert_array_equal(values.view(np.uint8), x[places].view(np.uint8))


@pytest.mark.parametrize("known", [True, False])
def test_sort_by_a_long_expression(known: bool) -> None:
    """x doubled a thousand times over (and over: every sum has one operand twice), by keys and by merging."""

    def less(c: HloComputation, a: HloInstruction, b: HloInstruction) -> HloInstruction:
        for _ in range(1000):
            a, b = c.add("add", a, a), c.add("add", b, b)
            a, b = c.add("divide", a, c.constant(np.float32(2))), c.add("divide", b, c.constant(np.float32(2)))
        below = c.add("compare", a, b, direction="LT")
        return below if known else c.add("and", below, below)

    x = np.random.default_rng(12).normal(size=20).astype(np.float32)
    np.testing.assert_array_equal(run("sort", x, dimensions=(0,), to_apply=body([F32, F32], less)), np.sort(x))


def test_topk() -> None:
    x = np.array([[3, 1, 3, 2], [0, -1, 5, 5]], np.float32)
    values, places = run("topk", x, k=2)
    np.testing.assert_array_equal(values, [[3, 3], [5, 5]])
    np.testing.assert_array_equal(places, [[0, 2], [2, 3]])
    np.testing.assert_array_equal(run("topk", x, k=2, largest=False)[1], [[1, 3], [1, 0]])


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_complex_numbers_have_no_largest(kind: str) -> None:
    text = f"HloModule m\nENTRY e {{\n x = {kind}[4] parameter(0)\n ROOT r = ({kind}[2], s32[2]) topk(x), k=2\n}}"
    with pytest.raises(InvalidArgumentError, match="has no order"):
        verify(parse_hlo(text))


def test_gather_of_a_scalar_repeats_it_for_each_index() -> None:
    program = """HloModule m
    ENTRY e {
      x = f32[] parameter(0)
      i = s32[3,0,2] parameter(1)
      ROOT r = f32[3,2] gather(x, i), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=1,
        slice_sizes={}
    }"""
    (result,) = xla_core.evaluate(xla_core.parse(program), np.float32(7), np.zeros((3, 0, 2), np.int32))
    np.testing.assert_array_equal(result, np.full((3, 2), 7, np.float32))


@pytest.mark.parametrize("opcode", ["add", "maximum"])
@pytest.mark.parametrize(
    ("size", "stride", "low", "high", "base"),
    [
        (1_000_000_000, 1, 999_999_999, 0, 1),
        (1_000_000_000, 3, 999_999_990, 7, 2),
        (2_000_000_000, 1, 0, 2_000_000_000, 1),
    ],
)
def test_windows_of_padding_cost_nothing(opcode: str, size: int, stride: int, low: int, high: int, base: int) -> None:
    x = np.arange(1, 17, dtype=np.float32)
    extent = 15 * base + 1
    count = (extent + low + high - size) // stride + 1
    initial = np.float32(0 if opcode == "add" else -np.inf)
    window = (WindowDimension(size, stride, low, high, base),)
    result = run("reduce-window", x, initial, window=window, to_apply=scalar_computation(opcode, F32))
    assert result.shape == (count,)
    reduce = np.sum if opcode == "add" else np.max
    for number in range(count):
        start = number * stride - low
        inside = [v for place, v in zip(range(0, extent, base), x, strict=True) if start <= place < start + size]
        assert result[number] == reduce(inside, initial=initial)
