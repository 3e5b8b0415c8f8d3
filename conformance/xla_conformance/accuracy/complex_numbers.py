"""Elementwise functions of complex numbers, against mpmath and C's Annex G.

The error is that of the part which is further off, in units in the last place of that part; of functions whose parts
cancel (`NORMWISE`), in units of the larger part. That of x^y is divided by 1 + |y log x|, the factor by which an error
of the logarithm grows.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from xla_conformance.accuracy.complex_oracle import COMPLEX_FUNCTIONS, Exact, exact_value, ulp_error
from xla_conformance.accuracy.complex_points import complex_pairs, complex_points, finite_corners, special_points
from xla_conformance.accuracy.complex_specials import special_quotient, special_value
from xla_conformance.accuracy.frame import Check, Measured, Worst
from xla_conformance.accuracy.subjects import Subject
from xla_core.hlo import ElementType

__all__ = ["NORMWISE", "TYPES", "checks"]

TYPES = (ElementType.C64, ElementType.C128)

NORMWISE = frozenset({"atan2", "divide", "exponential-minus-one", "logistic", "multiply", "power"})
"""Functions with a part that can be the difference of larger numbers: their error is relative to the larger part."""

_SHARE = 10_000  # points of f32 for one of ours: mpmath takes milliseconds
_LEAST = 16

_Point = tuple[tuple[complex, ...], Exact, Exact]


def checks() -> list[Check]:
    """A check a function and type."""
    return [_check(name, t) for name in COMPLEX_FUNCTIONS for t in TYPES]


def _check(function: str, element_type: ElementType) -> Check:
    def measure(subject: Subject, points: int) -> Measured:
        total = _Total(function, element_type.component.dtype)
        count = max(points // _SHARE, _LEAST)
        ordinary = _exact_points(function, element_type, count)
        special = _special_operands(function, element_type.dtype)
        columns = zip(*[z for z, _, _ in ordinary], strict=True)
        operands = [np.concatenate([np.array(c, element_type.dtype), s]) for c, s in zip(columns, special, strict=True)]
        (results,) = subject.run(_program(function, element_type, len(operands[0])), *operands)
        for (z, real, imag), got in zip(ordinary, results, strict=False):
            total.add(z, complex(got), real, imag)
        for *at, got in zip(*special, results[len(ordinary) :], strict=True):
            total.add_special(tuple(map(complex, at)), complex(got))
        return total.measured()

    unit = "ULP of |z|" if function in NORMWISE else "ULP"
    unit = "ULP of |z| (1 + |y log x|)" if function == "power" else unit
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


@functools.lru_cache(128)
def _exact_points(function: str, element_type: ElementType, count: int) -> tuple[_Point, ...]:
    """Points and exact values. They are kept, for whoever is measured next."""
    return tuple(_points(function, element_type, count))


def _points(function: str, element_type: ElementType, count: int) -> Iterator[_Point]:
    arity, definition = COMPLEX_FUNCTIONS[function]
    seed = sum(map(ord, function))
    operands: Sequence[np.ndarray]
    if arity == 1:
        corners = finite_corners(element_type.dtype)
        some = np.random.default_rng(seed).permutation(len(corners))[:count]
        operands = [np.concatenate([complex_points(element_type.dtype, count, seed), corners[some]])]
    else:
        operands = complex_pairs(element_type.dtype, count, seed)
    for at in zip(*operands, strict=True):
        z = tuple(map(complex, at))
        if arity == 1 and special_value(function, z[0]) is not None:
            continue
        yield z, *exact_value(definition, *z)


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

    def add(self, z: tuple[complex, ...], got: complex, real: Exact, imag: Exact) -> None:
        scale = max(abs(real), abs(imag)) if self.function in NORMWISE else None
        self.points += 1
        error = max(ulp_error(got.real, real, self.dtype, scale), ulp_error(got.imag, imag, self.dtype, scale))
        if self.function == "power":
            error /= 1 + abs(z[1] * cmath.log(z[0]))
        if error > self.error:
            self.error = error
            self.worst = _worst(z, got, f"{float(real)!r}, {float(imag)!r}")

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
