"""Loops over long chains of instructions compute two vectors at once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, f32, fuse

HINT = '!"llvm.loop.interleave.count", i32 2'


def chain(c, x):
    for _ in range(3):
        x = c.add("tanh", c.add("multiply", x, x))
    return x


def reference(x):
    for _ in range(3):
        x = np.tanh(x * x)
    return x


@pytest.mark.parametrize(
    ("dims", "overlaps"),
    [((1 << 15,), True), ((1 << 15) + 77, True), ((1 << 10,), False), ((300, 200), True)],
    ids=["whole vectors", "and a rest", "few elements", "matrix"],
)
def test_which_loops_overlap(dims, overlaps) -> None:
    shape = f32(*dims) if isinstance(dims, tuple) else f32(dims)
    kernel = Loaded(fuse(chain, shape))
    assert (HINT in kernel.text) == overlaps
    x = np.linspace(-2, 2, int(np.prod(shape.dimensions)), dtype=np.float32).reshape(shape.dimensions)
    (got,) = kernel(x)
    np.testing.assert_allclose(got, reference(x), rtol=1e-5)


def test_short_bodies_do_not_overlap() -> None:
    assert HINT not in Loaded(fuse(lambda c, x: c.add("multiply", x, x), f32(1 << 15))).text
