"""Kinds of numbers are such that their reductions have one result in any order."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.ops.kinds import of_kind

from xla_core.hlo import ElementType, Shape


@pytest.mark.parametrize("element", [ElementType.C128, ElementType.F64, ElementType.F32])
def test_single_elements_of_many_rows_have_an_exact_sum(element: ElementType) -> None:
    for seed in range(20):
        made = of_kind("single", "add", element, element, 1 + 64)(Shape(element, (64, 9)), np.random.default_rng(seed))
        parts = np.abs(made.view(element.component.dtype).reshape(made.size, -1)).astype(np.float64)
        assert parts.sum(axis=0).max() <= 2.0 ** (element.component.mantissa_bits + 1)


@pytest.mark.parametrize("element", [ElementType.F32, ElementType.BF16, ElementType.S32])
def test_rows_of_nans_have_nothing_else(element: ElementType) -> None:
    made = of_kind("all nan", "maximum", element, element, 1)(Shape(element, (3, 9)), np.random.default_rng(0))
    assert np.isnan(made.astype(np.float64)).all() == element.is_floating
