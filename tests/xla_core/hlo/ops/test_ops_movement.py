"""Ops that move elements, against numpy and Python loops over indices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.hlo.ops.ops_testing import S32, run, run_built
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloComputation, HloInstruction, PaddingDimension, Shape, SliceDimension

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_broadcast() -> None:
    row = np.array([1.0, 2.0, 3.0], np.float32)
    result = run("broadcast", row, shape=Shape.array(ElementType.F32, (2, 3, 4)), dimensions=(1,))
    np.testing.assert_array_equal(result, np.broadcast_to(row[None, :, None], (2, 3, 4)))
    crossed = run("broadcast", X[0], shape=Shape.array(ElementType.F32, (4, 2, 3)), dimensions=(2, 0))
    np.testing.assert_array_equal(crossed, np.broadcast_to(X[0].T[:, None, :], (4, 2, 3)))
    scalar = run("broadcast", np.float32(7), shape=Shape.array(ElementType.F32, (0, 3)))
    assert scalar.shape == (0, 3)


@pytest.mark.parametrize("t", [t for t in ElementType if t.is_array and t is not ElementType.PRED], ids=str)
def test_iota(t: ElementType) -> None:
    result = run("iota", shape=Shape.array(t, (2, 3)), iota_dimension=1)
    assert result.dtype == t.dtype
    wide = np.complex128 if t.is_complex else np.float64
    expected = np.array([0, 1, 2 - 4 * (t is ElementType.S2)])
    if t is ElementType.F8E8M0FNU:  # has no zero
        return
    np.testing.assert_array_equal(result.astype(wide), np.broadcast_to(expected, (2, 3)))


def test_reshape_transpose_reverse_concatenate() -> None:
    np.testing.assert_array_equal(run("reshape", X, shape=Shape.array(ElementType.F32, (4, 6))), X.reshape(4, 6))
    np.testing.assert_array_equal(run("transpose", X, dimensions=(2, 0, 1)), X.transpose(2, 0, 1))
    np.testing.assert_array_equal(run("reverse", X, dimensions=(0, 2)), X[::-1, :, ::-1])
    np.testing.assert_array_equal(run("concatenate", X, X[:, :1], dimensions=(1,)), np.concatenate([X, X[:, :1]], 1))
    packed = np.arange(6).astype(ElementType.S4.dtype)
    np.testing.assert_array_equal(run("reverse", packed, dimensions=(0,)).astype(int), [5, 4, 3, 2, 1, 0])


dimension = st.tuples(st.integers(0, 5), st.integers(-3, 4), st.integers(-3, 4), st.integers(0, 2))


@settings(max_examples=100, deadline=None)
@given(st.lists(dimension, min_size=1, max_size=3))
def test_pad(config: list[tuple[int, int, int, int]]) -> None:
    sizes = [c[0] for c in config]
    padding = tuple(PaddingDimension(low, high, interior) for _, low, high, interior in config)
    total = [n + max(n - 1, 0) * i + low + high for n, low, high, i in config]
    x = np.arange(1, np.prod(sizes, dtype=int) + 1, dtype=np.int32).reshape(sizes)
    if any(t < 0 for t in total):
        with pytest.raises(InvalidArgumentError, match="negative"):
            run("pad", x, np.int32(-7), padding=padding)
        return
    expected = np.full(total, -7, np.int32)
    for index in itertools.product(*(range(n) for n in sizes)):
        place = [p.low + i * (p.interior + 1) for i, p in zip(index, padding, strict=True)]
        if all(0 <= at < t for at, t in zip(place, total, strict=True)):
            expected[tuple(place)] = x[index]
    np.testing.assert_array_equal(run("pad", x, np.int32(-7), padding=padding), expected)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_slice(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    ranges = []
    for n in sizes:
        start = data.draw(st.integers(0, n))
        ranges.append(SliceDimension(start, data.draw(st.integers(start, n)), data.draw(st.integers(1, 3))))
    x = np.arange(np.prod(sizes, dtype=int)).reshape(sizes)
    expected = x[tuple(slice(r.start, r.limit, r.stride) for r in ranges)]
    np.testing.assert_array_equal(run("slice", x, slice=tuple(ranges)), expected)


def test_slice_outside_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"\[0:5:1\] is not within a dimension of size 4"):
        run("slice", X, slice=(SliceDimension(0, 2), SliceDimension(0, 3), SliceDimension(0, 5)))


@pytest.mark.parametrize("starts", [(0, 0, 0), (1, -5, 2), (9, 1, 9)])
def test_dynamic_slices_clamp(starts: tuple[int, int, int]) -> None:
    sizes = (1, 2, 3)
    first = [max(0, min(s, n - k)) for s, n, k in zip(starts, X.shape, sizes, strict=True)]
    box = tuple(slice(f, f + k) for f, k in zip(first, sizes, strict=True))
    indices = [np.int32(s) for s in starts]
    np.testing.assert_array_equal(run("dynamic-slice", X, *indices, dynamic_slice_sizes=sizes), X[box])
    update = -np.ones(sizes, np.float32)
    expected = X.copy()
    expected[box] = update
    np.testing.assert_array_equal(run("dynamic-update-slice", X, update, *indices), expected)
    np.testing.assert_array_equal(X, np.arange(24).reshape(2, 3, 4))  # operands are left alone


def test_dynamic_slice_of_unsigned_indices() -> None:
    result = run("dynamic-slice", np.arange(5), np.uint64(2**64 - 1), dynamic_slice_sizes=(2,))
    np.testing.assert_array_equal(result, [3, 4])


def test_dynamic_sizes() -> None:
    def root(c: HloComputation, x: HloInstruction, n: HloInstruction) -> HloInstruction:
        short = c.add("set-dimension-size", x, n, dimensions=(1,))
        assert short.shape.dynamic_dimensions == (False, True)
        assert c.module is not None
        body = c.module.add_computation(HloComputation("sum"))
        body.add("add", body.parameter(0, Shape(ElementType.F32)), body.parameter(1, Shape(ElementType.F32)))
        zero = c.constant(np.float32(0))
        total = c.add("reduce", c.add("negate", short), zero, dimensions=(0, 1), to_apply=body)
        return c.add("tuple", c.add("get-dimension-size", short, dimensions=(1,)), total, short)

    size, total, short = run_built(root, X[0], np.int32(2))
    assert size == 2
    assert total == -X[0][:, :2].sum()
    np.testing.assert_array_equal(short, X[0][:, :2])


def test_bitcast_follows_layouts() -> None:
    from xla_core.hlo import Layout

    def root(c: HloComputation, x: HloInstruction) -> HloInstruction:
        turned = c.add("copy", x, shape=x.shape.with_layout(Layout((0, 1))))
        return c.add("bitcast", turned, shape=Shape.array(ElementType.F32, (4, 3)).with_layout(Layout((1, 0))))

    np.testing.assert_array_equal(run_built(root, X[0])[0], X[0].T)


@pytest.mark.parametrize(
    ("opcode", "arrays", "attributes", "message"),
    [
        ("transpose", (X,), {"dimensions": (0, 1)}, "permutation"),
        ("reverse", (X,), {"dimensions": (3,)}, "distinct dimensions"),
        ("concatenate", (X, X[:, :, :2]), {"dimensions": (0,)}, "differ in more than dimension 0"),
        ("reshape", (X,), {"shape": Shape.array(ElementType.F32, (5,))}, "24 elements"),
        ("broadcast", (X,), {"shape": Shape.array(ElementType.F32, (2, 3, 5)), "dimensions": (0, 1, 2)}, "dimension 2"),
        ("dynamic-slice", (X, np.int32(0)), {"dynamic_slice_sizes": (1, 1, 1)}, "a scalar per dimension"),
        ("iota", (), {"shape": Shape.array(S32, (2,)), "iota_dimension": 1}, "not a dimension"),
        ("add", (X, X[0]), {}, "same dimensions"),
        ("add", (X, X.astype(np.int32)), {}, "same type"),
        ("not", (X,), {}, "integer type or pred"),
        ("compare", (X, X), {"direction": "XX"}, "expected EQ"),
        ("compare", (X, X), {}, "needs attribute direction"),
        ("get-tuple-element", (X,), {"index": 0}, "must be a tuple"),
    ],
)
def test_wrong_shapes_are_refused(opcode: str, arrays: tuple, attributes: dict, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        run(opcode, *arrays, **attributes)
    assert opcode in str(caught.value)


def test_declared_shape_must_be_the_inferred_one() -> None:
    with pytest.raises(InvalidArgumentError, match=r"declared as f32\[4\], but add of .* is f32\[2,3,4\]"):
        run("add", X, X, shape=Shape.array(ElementType.F32, (4,)))
