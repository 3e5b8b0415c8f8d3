"""The sort of a row by one thread."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, array, scalar_body
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.values.element_type import ElementType as T


@pytest.mark.parametrize("element_type", [T.F32, T.F64, T.F16, T.BF16, T.S16, T.S64])
def test_elements_are_selected_as_integers(element_type) -> None:
    """A processor without masks takes a branch to select a float, which it mispredicts half of the time."""
    outer, shape = HloComputation("outer"), array(element_type, 1000)
    less = scalar_body("compare", element_type, direction="LT")
    kernel = Loaded(outer.add("sort", outer.parameter(0, shape), dimensions=(0,), to_apply=less))
    assert re.search(r"select i1 %\S+, i\d+ %", kernel.text)
    assert not re.search(r"select i1 %\S+, (half|float|double) ", kernel.text)
    row = np.random.default_rng(5).permutation(1000).astype(shape.dtype)
    (got,) = kernel(row)
    assert np.array_equal(got, np.sort(row))


def test_bits_of_nans_and_zeros_are_kept() -> None:
    outer, less = HloComputation("outer"), HloComputation("less")
    x, y = (less.parameter(i, array(T.F32)) for i in range(2))
    less.add("compare", x, y, direction="LT", type="TOTALORDER")
    sort = outer.add("sort", outer.parameter(0, array(T.F32, 100)), dimensions=(0,), to_apply=less)
    row = np.linspace(-1, 1, 100, dtype=np.float32)
    row[[3, 50, 70]] = np.array([0x7FC01234, 0x80000000, 0xFFC04321], np.uint32).view(np.float32)
    (got,) = Loaded(sort)(row)
    assert sorted(got.view(np.uint32)) == sorted(row.view(np.uint32))
    assert got.view(np.uint32)[[0, -1]].tolist() == [0xFFC04321, 0x7FC01234]
