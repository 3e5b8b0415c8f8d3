"""Residuals of linear algebra on the evaluator and the CPU backend are within the bounds."""

from __future__ import annotations

import numpy as np
import pytest
from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.fourier import checks as fft_checks
from xla_conformance.accuracy.linear_algebra.cases import PROBLEMS, checks
from xla_conformance.subjects import BackendSubject, EvaluatorSubject, Subject

import xla_core as xla

CHECKS = checks()
QUICK = [c for i, c in enumerate(CHECKS) if c.element_type == ("f32", "c128", "f64", "c64")[i // 4 % 4]]


def named(check):
    return f"{check.function}-{check.element_type}"


def hold(check, subject, points):
    found = check.measure(subject, points)
    limit = bound(check.group, check.function, check.element_type, subject.column)
    assert not found.wrong, found.first_wrong
    assert limit is not None
    assert found.error <= limit, found.worst


@pytest.fixture(scope="module")
def cpu():
    with xla.Client("cpu") as client:
        yield BackendSubject(client, "emitter")


@pytest.mark.parametrize("check", QUICK, ids=named)
def test_evaluator(check):
    hold(check, EvaluatorSubject(), 0)


@pytest.mark.parametrize("check", QUICK, ids=named)
def test_cpu(check, cpu):
    if check.function in ("triangular-solve", "trsm"):
        pytest.skip("compiles a program a flag: with -m slow")
    hold(check, cpu, 0)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=named)
def test_everything(check, cpu):
    hold(check, EvaluatorSubject(), 10_000_000)
    hold(check, cpu, 10_000_000)


class Spoiled(Subject):
    """The evaluator, with one element of a result changed."""

    name, column = "spoiled", "backend"

    def __init__(self, result: int) -> None:
        self.evaluator, self.result = EvaluatorSubject(), result

    def run(self, program, *arrays):
        results = [np.array(r) for r in self.evaluator.run(program, *arrays)]
        if self.result < len(results) and results[self.result].size:
            results[self.result].flat[0] += 1 if results[self.result].dtype.kind == "i" else 0.25
        return results


OTHERS = {"gesdd": 2, "gesvd": 2, "gtsv": 3, "sytrd": 1}  # where the first result is not all read


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_one_wrong_element_shows(name):
    check = next(c for c in CHECKS if c.function == name and c.element_type == "f64")
    found = check.measure(Spoiled(OTHERS.get(name, 0)), 0)
    assert found.error > 1e6 or found.wrong


class WithNan(Subject):
    """The evaluator, with a NaN in the first results that have an element."""

    name, column = "with NaN", "backend"

    def __init__(self) -> None:
        self.evaluator, self.spoiled = EvaluatorSubject(), False

    def run(self, program, *arrays):
        results = [np.array(r) for r in self.evaluator.run(program, *arrays)]
        if not self.spoiled and results[0].size:
            results[0].flat[0], self.spoiled = np.nan, True
        return results


@pytest.mark.parametrize("check", [CHECKS[0], fft_checks()[0]], ids=named)
def test_a_nan_shows_whatever_comes_after_it(check):
    assert check.measure(WithNan(), 0).error == np.inf


def test_a_matrix_without_a_factorization_is_a_fact():
    check = next(c for c in CHECKS if c.function == "potrf" and c.element_type == "f64")
    found = check.measure(Spoiled(1), 0)
    assert found.wrong
