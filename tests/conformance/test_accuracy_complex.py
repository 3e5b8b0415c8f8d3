"""Complex functions of the evaluator and the CPU backend keep to the table of bounds; so does what measures them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import ElementType

mpmath = pytest.importorskip("mpmath")

from xla_conformance.accuracy import BackendSubject, Check, EvaluatorSubject, Subject, bound
from xla_conformance.accuracy.complex_numbers import checks
from xla_conformance.accuracy.complex_oracle import COMPLEX_FUNCTIONS, exact_value, ulp_error
from xla_conformance.accuracy.complex_points import special_points
from xla_conformance.accuracy.complex_specials import special_value

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
    real, imag = exact_value(COMPLEX_FUNCTIONS[function][1], z)
    assert ulp_error(expected.real, real, np.dtype(np.float64)) < 2
    assert ulp_error(expected.imag, imag, np.dtype(np.float64)) < 2


def test_errors_in_units_in_the_last_place():
    dtype = np.dtype(np.float32)
    with mpmath.workprec(100):
        third = mpmath.mpf(1) / 3
        assert ulp_error(float(np.float32(1 / 3)), third, dtype) <= 0.5
        assert ulp_error(float(np.nextafter(np.float32(1 / 3), np.float32(1))), third, dtype) == pytest.approx(
            1, abs=0.5
        )
        assert ulp_error(0.0, mpmath.ldexp(1, -150), dtype) == 0.5  # half of the smallest number
        assert ulp_error(math.inf, mpmath.ldexp(1, 400), dtype) == 0
        assert ulp_error(-math.inf, mpmath.ldexp(1, 400), dtype) == math.inf
        assert ulp_error(math.nan, third, dtype) == math.inf


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
