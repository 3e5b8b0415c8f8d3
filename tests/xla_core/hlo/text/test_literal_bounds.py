"""Numbers of constants that their type doesn't hold."""

from __future__ import annotations

import warnings

import numpy as np

from xla_core.hlo import parse_hlo


def test_numbers_beyond_the_range_are_infinities_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = parse_hlo("HloModule m\n\nENTRY e {\n  ROOT x = f32[2] constant({1e39, -1e39})\n}\n")
    np.testing.assert_array_equal(module.entry.root.literal.array, [np.inf, -np.inf])
