"""Layouts on the device against XLA's definition, written out index by index."""

from __future__ import annotations

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xla_core.hlo import ElementType, Layout, Shape
from xla_core.target import array_size_bytes, from_device_layout, to_device_layout

F32 = ElementType.F32


def linear_index(index: tuple[int, ...], shape: Shape) -> int:
    """Where an element lies, by XLA's "tiled layout" document: each tile splits the minor-most dimensions."""
    layout = shape.layout
    order = layout.minor_to_major[::-1]
    position = [index[d] for d in order]
    extent = [shape.dimensions[d] for d in order]
    for tile in layout.tiles:
        rank = len(tile)
        while len(position) < rank:
            position.insert(0, 0)
            extent.insert(0, 1)
        head = len(position) - rank
        outer = [p // t for p, t in zip(position[head:], tile, strict=True)]
        inner = [p % t for p, t in zip(position[head:], tile, strict=True)]
        counts = [math.ceil(e / t) for e, t in zip(extent[head:], tile, strict=True)]
        position = position[:head] + outer + inner
        extent = extent[:head] + counts + list(tile)
    flat = 0
    for p, e in zip(position, extent, strict=True):
        flat = flat * e + p
    return flat


shapes = st.lists(st.integers(1, 5), min_size=0, max_size=4).flatmap(
    lambda dims: st.tuples(
        st.just(tuple(dims)),
        st.permutations(range(len(dims))),
        st.sampled_from([(), ((2,),), ((2, 3),), ((4, 2), (2, 1)), ((8,), (2,))]),
    )
)


@settings(max_examples=150, deadline=None)
@given(shapes)
def test_layout_matches_the_definition_and_comes_back(case) -> None:
    dims, order, tiles = case
    shape = Shape(F32, dims, Layout(tuple(order), tiles if dims else ()))
    array = np.arange(1, math.prod(dims) + 1, dtype=np.float32).reshape(dims)
    data = to_device_layout(array, shape)
    assert data.dtype == np.uint8
    assert data.size == array_size_bytes(shape)
    values = data.view(np.float32)
    for index in itertools.product(*map(range, dims)):
        assert values[linear_index(index, shape)] == array[index]
    assert np.array_equal(from_device_layout(np.concatenate([data, np.zeros(7, np.uint8)]), shape), array)


@pytest.mark.parametrize("kind", [ElementType.S4, ElementType.U4, ElementType.S2, ElementType.U2])
def test_packed_elements(kind: ElementType) -> None:
    bits = kind.bit_width
    low, high = (-(1 << (bits - 1)), 1 << (bits - 1)) if kind.is_signed else (0, 1 << bits)
    array = np.resize(np.arange(low, high), (3, 7)).astype(kind.dtype)
    shape = Shape(kind, (3, 7), Layout((1, 0), (), bits))
    data = to_device_layout(array, shape)
    assert data.size == array_size_bytes(shape) == -(-21 * bits // 8)
    assert int(data[0]) & ((1 << bits) - 1) == int(array[0, 0]) & ((1 << bits) - 1)
    back = from_device_layout(data, shape)
    assert back.dtype == kind.dtype
    assert np.array_equal(back.astype(np.int8), array.astype(np.int8))


@pytest.mark.parametrize("kind", [t for t in ElementType if t.is_array])
def test_every_element_type_makes_the_trip(kind: ElementType) -> None:
    raw = np.random.default_rng(1).integers(0, 2 if kind is ElementType.PRED else 4, (3, 5))
    array = raw.astype(kind.dtype)
    for shape in (
        Shape(kind, (3, 5)),
        Shape(kind, (3, 5), Layout((0, 1))),
        Shape(kind, (3, 5), Layout((1, 0), ((2, 4),))),
    ):
        back = from_device_layout(to_device_layout(array, shape), shape)
        assert back.dtype == array.dtype
        assert back.tobytes() == array.tobytes()


def test_strides_and_byte_views_without_a_copy() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.shares_memory(to_device_layout(array, Shape(F32, (3, 4)).with_default_layout()), array)
    assert np.shares_memory(to_device_layout(array.T, Shape(F32, (4, 3), Layout((0, 1)))), array)
    strided = array[::2, ::-1]
    data = to_device_layout(strided, Shape(F32, (2, 4)).with_default_layout())
    assert data.view(np.float32).tolist() == strided.ravel().tolist()
    assert to_device_layout(np.zeros((0, 3), ml_dtypes.bfloat16), Shape(ElementType.BF16, (0, 3))).size == 0
