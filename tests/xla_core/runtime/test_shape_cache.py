"""The cache of shapes is right and bounded."""

from __future__ import annotations

import numpy as np

from xla_core.hlo import ElementType, Layout, Shape
from xla_core.runtime import shape_cache
from xla_core.runtime.shape_cache import intern_shape, row_major_bytes


def test_equal_shapes_are_one_object() -> None:
    a, b = Shape(ElementType.F32, (3, 5, 7)), Shape(ElementType.F32, (3, 5, 7))
    assert intern_shape(a) is intern_shape(b)


def test_the_tables_are_bounded(client) -> None:
    for n in range(3 * shape_cache._LIMIT):
        shape = intern_shape(Shape(ElementType.U8, (n,)))
        assert row_major_bytes(shape) == n
        client.devices[0].byte_size(shape)
    for table in (shape_cache._interned, shape_cache._row_major, client.devices[0]._sizes):
        assert len(table) <= shape_cache._LIMIT


def test_a_forgotten_shape_still_fits_an_executable(client) -> None:
    exe = client.compile("HloModule m\n\nENTRY e {\n  p = f32[3] parameter(0)\n  ROOT n = f32[3] negate(p)\n}\n")
    shape_cache._interned.clear()
    client._device_shapes.clear()
    buffer = client.buffer_from_host(np.float32([1, 2, 3]))
    assert np.asarray(exe(buffer)[0]).tolist() == [-1, -2, -3]


def test_layouts_that_numpy_does_not_have_are_told_apart() -> None:
    assert row_major_bytes(Shape(ElementType.F32, (2, 3), Layout((1, 0)))) == 24
    assert row_major_bytes(Shape(ElementType.F32, (2, 3), Layout((0, 1)))) is None
    assert row_major_bytes(Shape(ElementType.S4, (8,), Layout((0,), element_size_in_bits=4))) is None
