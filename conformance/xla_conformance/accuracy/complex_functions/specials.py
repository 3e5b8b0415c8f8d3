"""The values of complex functions at infinities, NaN and poles, as tables. They are those of C's Annex G.

A line has the operand's real and imaginary parts and then the result's. The first matching line applies; a point
without a matching line is an ordinary one. In operands, `x` is any finite number, `0` a zero of either sign, and `*`
anything. In results, a suffix `cos` or `sin` gives the number before it the sign of the cosine or sine of the operand's
imaginary part, `?` before a number allows either sign, and `any` allows everything.

Lines are for a positive imaginary part, and for a positive real part if the function is odd or even; the other values
follow by symmetry. A function of HLO that C lacks has its limits here.

Source: ISO/IEC 9899:2018 G.6.
"""

from __future__ import annotations

import cmath
import dataclasses
import math

NORMWISE = frozenset({"atan2", "divide", "exponential-minus-one", "logistic", "multiply", "power"})
"""Functions with a part that can be the difference of larger numbers: their error is relative to the larger part."""

_EXPONENTIAL = """
    x    inf  nan    nan
    x    nan  nan    nan
    inf  0    inf    0
    -inf x    0cos   0sin
    inf  x    infcos infsin
    -inf inf  ?0     ?0
    inf  inf  ?inf   nan
    -inf nan  ?0     ?0
    inf  nan  ?inf   nan
    nan  0    nan    0
    nan  *    nan    nan"""
_LOGARITHM = """
    x    inf  inf    pi/2
    x    nan  nan    nan
    -inf x    inf    pi
    inf  x    inf    0
    -inf inf  inf    3pi/4
    inf  inf  inf    pi/4
    -inf nan  inf    nan
    inf  nan  inf    nan
    nan  inf  inf    nan
    nan  *    nan    nan"""

# function -> its lines, of which the first that matches applies
_TABLES: dict[str, str] = {
    "exponential": _EXPONENTIAL,
    "exponential-minus-one": """
        -inf x    -1     0sin
        -inf inf  -1     ?0
        -inf nan  -1     ?0"""
    + _EXPONENTIAL,
    "log": """
        -0   0    -inf   pi
        0    0    -inf   0"""
    + _LOGARITHM,
    "log-plus-one": """
        -1   0    -inf   0"""
    + _LOGARITHM,
    "logistic": """
        inf  x    1      0sin
        -inf x    0cos   0sin
        inf  *    1      ?0
        -inf *    ?0     ?0
        x    inf  nan    nan
        x    nan  nan    nan
        nan  *    nan    any""",
    "sqrt": """
        0    0    0      0
        *    inf  inf    inf
        x    nan  nan    nan
        -inf x    0      inf
        inf  x    inf    0
        -inf nan  nan    ?inf
        inf  nan  inf    nan
        nan  *    nan    nan""",
    "rsqrt": """
        0    0    inf    nan
        *    inf  0      -0
        x    nan  nan    nan
        -inf *    0      -0
        inf  *    0      -0
        nan  *    nan    nan""",
    "cbrt": """
        0    0    any    any
        x    inf  inf    inf
        x    nan  nan    nan
        inf  x    inf    0
        -inf x    inf    inf
        inf  inf  inf    inf
        -inf inf  inf    inf
        inf  *    any    any
        -inf *    any    any
        nan  *    any    any""",
    "acos": """
        0    0    pi/2   -0
        0    nan  pi/2   nan
        x    inf  pi/2   -inf
        x    nan  nan    nan
        -inf x    pi     -inf
        inf  x    0      -inf
        -inf inf  3pi/4  -inf
        inf  inf  pi/4   -inf
        -inf nan  nan    ?inf
        inf  nan  nan    ?inf
        nan  inf  nan    -inf
        nan  *    nan    nan""",
    "acosh": """
        0    0    0      pi/2
        0    nan  nan    any"""
    + _LOGARITHM,
    "asinh": """
        0    0    0      0
        x    inf  inf    pi/2
        x    nan  nan    nan
        inf  x    inf    0
        inf  inf  inf    pi/4
        inf  nan  inf    nan
        nan  0    nan    0
        nan  inf  ?inf   nan
        nan  *    nan    nan""",
    "atanh": """
        0    0    0      0
        0    nan  0      nan
        1    0    inf    0
        x    inf  0      pi/2
        x    nan  nan    nan
        inf  x    0      pi/2
        inf  inf  0      pi/2
        inf  nan  0      nan
        nan  inf  ?0     pi/2
        nan  *    nan    nan""",
    "cosh": """
        0    0    1      0
        0    inf  nan    ?0
        0    nan  nan    ?0
        x    inf  nan    nan
        x    nan  nan    nan
        inf  0    inf    0
        inf  x    infcos infsin
        inf  inf  ?inf   nan
        inf  nan  inf    nan
        nan  0    nan    ?0
        nan  *    nan    nan""",
    "sinh": """
        0    0    0      0
        0    inf  ?0     nan
        0    nan  ?0     nan
        x    inf  nan    nan
        x    nan  nan    nan
        inf  0    inf    0
        inf  x    infcos infsin
        inf  inf  ?inf   nan
        inf  nan  ?inf   nan
        nan  0    nan    0
        nan  *    nan    nan""",
    "tanh": """
        0    0    0      0
        0    inf  any    nan
        0    nan  any    nan
        x    inf  nan    nan
        x    nan  nan    nan
        inf  x    1      0sin2
        inf  inf  1      ?0
        inf  nan  1      ?0
        nan  0    nan    0
        nan  *    nan    nan""",
    "sign": """
        0    0    ?0     ?0
        nan  *    nan    nan
        x    nan  nan    nan
        x    inf  any    any
        inf  *    any    any
        -inf *    any    any""",
}

_ODD = frozenset({"asinh", "atanh", "sinh", "tanh"})
_EVEN = frozenset({"cosh"})
_TURNED = {"asin": "asinh", "atan": "atanh", "sine": "sinh", "tan": "tanh"}  # f(z) = -i g(i z)


@dataclasses.dataclass(frozen=True)
class Part:
    """The required value of a part of a result. A `value` of None allows anything, `any_sign` allows either sign."""

    value: float | None
    any_sign: bool = False

    def __neg__(self) -> Part:
        return self if self.value is None else Part(-self.value, self.any_sign)

    def allows(self, got: float) -> bool:
        """Tells whether the part is right. Zeros and infinities are compared with signs, other numbers roughly."""
        want = self.value
        if want is None:
            return True
        if math.isnan(want) or math.isnan(got):
            return math.isnan(want) and math.isnan(got)
        if not self.any_sign and math.copysign(1, want) != math.copysign(1, got):
            return False
        return abs(got) == abs(want) if want == 0 or math.isinf(want) else abs(abs(got) - abs(want)) < 1e-6 * abs(want)


def special_value(function: str, z: complex) -> tuple[Part, Part] | None:
    """Returns the required real and imaginary parts of a function of one operand, or None at an ordinary point."""
    if function == "abs":
        infinite = math.isinf(z.real) or math.isinf(z.imag)
        nan = math.isnan(z.real) or math.isnan(z.imag)
        return (Part(math.inf if infinite else math.nan), Part(0.0)) if infinite or nan else None
    if function in _TURNED:
        turned = special_value(_TURNED[function], complex(-z.imag, z.real))
        return turned and (turned[1], -turned[0])
    if function == "cosine":
        return special_value("cosh", complex(-z.imag, z.real))
    mirrored = math.copysign(1, z.real) < 0 and function in _ODD | _EVEN
    x, y = (-z.real if mirrored else z.real), (-z.imag if mirrored else z.imag)
    flipped = math.copysign(1, y) < 0
    row = _row(function, x, -y if flipped else y)
    if row is None:
        return None
    real, imag = _part(row[0], abs(y)), _part(row[1], abs(y))
    if math.isnan(y):  # the sign of a NaN has no meaning
        imag = dataclasses.replace(imag, any_sign=True)
    if math.isnan(x) and function in _ODD | _EVEN:
        real, imag = dataclasses.replace(real, any_sign=True), dataclasses.replace(imag, any_sign=True)
    if flipped:
        imag = -imag
    return (-real, -imag) if mirrored and function in _ODD else (real, imag)


def special_quotient(a: complex, b: complex, got: complex) -> bool | None:
    """Tells whether a quotient with a zero divisor or an infinite operand is right; None if C doesn't specify it.

    An infinity divided by a finite number, and a nonzero number divided by zero, must be infinite in at least one part.
    A finite number divided by an infinity must be zero. (C: G.5.1)
    """
    parts = (a.real, a.imag, b.real, b.imag)
    if any(map(math.isnan, parts)) or (all(map(math.isfinite, parts)) and b != 0):
        return None
    above, below = not cmath.isfinite(a), not cmath.isfinite(b)
    if above and below:
        return None
    if below:
        return got == 0
    if a == 0:
        return math.isnan(got.real) and math.isnan(got.imag)
    return cmath.isinf(got)


def _row(function: str, x: float, y: float) -> list[str] | None:
    for line in _TABLES.get(function, "").strip().splitlines():
        first, second, *result = line.split()
        if _matches(first, x) and _matches(second, y):
            return result
    return None


def _matches(pattern: str, x: float) -> bool:
    if pattern == "*":
        return True
    if pattern == "x":
        return math.isfinite(x)
    if pattern == "nan":
        return math.isnan(x)
    if pattern == "0":
        return x == 0
    if pattern == "-0":
        return x == 0 and math.copysign(1, x) < 0
    return x == float(pattern)


_NUMBERS = {"pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4}


def _sine_of_twice(y: float) -> float:
    return math.sin(2 * y)


def _part(text: str, y: float) -> Part:
    if text == "any":
        return Part(None)
    if text.startswith("?"):
        return Part(float(text[1:]), any_sign=True)
    for name, value in (("sin2", _sine_of_twice), ("cos", math.cos), ("sin", math.sin)):
        if text.endswith(name):
            return Part(math.copysign(float(text.removesuffix(name)), value(y)))
    return Part(_NUMBERS[text] if text in _NUMBERS else float(text))
