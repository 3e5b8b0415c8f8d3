"""Errors of complex functions on the evaluator and the CPU backend are within the bounds; the oracle is right."""

from __future__ import annotations

import math

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import ElementType

flint = pytest.importorskip("flint")
mpmath = pytest.importorskip("mpmath")

from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.complex_functions.cases import checks
from xla_conformance.accuracy.complex_functions.oracle import (
    COMPLEX_FUNCTIONS,
    Exact,
    exact_value,
    exact_values,
    ulp_errors,
)
from xla_conformance.accuracy.complex_functions.points import complex_pairs, complex_points, special_points
from xla_conformance.accuracy.complex_functions.specials import NORMWISE, special_value
from xla_conformance.accuracy.frame import Check
from xla_conformance.subjects import BackendSubject, EvaluatorSubject, Subject

CHECKS = checks()


@pytest.fixture(scope="module")
def subjects():
    with xla.Client("cpu") as client:
        yield [EvaluatorSubject(), BackendSubject(client, "emitter")]


def hold(check: Check, subjects: list[Subject], points: int) -> None:
    for subject in subjects:
        found = check.measure(subject, points)
        limit = bound(check.group, check.function, check.element_type, subject.column)
        assert not found.wrong, f"{subject.name}: {found.wrong} wrong, {found.first_wrong}"
        assert limit is not None
        assert found.error <= limit, f"{subject.name}: {found.worst}"


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: f"{c.function}-{c.element_type}")
def test_errors(check, subjects):
    hold(check, subjects, 0)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda c: f"{c.function}-{c.element_type}")
def test_errors_at_many_points(check, subjects):
    hold(check, subjects, 10_000_000)


@pytest.mark.parametrize(
    ("function", "z", "expected"),
    [
        ("sqrt", complex(-4, 0.0), 2j),
        ("sqrt", complex(-4, -0.0), -2j),
        ("log", complex(-1, -0.0), -1j * math.pi),
        ("asin", complex(2, 0.0), complex(math.pi / 2, math.acosh(2))),
        ("asin", complex(2, -0.0), complex(math.pi / 2, -math.acosh(2))),
        ("acos", complex(2, 0.0), -1j * math.acosh(2)),
        ("acosh", complex(0.5, -0.0), -1j * math.acos(0.5)),
        ("atanh", complex(2, 0.0), complex(math.atanh(0.5), math.pi / 2)),
        ("atan", complex(-0.0, 2), complex(-math.pi / 2, math.atanh(0.5))),
        ("exponential", complex(1e9, 0.0), math.inf),
        ("atanh", complex(1e-200, 1e200), 1j * math.pi / 2),
    ],
)
def test_oracle_on_branch_cuts(function, z, expected):
    real, imag = exact_values(function, [np.array([z])])
    assert ulp_errors(np.array([expected.real]), real)[0] < 2
    assert ulp_errors(np.array([expected.imag]), imag)[0] < 2


def test_errors_in_units_in_the_last_place():
    def error(got: float, exact) -> float:
        return float(ulp_errors(np.array([got], np.float32), Exact.of([exact]))[0])

    third = flint.arb(1) / 3
    assert error(1 / 3, third) <= 0.5
    assert error(float(np.nextafter(np.float32(1 / 3), np.float32(1))), third) == pytest.approx(1, abs=0.5)
    assert error(0.0, flint.arb(2) ** -150) == 0.5  # half of the smallest number
    assert error(0.0, flint.arb(0)) == error(-0.0, flint.arb(2) ** -100_000) == 0
    assert error(math.inf, flint.arb(2) ** 400) == 0
    assert error(-math.inf, flint.arb(2) ** 400) == math.inf
    assert error(math.nan, third) == math.inf
    assert error(float(np.finfo(np.float32).max), flint.arb(2) ** 128) == 1
    assert error(math.inf, 2 ** flint.arb(128) * (1 - flint.arb(2) ** -25)) == 0.5  # it rounds to infinity


def test_errors_of_a_part_in_units_of_the_larger_one():
    small, large = Exact.of([flint.arb(1) / 3]), Exact.of([flint.arb(1024)])
    got = np.array([0.5], np.float32)
    assert ulp_errors(got, small, large)[0] == pytest.approx((0.5 - 1 / 3) / 2.0**-13)


_MPMATH = {
    "exponential": "exp", "log": "log", "sqrt": "sqrt", "sine": "sin", "cosine": "cos", "tan": "tan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asin": "asin", "acos": "acos", "atan": "atan", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "exponential-minus-one": "expm1", "log-plus-one": "log1p", "sign": "sign",
    "divide": "fdiv", "multiply": "fmul",
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)), "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3), "abs": lambda z: mpmath.mpc(abs(z)), "square": lambda z: z * z,
    "power": lambda a, b: mpmath.exp(b * mpmath.log(a)),
    "atan2": lambda y, x: -1j * mpmath.log((x + 1j * y) / mpmath.sqrt(x * x + y * y)),
}  # fmt: skip


@pytest.mark.parametrize("function", COMPLEX_FUNCTIONS)
def test_another_library_has_the_same_exact_values(function):
    dtype = np.dtype(np.complex128)
    arity = COMPLEX_FUNCTIONS[function][0]
    operands = [z[:200] for z in complex_pairs(dtype, 200, 3)] if arity == 2 else [complex_points(dtype, 200, 3)]
    ordinary = np.all([(abs(z) > 1 / 32) & (abs(z) < 32) & (z.real != 0) & (z.imag != 0) for z in operands], axis=0)
    theirs = _MPMATH[function]
    theirs = getattr(mpmath, theirs) if isinstance(theirs, str) else theirs
    compared = 0
    with mpmath.workprec(4000):
        for point in zip(*(z[ordinary] for z in operands), strict=True):
            try:
                real, imag = exact_value(function, *map(complex, point))
            except ArithmeticError:
                continue
            expected = theirs(*map(mpmath.mpc, map(complex, point)))
            for part, other in ((real, expected.real), (imag, expected.imag)):
                ours = mpmath.ldexp(*map(int, part.mid().man_exp()))
                assert abs(ours - other) <= abs(other) * mpmath.mpf(2) ** -78, point
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("function", COMPLEX_FUNCTIONS)
def test_hardly_any_point_is_without_an_exact_value(function):
    dtype = np.dtype(np.complex128)
    operands = complex_pairs(dtype, 500, 5) if COMPLEX_FUNCTIONS[function][0] == 2 else [complex_points(dtype, 500, 5)]
    real, imag = exact_values(function, operands)
    unknown = np.count_nonzero(np.isnan(real.mantissa) | np.isnan(imag.mantissa))
    assert unknown <= (0.1 * len(real.mantissa) if function in ("atan2", "divide", "power") else 0)


_NUMPY = {
    "exponential": np.exp, "log": np.log, "sqrt": np.sqrt, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acos": np.arccos, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip


@pytest.mark.parametrize("function", sorted(_NUMPY))
def test_tables_of_special_values_say_what_the_c_library_does(function):
    points = special_points(np.dtype(np.complex128))
    with np.errstate(all="ignore"):
        results = _NUMPY[function](points)
    for z, got in zip(points, results, strict=True):
        parts = special_value(function, complex(z))
        if parts is not None:
            assert all((parts[0].allows(got.real), parts[1].allows(got.imag))), (z, got, parts)


def test_every_complex_type_is_measured():
    assert {c.element_type for c in CHECKS} == {t.value for t in ElementType if t.is_complex}


_HUGE = 1.7976931348623157e308


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        ("logistic", (complex(0.02376901421152315, -3.3987750342552827),)),  # beside a pole
        ("logistic", (complex(-750, 3.0),)),  # e^x is denormal
        ("sqrt", (complex(2.0615144362257808e301, -2.5009259312694535e-169),)),  # a part is denormal
        ("rsqrt", (complex(3.25685696026213e-09, 4.4355415e-317),)),  # so is an operand's
        ("rsqrt", (complex(-7.651911495237442e-12, -1.43e-322),)),
        ("rsqrt", (complex(-1.4942658062475078e174, 5.78040197512086e-49),)),
        ("rsqrt", (complex(-_HUGE, 5e-324),)),
        ("cbrt", (complex(6.998172182326627e302, -3.042075127118775e-115),)),
        ("cbrt", (complex(-306.8299763025815, 17.508694073732286),)),
        ("tan", (complex(-0.07635041460779077, -2.871200679617361),)),
        ("tanh", (complex(-0.01787553486258274, 1.0),)),
        ("tanh", (complex(2.8238766648985432, -3.1496934179017351),)),
        ("tanh", (complex(-370.0, 0.75),)),  # e^2x is denormal
        ("tanh", (complex(1.0, 5e-324),)),
        ("divide", (complex(1, -_HUGE), complex(-_HUGE, _HUGE))),  # the sum of the divisor's squares overflows
        ("divide", (complex(5e-324, 5e-324), complex(1e-300, 5e-301))),  # nor may denormal numbers lose their bits
        ("atan2", (complex(0.0, 1e-45), complex(0.0, -1.57))),  # the root lies beside its cut
        ("atan2", (complex(-0.0, 0.0), complex(-1, -1e19))),
        ("atan2", (complex(0.5, 0.5), complex(-1.5, 1.5))),  # the angle is half a turn
        ("atan2", (complex(-0.0, -0.0), complex(5e-324, -0.5))),  # a product underflows
        ("atan2", (complex(-1 - 2.0**-52, -1 + 2.0**-53), complex(2.0**-1022, -_HUGE))),
        ("atan2", (complex(-0.9999999999999999, -5e-324), complex(-5e-324, 1.0))),  # two underflow, one is larger
        ("atan2", (complex(-5e-324, -2.0), complex(-1.5707963267948966, 5e-324))),
        ("atan2", (complex(-0.5, -2.0), complex(1.0000000000000002, -0.9999999999999999))),
        ("atan2", (complex(7.8e-135, 5e276), complex(4.9e15, -8.6e89))),  # so would a scaled one
        ("atan2", (complex(2, -_HUGE), complex(2, _HUGE))),
        ("atan2", (complex(_HUGE, 2.0**-1022), complex(0.0, -_HUGE))),  # beside a pole
        ("power", (complex(0.9999999999999999, -(2.0**-1022)), complex(0.5, 5e-324))),
        ("power", (complex(3.8505198972612176, 1.9596030135836724), complex(345.3737337156619, -107.48118751746745))),
        ("power", (complex(-0.8995594817975393, -0.7812666929250252), complex(2.186354080933509, -14.547207093777654))),
    ],
)
def test_extreme_operands(function, operands, subjects):
    operands = [np.array([z]) for z in operands]
    real, imag = exact_values(function, operands)
    scales = (imag, real) if function in NORMWISE else (None, None)
    names = [f"p{i}" for i in range(len(operands))]
    parameters = "\n".join(f"  {name} = c128[1] parameter({i})" for i, name in enumerate(names))
    program = f"HloModule m\n\nENTRY main {{\n{parameters}\n  ROOT r = c128[1] {function}({', '.join(names)})\n}}\n"
    for subject in subjects:
        got = np.asarray(subject.run(program, *operands)[0])
        assert ulp_errors(got.real, real, scales[0])[0] < 4, (subject.name, got)
        assert ulp_errors(got.imag, imag, scales[1])[0] < 4, (subject.name, got)
