"""Checks of elementwise functions of complex numbers, against Arb and C's Annex G.

The error of a result is the larger one of its two parts' errors, each in units in the last place of that part. Where a
part is a difference of larger numbers (`NORMWISE`), both are in units in the last place of the larger part. The error
of x^y is divided by 1 + |y log x| / 1024: y multiplies the error of log x, so that bounding the quotient asks for a
logarithm that is ten bits more exact than its type.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from xla_conformance.accuracy.complex_functions.oracle import COMPLEX_FUNCTIONS, Exact, exact_values, ulp_errors
from xla_conformance.accuracy.complex_functions.points import (
    complex_pairs,
    complex_points,
    finite_corners,
    special_points,
)
from xla_conformance.accuracy.complex_functions.specials import NORMWISE, special_quotient, special_value
from xla_conformance.accuracy.frame import Check, Measured, Worst
from xla_conformance.subjects import Subject
from xla_core.hlo import ElementType

TYPES = (ElementType.C64, ElementType.C128)

_INFINITE = frozenset({"divide", "multiply", "power"})
"""Functions for which a result that is too large may be infinite in either part, whatever the other part is (C's G.3).
"""

_GROWTH = 1024
"""The exponents up to which the error of the logarithm is within the bound of the power's own error."""

_SHARE = 10  # there are so many points of f32 for each point here
_LEAST = 16


def checks() -> list[Check]:
    """A check for each function and type."""
    return [_check(name, t) for name in COMPLEX_FUNCTIONS for t in TYPES]


def _check(function: str, element_type: ElementType) -> Check:
    def measure(subject: Subject, points: int) -> Measured:
        total = _Total(function, element_type.component.dtype)
        ordinary, exact = _ordinary_points(function, element_type, max(points // _SHARE, _LEAST))
        special = _special_operands(function, element_type.dtype)
        operands = [np.concatenate([z, s]) for z, s in zip(ordinary, special, strict=True)]
        (results,) = subject.run(_program(function, element_type, len(operands[0])), *operands)
        results, count = np.asarray(results), len(ordinary[0])
        total.add(ordinary, results[:count], exact)
        for *at, got in zip(*special, results[count:], strict=True):
            total.add_special(tuple(map(complex, at)), complex(got))
        return total.measured()

    unit = "ULP of |z|" if function in NORMWISE else "ULP"
    unit = "ULP of |z| (1 + |y log x| / 1024)" if function == "power" else unit
    return Check("complex", function, element_type.value, unit, measure)


def _program(function: str, element_type: ElementType, count: int) -> str:
    arity, _ = COMPLEX_FUNCTIONS[function]
    if function == "square":  # CHLO's
        tensor = f"tensor<{count}xcomplex<{element_type.component.value}>>"
        signature = f"func.func @main(%z: {tensor}) -> {tensor}"
        return f"{signature} {{\n  %r = chlo.square %z : {tensor} -> {tensor}\n  return %r : {tensor}\n}}\n"
    type = f"{element_type.value}[{count}]"
    result = f"{element_type.component.value}[{count}]" if function == "abs" else type
    parameters = "\n".join(f"  p{i} = {type} parameter({i})" for i in range(arity))
    names = ", ".join(f"p{i}" for i in range(arity))
    return f"HloModule {function}\n\nENTRY main {{\n{parameters}\n  ROOT result = {result} {function}({names})\n}}\n"


@functools.lru_cache(2)
def _ordinary_points(
    function: str, element_type: ElementType, count: int
) -> tuple[Sequence[np.ndarray], tuple[Exact, Exact]]:
    """Returns operands and exact values. They are cached, because the next subject uses the same ones."""
    points = _points(function, element_type, count)
    return points, exact_values(function, points)


def _points(function: str, element_type: ElementType, count: int) -> Sequence[np.ndarray]:
    seed = sum(map(ord, function))
    if COMPLEX_FUNCTIONS[function][0] == 2:
        a, b = complex_pairs(element_type.dtype, count, seed)
        kept = ~_POLES[function](a, b) if function in _POLES else slice(None)
        return a[kept], b[kept]
    corners = finite_corners(element_type.dtype)
    some = np.random.default_rng(seed).permutation(len(corners))[:count]
    points = np.concatenate([complex_points(element_type.dtype, count, seed), corners[some]])
    return [points[[special_value(function, complex(z)) is None for z in points]]]


_POLES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "atan2": lambda y, x: (y == 1j * x) | (y == -1j * x),
    "divide": lambda a, b: b == 0,
    "power": lambda a, b: a == 0,
}
"""The poles of functions of two operands."""


def _special_operands(function: str, dtype: np.dtype) -> list[np.ndarray]:
    if function == "divide":
        some = np.array(
            [0, complex(0, -0.0), 1, -2j, complex(math.inf, 1), complex(-math.inf, math.inf), 1e30 + 1j], dtype
        )
        first, second = np.meshgrid(some, some)
        return [first.ravel(), second.ravel()]
    if COMPLEX_FUNCTIONS[function][0] > 1 or function == "square":
        return [np.zeros(0, dtype)] * COMPLEX_FUNCTIONS[function][0]
    return [np.concatenate([special_points(dtype), finite_corners(dtype)])]


class _Total:
    """The largest error so far, and where."""

    def __init__(self, function: str, dtype: np.dtype) -> None:
        self.function, self.dtype = function, dtype
        self.points = self.wrong = 0
        self.error = 0.0
        self.worst: Worst | None = None
        self.first_wrong: Worst | None = None

    def add(self, operands: Sequence[np.ndarray], results: np.ndarray, exact: tuple[Exact, Exact]) -> None:
        real, imag = exact
        scales = (imag, real) if self.function in NORMWISE else (None, None)
        errors = np.maximum(ulp_errors(results.real, real, scales[0]), ulp_errors(results.imag, imag, scales[1]))
        with np.errstate(all="ignore"):
            if self.function == "power":
                base, exponent = (z.astype(np.complex128) for z in operands)
                errors = errors / (1 + np.abs(exponent * np.log(base)) / _GROWTH)
            if self.function in _INFINITE:
                overflows = np.maximum(real.exponent, imag.exponent) > np.finfo(self.dtype).maxexp
                errors = np.where(overflows & np.isinf(results), 0, errors)
        known = ~(np.isnan(real.mantissa) | np.isnan(imag.mantissa))
        self.points += int(np.count_nonzero(known))
        errors = np.where(known, np.where(np.isnan(errors), np.inf, errors), -1)
        place = int(np.argmax(errors))
        if errors[place] > self.error:
            self.error = float(errors[place])
            expected = ", ".join(repr(float(part.rounded()[place])) for part in exact)
            self.worst = _worst(tuple(complex(z[place]) for z in operands), complex(results[place]), expected)

    def add_special(self, z: tuple[complex, ...], got: complex) -> None:
        if self.function == "divide":
            right = special_quotient(z[0], z[1], got)
            expected = "as C's Annex G has it"
        else:
            parts = special_value(self.function, z[0])
            right = None if parts is None else parts[0].allows(got.real) and parts[1].allows(got.imag)
            expected = "" if parts is None else f"{parts[0].value}, {parts[1].value}"
        self.points += right is not None
        if right is False:
            self.wrong += 1
            self.first_wrong = self.first_wrong or _worst(z, got, expected)

    def measured(self) -> Measured:
        return Measured(self.points, self.error, self.worst, self.wrong, self.first_wrong)


def _worst(z: tuple[complex, ...], got: complex, expected: str) -> Worst:
    return Worst(", ".join(map(_text, z)), _text(got), expected)


def _text(z: complex) -> str:
    return f"({z.real!r}, {z.imag!r})"
