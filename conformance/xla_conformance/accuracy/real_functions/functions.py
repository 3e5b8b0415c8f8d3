"""The functions of real numbers that are measured, and the arguments where each is hardest."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from xla_conformance.accuracy.real_functions.oracles import WIDE
from xla_core.hlo import ElementType

Array = np.ndarray
Pairs = Callable[[np.random.Generator, np.dtype, int], tuple[Array, Array]]
"""Makes two arrays of arguments: (random generator, dtype, count) -> arrays of length `count`."""


@dataclasses.dataclass(frozen=True)
class Function:
    """A function of one or two operands.

    Attributes:
        name: the name of its oracle and of its row in the report.
        op: the op in StableHLO text.
        ranges, near: for a function of one operand, intervals with additional points, and numbers whose neighbours are
            additional points.
        angles: whether multiples of pi / 2 are hard arguments.
        pairs: makes arguments of a function of two operands, besides bit patterns and special values.
        floor: (operands) -> sizes. The unit of an error is at least the ULP of this size; 0 makes errors relative.
        share: the share of the points to measure; less than 1 for a slow oracle.
    """

    name: str
    op: str
    ranges: tuple[tuple[float, float], ...] = ()
    near: tuple[float, ...] = ()
    angles: bool = False
    pairs: Pairs | None = None
    floor: Callable[..., Array] | None = None
    share: float = 1.0

    @property
    def arity(self) -> int:
        return 1 if self.pairs is None else 2

    def program(self, element_type: ElementType, count: int) -> str:
        """Returns StableHLO text of the function on `count` elements."""
        t = f"tensor<{count}x{element_type.mlir_name}>"
        arguments = ", ".join(f"%{i}: {t}" for i in range(self.arity))
        operands = ", ".join(f"%{i}" for i in range(self.arity))
        types = f"{', '.join([t] * self.arity)} -> {t}" if self.op.startswith("chlo.") else t
        return f"func.func @main({arguments}) -> {t} {{\n  %r = {self.op} {operands} : {types}\n  return %r : {t}\n}}\n"


# -- pairs -------------------------------------------------------------------------------------------------------------


def _signs(random: np.random.Generator, count: int) -> Array:
    return random.choice([-1.0, 1.0], count)


def _similar(random: np.random.Generator, dtype: np.dtype, count: int) -> tuple[Array, Array]:
    """Makes pairs of any magnitudes whose exponents are equal or differ by little more than the mantissa's bits."""
    limits = np.finfo(dtype)
    exponent = random.uniform(limits.minexp - limits.nmant, limits.maxexp, count)
    apart = random.uniform(-limits.nmant - 4, limits.nmant + 4, count) * random.integers(0, 2, count)
    x = np.exp2(exponent) * _signs(random, count)
    y = np.exp2(np.clip(exponent + apart, limits.minexp - limits.nmant, limits.maxexp)) * _signs(random, count)
    return x.astype(dtype), y.astype(dtype)


def _powers(random: np.random.Generator, dtype: np.dtype, count: int) -> tuple[Array, Array]:
    """Makes bases and exponents with mostly finite powers: many bases near 1, whole exponents for negative bases."""
    limits = np.finfo(dtype)
    span = float(limits.maxexp) * math.log(2)
    log = random.uniform(-span, span, count) * np.exp2(random.uniform(-limits.nmant, 0, count))
    x = np.exp(log)
    near = random.random(count) < 0.25
    x = np.where(near, 1 + np.ldexp(random.integers(-4096, 4097, count).astype(float), -limits.nmant - 1), x)
    x = x.astype(dtype)
    size = np.abs(np.log(x.astype(np.float64)))
    y = random.uniform(-1.02, 1.02, count) * span / np.where(size == 0, 1, size)
    whole = random.random(count) < 0.25
    y = np.where(whole, np.rint(np.clip(y, -1e15, 1e15)), y).astype(dtype)
    return np.where(whole & (random.random(count) < 0.5), -x, x), y


def _zetas(random: np.random.Generator, dtype: np.dtype, count: int) -> tuple[Array, Array]:
    """Makes exponents above 1, some very near it, and q of all sizes; a negative q gets a whole exponent."""
    x = 1 + np.exp2(random.uniform(-np.finfo(dtype).nmant, 6, count))
    q = np.exp2(random.uniform(-20, 20, count))
    q = np.where(random.random(count) < 0.5, random.uniform(0, 40, count), q)
    below = random.random(count) < 0.2
    x = np.where(below | (random.random(count) < 0.25), np.rint(random.uniform(2, 20, count)), x)
    return x.astype(dtype), np.where(below, random.uniform(-40, 0, count), q).astype(dtype)


def _polygammas(random: np.random.Generator, dtype: np.dtype, count: int) -> tuple[Array, Array]:
    n = np.floor(random.uniform(0, 31, count))
    n = np.where(random.random(count) < 0.5, np.floor(random.uniform(0, 5, count)), n)
    x = np.where(random.random(count) < 0.5, random.uniform(0, 40, count), np.exp2(random.uniform(-4, 20, count)))
    return n.astype(dtype), np.where(random.random(count) < 0.15, -random.uniform(0, 40, count), x).astype(dtype)


def _multiples(random: np.random.Generator, dtype: np.dtype, count: int) -> tuple[Array, Array]:
    """Makes pairs of a number and another number that divides it exactly or nearly."""
    y = np.exp2(random.uniform(-20, 20, count)).astype(dtype)
    whole = np.floor(np.exp2(random.uniform(0, 40, count)))
    return (y * whole * (1 + random.choice([0, 1e-7, -1e-7], count)) * _signs(random, count)).astype(dtype), y


def _either(*choices: Pairs) -> Pairs:
    def pairs(random: np.random.Generator, dtype: np.dtype, count: int) -> tuple[Array, Array]:
        sizes = [count // len(choices)] * (len(choices) - 1)
        sizes.append(count - sum(sizes))
        parts = [make(random, dtype, size) for make, size in zip(choices, sizes, strict=True)]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    return pairs


# Below 0 these functions have zeros between their poles, where terms of equal size cancel. There, errors are relative
# to these terms, which are values of the function at arguments above 0.


def _reflected(name: str) -> Callable[[Array], Array]:
    """Makes the floor |f(x)| + |f(1 - x)| for x below 0, else 0."""

    def floor(x: Array) -> Array:
        below = np.where(x < 0, x, -0.5)
        sizes = np.abs(WIDE[name](below)) + np.abs(WIDE[name](1 - below))
        return np.asarray(np.where((x < 0) & np.isfinite(sizes), sizes, 0.0))

    return floor


_TERMS_ROUND = 2.0**-122


def _folded(name: str) -> Callable[[Array, Array], Array]:
    """Makes the floor |f(s, q - floor(q))| + |f(s, ceil(q) - q)| for q below 0.

    For other q the floor is 2^-122, a few of f32's smallest numbers, because the terms are rounded to such numbers.
    """

    def floor(s: Array, q: Array) -> Array:
        below = (q < 0) & (q != np.floor(q))
        right, left = (np.where(below, gap, 0.5) for gap in (q - np.floor(q), np.ceil(q) - q))
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.abs(WIDE[name](s, right)) + np.abs(WIDE[name](s, left))
        return np.asarray(np.where(below & np.isfinite(sizes), sizes, _TERMS_ROUND))

    return floor


# -- the table ---------------------------------------------------------------------------------------------------------

_PI = math.pi
_UNIT = ((-1.0, 1.0),)

FUNCTIONS: tuple[Function, ...] = (
    # exact, or rounded once
    Function("abs", "stablehlo.abs"),
    Function("negate", "stablehlo.negate"),
    Function("sign", "stablehlo.sign"),
    Function("floor", "stablehlo.floor", ((-1e3, 1e3), (-1e7, 1e7)), tuple(float(i) for i in range(-8, 9))),
    Function("ceil", "stablehlo.ceil", ((-1e3, 1e3), (-1e7, 1e7)), tuple(float(i) for i in range(-8, 9))),
    Function(
        "round_nearest_even", "stablehlo.round_nearest_even", ((-1e3, 1e3), (-1e7, 1e7)), tuple(np.arange(-4, 4.5, 0.5))
    ),
    Function(
        "round_nearest_afz", "stablehlo.round_nearest_afz", ((-1e3, 1e3), (-1e7, 1e7)), tuple(np.arange(-4, 4.5, 0.5))
    ),
    Function("add", "stablehlo.add", pairs=_similar),
    Function("subtract", "stablehlo.subtract", pairs=_similar),
    Function("multiply", "stablehlo.multiply", pairs=_similar),
    Function("divide", "stablehlo.divide", pairs=_either(_similar, _multiples)),
    Function("remainder", "stablehlo.remainder", pairs=_either(_similar, _multiples)),
    Function("maximum", "stablehlo.maximum", pairs=_similar),
    Function("minimum", "stablehlo.minimum", pairs=_similar),
    Function("next_after", "chlo.next_after", pairs=_similar),
    Function("square", "chlo.square"),
    Function("sqrt", "stablehlo.sqrt", ((0.0, 16.0),)),
    # elementary
    Function("rsqrt", "stablehlo.rsqrt", ((0.0, 16.0),)),
    Function("cbrt", "stablehlo.cbrt", ((-30.0, 30.0),)),
    Function(
        "exponential", "stablehlo.exponential", ((-104.0, 89.0), (-746.0, 710.0), (-2.0, 2.0)), (0.0, 88.72, -87.33)
    ),
    Function("exponential_minus_one", "stablehlo.exponential_minus_one", ((-40.0, 89.0), (-1.0, 1.0)), (0.0, 88.72)),
    Function("log", "stablehlo.log", ((0.0, 4.0), (0.5, 2.0)), (1.0, 0.5, 2.0)),
    Function("log_plus_one", "stablehlo.log_plus_one", ((-1.0, 4.0), (-0.5, 1.0)), (0.0, -1.0, 1.0)),
    Function("logistic", "stablehlo.logistic", ((-104.0, 20.0), (-4.0, 4.0), (-746.0, 40.0)), (0.0, -87.33)),
    Function("tanh", "stablehlo.tanh", ((-10.0, 10.0), (-1.0, 1.0), (-22.0, 22.0))),
    Function("sine", "stablehlo.sine", ((-10.0, 10.0), (-1e5, 1e5)), (0.0, _PI, -_PI, 2 * _PI), angles=True),
    Function("cosine", "stablehlo.cosine", ((-10.0, 10.0), (-1e5, 1e5)), (_PI / 2, -_PI / 2, 1.5 * _PI), angles=True),
    Function("tan", "stablehlo.tan", ((-10.0, 10.0), (-1e5, 1e5)), (0.0, _PI / 2, _PI), angles=True),
    Function("power", "stablehlo.power", pairs=_powers),
    Function("atan2", "stablehlo.atan2", pairs=_similar),
    Function("acos", "chlo.acos", _UNIT, (0.0, 1.0, -1.0, 0.5, -0.5)),
    Function("asin", "chlo.asin", _UNIT, (0.0, 1.0, -1.0, 0.5, -0.5)),
    Function("atan", "chlo.atan", ((-10.0, 10.0), (-1.0, 1.0))),
    Function("acosh", "chlo.acosh", ((1.0, 10.0), (1.0, 1e5)), (1.0, 2.0)),
    Function("asinh", "chlo.asinh", ((-10.0, 10.0), (-1.0, 1.0))),
    Function("atanh", "chlo.atanh", _UNIT, (0.0, 1.0, -1.0, 0.5)),
    Function("cosh", "chlo.cosh", ((-90.0, 90.0), (-1.0, 1.0), (-711.0, 711.0)), (0.0, 89.41, 710.47)),
    Function("sinh", "chlo.sinh", ((-90.0, 90.0), (-1.0, 1.0), (-711.0, 711.0)), (0.0, 89.41, 710.47)),
    # special
    Function("erf", "chlo.erf", ((-4.0, 4.0), (-1.0, 1.0))),
    Function("erfc", "chlo.erfc", ((-4.0, 10.1), (-1.0, 1.0), (0.0, 27.2)), (0.0, 1.0, 10.05)),
    Function("erf_inv", "chlo.erf_inv", _UNIT, (0.0, 1.0, -1.0), share=0.25),
    Function(
        "lgamma", "chlo.lgamma", ((0.0, 10.0), (0.5, 3.0), (-20.0, 0.0)), (1.0, 2.0, 0.0), floor=_reflected("lgamma")
    ),
    Function(
        "digamma", "chlo.digamma", ((0.0, 10.0), (-20.0, 0.0)), (1.4616321449683623, 0.0), floor=_reflected("digamma")
    ),
    Function("bessel_i1e", "chlo.bessel_i1e", ((-20.0, 20.0), (-8.5, 8.5)), (0.0, 8.0)),
    Function("zeta", "chlo.zeta", pairs=_zetas, floor=_folded("zeta"), share=0.1),
    Function("polygamma", "chlo.polygamma", pairs=_polygammas, floor=_folded("polygamma"), share=0.1),
)
"""Every elementwise function of StableHLO and CHLO whose result is a real number that rounding touches, and more."""
