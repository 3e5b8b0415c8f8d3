"""erfc and the inverse of erf, of f32 and f64."""

from __future__ import annotations

import math

from xla_core.hlo.element_type import ElementType
from xla_core.stablehlo.expressions import Expression, polynomial, select
from xla_core.stablehlo.special_functions.chebyshev import chebyshev
from xla_core.stablehlo.special_functions.coefficients import ERFCX

__all__ = ["erf_inv", "erfc"]


def erfc(x: Expression) -> Expression:
    """1 - erf(x), with its digits where that is small."""
    y = abs(x)
    # Beyond this the result is 0, and so it is: exp of a large negative number; inf - inf is avoided.
    y = y.minimum(30.0 if x.element_type is ElementType.F32 else 40.0)
    ratio = (y - 3.75) / (y + 3.75)
    scaled = chebyshev(ratio, ERFCX[x.element_type]) / (1.0 + 2.0 * y)
    positive = scaled * _exp_of_minus_square(y)
    return select(x < 0.0, 2.0 - positive, select(x.is_nan(), x, positive))


def _exp_of_minus_square(y: Expression) -> Expression:
    """exp(-y^2): the square of the upper half of y's digits is exact; the rest is so small that a cubic does for it."""
    bits = (8, 11) if y.element_type is ElementType.F32 else (11, 25)
    head = y.op("reduce-precision", exponent_bits=bits[0], mantissa_bits=bits[1])
    rest = (head - y) * (head + y)  # below y^2 / 2048: 0.05 where the result is not 0
    return (-(head * head)).exp() * polynomial(rest, (1 / 6, 0.5, 1.0, 1.0))


# Giles, "Approximating the erfinv function": polynomials in w = -log(1 - x^2), the highest power first.
_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


def erf_inv(x: Expression) -> Expression:
    """The y with erf(y) = x: infinite at -1 and 1, NaN outside."""
    w = -((1.0 - x) * (1.0 + x)).log()  # 1 - x * x would lose the digits of a small 1 - |x|
    central = w < 5.0
    at = select(central, w - 2.5, w.sqrt() - 3.0)
    y = x * select(central, polynomial(at, _CENTRAL), polynomial(at, _TAIL))
    if x.element_type is ElementType.F64:
        for _ in range(2):
            y = _halley(x, y)
    return select(abs(x).equal(1.0), x * math.inf, y)


def _halley(x: Expression, y: Expression) -> Expression:
    """One step toward erf(y) = x that triples the digits; in the tails both sides are taken from 1."""
    tail = (1.0 - abs(x)) - erfc(abs(y))
    error = select(abs(x) < 0.75, y.op("erf") - x, tail * x.sign())
    slope = (2.0 / math.sqrt(math.pi)) * (-(y * y)).exp()
    step = error / (slope + y * error)
    return select(slope.equal(0.0) | step.is_nan(), y, y - step)
