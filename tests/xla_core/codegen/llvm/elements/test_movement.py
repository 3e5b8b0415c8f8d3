"""Data movement, alone and inside fusions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.xla_core.codegen.llvm.kernels import S32, Loaded, array, check, f32, fuse, random_array, scalar
from xla_core.codegen.llvm import may_share_buffer
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.table.attributes import PaddingDimension, SliceDimension
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import Layout


@pytest.mark.parametrize("t", [T.PRED, T.S4, T.F16, T.F8E4M3FN, T.F32, T.C128], ids=str)
def test_moves_every_type(t: T) -> None:
    check(
        lambda c, x, y: [
            c.add("transpose", x, dimensions=(1, 0)),
            c.add(
                "transpose",
                c.add("reverse", c.add("concatenate", x, y, dimensions=(1,)), dimensions=(1,)),
                dimensions=(1, 0),
            ),
        ],
        array(t, 7, 5),
        array(t, 7, 3),
        tolerance=0,
    )


@pytest.mark.parametrize(
    ("dims", "result", "dimensions"),
    [
        ((), (3, 4), ()),
        ((4,), (3, 4), (1,)),
        ((3,), (3, 4), (0,)),
        ((3, 5), (2, 3, 4, 5, 6), (1, 3)),
        ((1, 5), (2, 1, 5), (1, 2)),
        ((2, 3), (2, 3, 4), (0, 1)),
    ],
)
def test_broadcast(dims: tuple[int, ...], result: tuple[int, ...], dimensions: tuple[int, ...]) -> None:
    check(lambda c, x: c.add("broadcast", x, shape=f32(*result), dimensions=dimensions), f32(*dims), tolerance=0)


def test_reshapes_inside_a_fusion_cost_no_division() -> None:
    def build(c, x, y):
        column = c.add("broadcast", y, shape=f32(6, 4, 10), dimensions=(1,))
        return c.add("add", c.add("reshape", x, shape=f32(24, 10)), c.add("reshape", column, shape=f32(24, 10)))

    loaded = check(build, f32(6, 40), f32(4))
    innermost = loaded.text.split("\ndim2.body")[1].split("br label")[0]
    assert "load float" in innermost
    assert "div" not in innermost
    assert "rem" not in innermost


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_chains_of_movements(data: st.DataObject) -> None:
    """Random chains of reshape, transpose, reverse, slice, pad and broadcast have numpy's results."""
    dims = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    steps = data.draw(
        st.lists(st.sampled_from(["reshape", "transpose", "reverse", "slice", "pad", "broadcast"]), max_size=5)
    )

    def build(c, x):
        for step in steps:
            shape = x.shape.dimensions
            if step == "reshape":
                factors = [p for n in shape for p in _factors(n)]
                factors = data.draw(st.permutations(factors))
                cuts = sorted(data.draw(st.lists(st.integers(0, len(factors)), max_size=3)))
                pieces = [factors[a:b] for a, b in zip([0, *cuts], [*cuts, len(factors)], strict=True)]
                x = c.add("reshape", x, shape=array(T.S32, *[math.prod(p) for p in pieces]))
            elif step == "transpose":
                x = c.add("transpose", x, dimensions=tuple(data.draw(st.permutations(range(len(shape))))))
            elif step == "reverse":
                x = c.add("reverse", x, dimensions=tuple(d for d in range(len(shape)) if data.draw(st.booleans())))
            elif step == "slice":
                ranges = []
                for n in shape:
                    start = data.draw(st.integers(0, n - 1))
                    limit = data.draw(st.integers(start + 1, n))
                    ranges.append(SliceDimension(start, limit, data.draw(st.integers(1, 2))))
                x = c.add("slice", x, slice=tuple(ranges))
            elif step == "pad":
                edges = [PaddingDimension(*(data.draw(st.integers(0, 2)) for _ in range(3))) for _ in shape]
                x = c.add("pad", x, scalar(c, 7, T.S32), padding=tuple(edges))
            elif len(shape) < 5:
                at = data.draw(st.integers(0, len(shape)))
                result = (*shape[:at], data.draw(st.integers(1, 3)), *shape[at:])
                kept = tuple(d for d in range(len(result)) if d != at)
                x = c.add("broadcast", x, shape=array(T.S32, *result), dimensions=kept)
        return c.add("negate", x)

    check(build, array(T.S32, *dims), tolerance=0)


def _factors(n: int) -> list[int]:
    for p in (2, 3, 5):
        if n % p == 0:
            return [p, *_factors(n // p)]
    return [] if n == 1 else [n]


def test_padding_of_every_kind() -> None:
    edges = (PaddingDimension(1, 2, 0), PaddingDimension(-1, 3, 2), PaddingDimension(0, -2, 0))
    check(lambda c, x: c.add("pad", x, scalar(c, 1.5), padding=edges), f32(5, 6, 7), tolerance=0)
    check(lambda c, x: c.add("pad", x, scalar(c, 1.5), padding=(PaddingDimension(2, 1),)), f32(0), tolerance=0)


def test_concatenation_of_many() -> None:
    def build(c, *parts):
        return c.add("sqrt", c.add("concatenate", *parts, dimensions=(0,)))

    shapes = [f32(n, 3) for n in (1, 4, 0, 2, 5)]
    check(build, *shapes, arguments=[np.abs(random_array(s, i)) for i, s in enumerate(shapes)])
    check(
        lambda c, *parts: c.add("concatenate", *parts, dimensions=(1,)), f32(4, 5), f32(4, 70), f32(4, 1), tolerance=0
    )


def _cross_products(count: int):
    """A chain of cross products of vectors that are rows: each element of one needs two others of the one before."""

    def build(c, x, y):
        for _ in range(count):
            pick = [
                [c.add("slice", v, slice=(SliceDimension(0, 9), SliceDimension(k, k + 1))) for k in range(3)]
                for v in (x, y)
            ]
            parts = [
                c.add(
                    "subtract",
                    c.add("multiply", pick[0][(k + 1) % 3], pick[1][(k + 2) % 3]),
                    c.add("multiply", pick[0][(k + 2) % 3], pick[1][(k + 1) % 3]),
                )
                for k in range(3)
            ]
            x = c.add("concatenate", *parts, dimensions=(1,))
        return x

    return build


def test_the_parts_of_a_concatenation_share_what_they_compute() -> None:
    lines = [check(_cross_products(n), f32(9, 3), f32(9, 3)).text.count("\n") for n in (2, 4, 8)]
    assert lines[2] - lines[1] < 2.5 * (lines[1] - lines[0])


def test_iota_and_constants() -> None:
    table = np.arange(30, dtype=np.float32).reshape(5, 6)
    for t in (T.S8, T.S64, T.F32, T.BF16, T.C64):
        check(
            lambda c, x, t=t: c.add("add", x, c.add("iota", shape=array(t, 5, 6), iota_dimension=1)),
            array(t, 5, 6),
            tolerance=0,
        )
    check(lambda c, x: c.add("add", x, c.constant(Literal(table))), f32(5, 6), tolerance=0)


@pytest.mark.parametrize("t", [T.S32, T.U8, T.S64])
def test_dynamic_slices_stay_inside(t: T) -> None:
    for i, j in ((0, 0), (3, 50), (200, 1), (-5, 7)):
        indices = [np.asarray(v).astype(t.dtype) for v in (i, j)]
        check(
            lambda c, x, a, b: c.add("dynamic-slice", x, a, b, dynamic_slice_sizes=(4, 12)),
            f32(10, 30),
            array(t),
            array(t),
            arguments=[random_array(f32(10, 30)), *indices],
            tolerance=0,
        )
        check(
            lambda c, x, u, a, b: c.add("dynamic-update-slice", x, u, a, b),
            f32(10, 30),
            f32(4, 30),
            array(t),
            array(t),
            arguments=[random_array(f32(10, 30)), random_array(f32(4, 30), 1), *indices],
            tolerance=0,
        )


def test_update_in_place_writes_the_update_alone() -> None:
    x, u = random_array(f32(50, 30)), random_array(f32(1, 30), 1)
    instruction = fuse(
        lambda c, x, u, i: c.add("dynamic-update-slice", x, c.add("negate", u), i, scalar(c, 0, S32)),
        f32(50, 30),
        f32(1, 30),
        array(S32),
    )
    assert may_share_buffer(instruction, 0, 0)
    assert not may_share_buffer(instruction, 0, 1)
    loaded = Loaded(instruction, aliasing={(0, 0)})
    assert loaded.kernel.partition_count <= 30
    (got,) = loaded(x, u, np.int32(7))
    expected = x.copy()
    expected[7] = -u[0]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("layouts", [((0, 1, 2), (2, 1, 0)), ((2, 1, 0), (0, 2, 1)), ((1, 0, 2), (1, 0, 2))])
def test_layouts(layouts: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    source, target = layouts
    shape = f32(4, 5, 6).with_layout(Layout(source))
    instruction = fuse(lambda c, x: c.add("negate", x), shape)
    instruction.shape = instruction.shape.with_layout(Layout(target))
    instruction.attribute("calls").root.shape = instruction.shape
    x = random_array(f32(4, 5, 6))
    (got,) = Loaded(instruction)(x)
    np.testing.assert_array_equal(got, -x)


def test_packed_elements() -> None:
    """A byte has two elements of s4, the first in the low bits."""
    packed = array(T.S4, 4, 6).with_layout(Layout((1, 0), element_size_in_bits=4))
    instruction = fuse(lambda c, x: c.add("convert", x, shape=array(T.S32, 4, 6)), packed)
    values = np.arange(-8, 16)[:24].reshape(4, 6) % 16 - 8
    nibbles = (values.reshape(-1) & 15).astype(np.uint8)
    data = np.zeros((4, 6), np.uint8)
    data.reshape(-1)[:12] = nibbles[::2] | nibbles[1::2] << 4
    (got,) = Loaded(instruction)(data.view(T.S4.dtype))
    np.testing.assert_array_equal(got, values)


def test_nothing_to_do() -> None:
    loaded = Loaded(fuse(lambda c, x: c.add("negate", x), f32(0, 5)))
    assert loaded.kernel.partition_count == 0


def test_gather_and_results_of_several_shapes() -> None:
    def build(c, x, i):
        rows = c.add(
            "gather",
            x,
            i,
            offset_dims=(1,),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            index_vector_dim=1,
            slice_sizes=(1, 30),
        )
        return [rows, c.add("negate", x), c.add("exponential", rows)]

    indices = np.array([3, -2, 9, 100, 0, 3], np.int32)
    check(build, f32(10, 30), array(S32, 6), arguments=[random_array(f32(10, 30)), indices])


def test_gather_with_batching_and_windows() -> None:
    def build(c, x, i):
        return c.add(
            "gather",
            x,
            i,
            offset_dims=(1, 2),
            collapsed_slice_dims=(),
            start_index_map=(2, 1),
            operand_batching_dims=(0,),
            start_indices_batching_dims=(1,),
            index_vector_dim=0,
            slice_sizes=(1, 2, 3),
        )

    indices = np.random.default_rng(0).integers(-2, 9, (2, 4, 5)).astype(np.int64)
    check(build, f32(4, 6, 7), array(T.S64, 2, 4, 5), arguments=[random_array(f32(4, 6, 7)), indices], tolerance=0)


def test_the_evaluator_is_an_independent_oracle() -> None:
    instruction = fuse(lambda c, x: c.add("transpose", x, dimensions=(1, 0)), f32(3, 4))
    x = random_array(f32(3, 4))
    np.testing.assert_array_equal(evaluate_computation(instruction.attribute("calls"), [x])[0], x.T)


def test_an_update_may_read_what_it_replaces() -> None:
    """A row of a buffer is read, changed and written back: the carry of a scan."""

    def build(c, x, i, shift):
        zero = scalar(c, 0, S32)
        row = c.add("dynamic-slice", x, i, zero, dynamic_slice_sizes=(1, 30))
        flat = c.add("reshape", row, shape=f32(30))
        changed = c.add("reshape", c.add("multiply", flat, flat), shape=f32(1, 30))
        place = c.add("add", i, shift) if shift is not None else i
        return c.add("dynamic-update-slice", x, changed, place, zero)

    same = fuse(lambda c, x, i: build(c, x, i, None), f32(50, 30), array(S32))
    assert may_share_buffer(same, 0, 0)
    x = random_array(f32(50, 30))
    (got,) = Loaded(same, aliasing={(0, 0)})(x, np.int32(7))
    expected = x.copy()
    expected[7] *= x[7]
    np.testing.assert_array_equal(got, expected)
    moved = fuse(build, f32(50, 30), array(S32), array(S32))
    assert not may_share_buffer(moved, 0, 0)


@pytest.mark.parametrize("t", [T.PRED, T.BF16, T.F32, T.C64, T.F64, T.C128], ids=str)
def test_large_transposes_go_by_tiles(t: T) -> None:
    def build(c, x, y):
        return [c.add("transpose", x, dimensions=(1, 0)), c.add("transpose", y, dimensions=(2, 0, 1))]

    loaded = check(build, array(t, 100, 77), array(t, 9, 40, 37), tolerance=0)
    assert ("shufflevector" in loaded.text) == (t is not T.C128)


def test_small_minor_dimensions_are_vectors_too() -> None:
    loaded = check(
        lambda c, x, y: c.add("add", x, c.add("broadcast", y, shape=x.shape, dimensions=(1,))), f32(200, 16), f32(16)
    )
    assert "scatter" not in loaded.compiled.ir()
