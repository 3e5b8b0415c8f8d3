"""Errors of sums and Fourier transforms on the evaluator and the CPU backend are within the bounds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from xla_conformance.accuracy import fourier
from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.frame import Check
from xla_conformance.accuracy.sums import cases as sums
from xla_conformance.accuracy.sums.contractions import _convolved
from xla_conformance.accuracy.sums.trials import Case, Expected, Trial, check_of
from xla_conformance.subjects import BackendSubject, EvaluatorSubject, Subject

import xla_core as xla
from xla_core.hlo import ElementType

pytest.importorskip("scipy")

CHECKS = [*sums.checks(), *fourier.checks()]
SAMPLE = [c for i, c in enumerate(CHECKS) if i % 9 == 4]  # what the CPU backend takes seconds to compile


def hold(check: Check, subject: Subject, points: int) -> None:
    found = check.measure(subject, points)
    limit = bound(check.group, check.function, check.element_type, subject.column)
    assert found.points > 0
    assert not found.wrong, found.first_wrong
    assert limit is not None
    assert found.error <= limit, found.worst


@pytest.fixture(scope="module")
def cpu():
    with xla.Client("cpu") as client:
        yield BackendSubject(client, "emitter")


def named(check: Check) -> str:
    return f"{check.function}-{check.element_type}"


@pytest.mark.parametrize("check", [c for c in CHECKS if c.element_type != "c128"], ids=named)
def test_evaluator(check):
    hold(check, EvaluatorSubject(), 0)


@pytest.mark.parametrize("check", SAMPLE, ids=named)
def test_cpu(check, cpu):
    hold(check, cpu, 0)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=named)
def test_everything(check, cpu):
    hold(check, EvaluatorSubject(), 10_000_000)
    hold(check, cpu, 10_000_000)


class Wrong(Subject):
    """Results that are off by a known amount."""

    name, column = "wrong", "backend"

    def __init__(self, *results: np.ndarray) -> None:
        self.results = results

    def run(self, program: str, *arrays: np.ndarray) -> list[np.ndarray]:
        return list(self.results)


def _case(expected: Expected) -> Case:
    return Case("case", (ElementType.F32,), lambda t: iter([Trial("program", (), [expected])]))


def test_errors_are_relative_to_terms_and_magnitudes():
    got = np.array([10, 10 + 2**-20], np.float32)
    expected = Expected(np.array([10.0, 10.0]), np.array([4, 2]), np.array([16.0, 4.0]))
    found = check_of("group", _case(expected), ElementType.F32).measure(Wrong(got), 0)
    assert found.error == pytest.approx(2**-20 / (2**-23 * 2 * 4))
    assert found.worst is not None
    assert found.points == 2


def test_what_must_be_equal_is_counted():
    expected = Expected(np.array([1, 2, 3]))
    found = check_of("group", _case(expected), ElementType.S32).measure(Wrong(np.array([1, 5, 3], np.int32)), 0)
    assert found.wrong == 1
    assert found.first_wrong is not None
    assert found.first_wrong.got == "5"


def test_nan_is_an_unbounded_error():
    expected = dataclasses.replace(Expected(np.array([1.0]), 1, 1.0))
    found = check_of("group", _case(expected), ElementType.F32).measure(Wrong(np.array([np.nan], np.float32)), 0)
    assert found.error == np.inf


@pytest.mark.parametrize(
    ("window", "groups"),
    [
        ("size=2x3", 1),
        ("size=2x3 stride=2x1 pad=1_0x2_1", 2),
        ("size=2x3 pad=1_1x1_1 lhs_dilate=2x3 rhs_dilate=1x2", 1),
    ],
)
def test_oracle_of_convolution(window, groups):
    """Against the definition, element by element."""
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, 4, 5, 6)), random.standard_normal((6, 4 // groups, 2, 3))
    fields = {"pad": "0_0x0_0", "stride": "1x1", "lhs_dilate": "1x1", "rhs_dilate": "1x1"}
    fields |= dict(part.split("=") for part in window.split())
    stride, base, spread = ([int(n) for n in fields[k].split("x")] for k in ("stride", "lhs_dilate", "rhs_dilate"))
    low = [int(p.split("_")[0]) for p in fields["pad"].split("x")]
    result = _convolved(x, y, window, groups)
    for n, o, p, q in np.ndindex(*result.shape):
        total = 0.0
        for c, u, v in np.ndindex(*y.shape[1:]):
            at = [k * s + w * d - pad for k, s, w, d, pad in zip((p, q), stride, (u, v), spread, low, strict=True)]
            place = [a // d for a, d in zip(at, base, strict=True)]
            whole = all(a % d == 0 for a, d in zip(at, base, strict=True))
            if whole and all(0 <= i < m for i, m in zip(place, x.shape[2:], strict=True)):
                total += x[n, o // (6 // groups) * (4 // groups) + c, *place] * y[o, c, u, v]
        assert result[n, o, p, q] == pytest.approx(total)
