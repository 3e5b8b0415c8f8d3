"""Sines, cosines and tangents of numbers of any size, near multiples of pi / 2 too."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo.decompositions.hlo_arithmetic import HloArithmetic
from xla_core.hlo.ir.builder import Builder

mpmath = pytest.importorskip("mpmath")

HARD = [16367173 * 2.0**72, 5053908.0, 1.5707964, 3.1415927, 6.2831855, 4.712389, 2.0**127 * 1.9999999, 1e-45]
"""The f32 nearest to a multiple of pi / 2, and others."""


def _numbers() -> np.ndarray:
    """A few numbers of each exponent, and multiples of pi / 2."""
    mantissas = np.random.default_rng(0).integers(1 << 23, 1 << 24, (254, 4))
    spread = np.ldexp(mantissas.astype(np.float64), np.arange(-149, 105)[:, None]).ravel()
    numbers = np.concatenate([spread, np.arange(1, 400) * np.pi / 2, HARD]).astype(np.float32)
    return np.concatenate([numbers, -numbers])


@pytest.mark.parametrize(("opcode", "exact"), [("sine", "sin"), ("cosine", "cos"), ("tan", "tan")])
def test_trigonometric_functions_of_f32_are_right_to_the_last_bit(opcode: str, exact: str) -> None:
    x = _numbers()
    text = f"HloModule m\n\nENTRY e {{\n  x = f32[{x.size}] parameter(0)\n  ROOT y = f32[{x.size}] {opcode}(x)\n}}\n"
    results = np.asarray(xla.Client("cpu").compile(text)(x)[0])
    with mpmath.workprec(300):
        errors = []
        for argument, result in zip(x.tolist(), results, strict=True):
            expected = getattr(mpmath, exact)(mpmath.mpf(argument))
            unit = np.spacing(np.abs(np.float32(float(expected))))
            errors.append(abs(float((mpmath.mpf(float(result)) - expected) / mpmath.mpf(float(unit)))))
    assert max(errors) < 0.51


def test_an_entry_of_a_table_is_selected_without_loads() -> None:
    table = [0.5, -1.0, 2.0**-300, float("inf"), 3.0]
    module = xla.parse("HloModule m\n\nENTRY e {\n  ROOT place = s32[5] parameter(0)\n}\n")
    place = module.entry.root
    module.entry.set_root(HloArithmetic(Builder(module.entry), place.shape).entry(table, place))
    (found,) = xla.evaluate(module, np.array([4, 0, 2, 3, 1], np.int32))
    assert found.tolist() == [3.0, 0.5, 2.0**-300, float("inf"), -1.0]
