"""Compares in the order of numbers take two compares of floats; what only looks like them stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.xla_core.codegen.llvm.kernels import Loaded, array, fuse
from xla_core.hlo.evaluator import evaluate_computation
from xla_core.hlo.values.element_type import ElementType as T
from xla_core.hlo.values.literal import Literal

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-7, -1e-7, np.inf, -np.inf, np.nan, -np.nan]
TYPES = [T.F16, T.BF16, T.F32, T.F64]
LARGER_NAN = np.uint32(0x7FC00001).view(np.float32)


def compared(
    t: T,
    direction: str,
    *,
    nans: tuple[float, float] = (np.nan, np.nan),
    zero: float = 0.0,
    compare: str = "TOTALORDER",
):
    """Compares each special value with each, and returns the kernel's code and result, and what the evaluator says.

    `nans` are what NaNs of the first and of the second operand become.
    """
    shape = array(t, len(SPECIAL) ** 2)
    x, y = (grid.ravel().astype(t.dtype) for grid in np.meshgrid(SPECIAL, SPECIAL))

    def build(c, *operands):
        def everywhere(value):
            scalar = array(t)
            constant = c.add("constant", shape=scalar, literal=Literal(np.asarray(value, t.dtype), scalar))
            return c.add("broadcast", constant, shape=shape, dimensions=())

        def canonical(value, nan):
            zeros = everywhere(zero)
            number = c.add("select", c.add("compare", value, everywhere(0.0), direction="EQ"), zeros, value)
            return c.add("select", c.add("compare", value, value, direction="NE"), everywhere(nan), number)

        return c.add("compare", *map(canonical, operands, nans), direction=direction, type=compare)

    fusion = fuse(build, shape, shape)
    loaded = Loaded(fusion)
    (got,) = loaded(x, y)
    (want,) = evaluate_computation(fusion.attribute("calls"), [x, y])
    return loaded.text, got, np.asarray(want)


@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("t", TYPES, ids=str)
def test_two_compares_order_all_numbers(t: T, direction: str) -> None:
    text, got, want = compared(t, direction)
    assert "ashr" not in text
    assert " select " not in text
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "other",
    [
        {"nans": (-np.nan, -np.nan)},
        {"nans": (2.0, 2.0)},
        {"nans": (np.nan, LARGER_NAN)},
        {"nans": (LARGER_NAN, np.nan)},
        {"zero": -0.0},
        {"zero": 1.0},
        {"compare": "FLOAT"},
    ],
    ids=str,
)
def test_other_orders_stay(other) -> None:
    text, got, want = compared(T.F32, "LT", **other)
    assert " select " in text
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("direction", ["EQ", "LE", "GE", "NE"])
def test_other_directions_stay(direction: str) -> None:
    text, got, want = compared(T.F32, direction)
    assert "ashr" in text
    np.testing.assert_array_equal(got, want)
