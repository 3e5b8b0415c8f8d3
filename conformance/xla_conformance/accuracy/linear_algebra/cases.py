"""Factorizations, solutions, spectra: cholesky and triangular-solve, and the LAPACK calls that JAX emits on CPUs.

The error is the largest of a routine's residuals, such as the distance of the factors' product from the matrix, or of
Q^H Q from the identity, each relative to the norms of its terms and in units of n eps. If a routine can't factor a
matrix, `info` must be LAPACK's.
"""

from __future__ import annotations

import numpy as np

from xla_conformance.accuracy.frame import Check, Measured, Worst, error_of
from xla_conformance.accuracy.linear_algebra import factorizations, solutions, spectra
from xla_conformance.accuracy.linear_algebra.problems import Problem
from xla_conformance.subjects import Subject
from xla_core.hlo import ElementType

T = ElementType
TYPES = (T.F32, T.F64, T.C64, T.C128)
PROBLEMS: dict[str, Problem] = {**factorizations.PROBLEMS, **solutions.PROBLEMS, **spectra.PROBLEMS}
"""The problem of each op and LAPACK routine."""

_SIZES = (0, 1, 2, 5, 33, 100)


def checks() -> list[Check]:
    """A check for each routine and type."""
    return [_check(name, problem, t) for name, problem in PROBLEMS.items() for t in TYPES]


def _check(name: str, problem: Problem, element_type: T) -> Check:
    def measure(subject: Subject, points: int) -> Measured:
        error, worst, count, wrong, first_wrong = 0.0, None, 0, 0, None
        eps = float(np.finfo(element_type.dtype).eps)
        sizes = _SIZES if points >= 10_000 else _SIZES[:-1]
        for n in sizes:
            for trial in problem(element_type, n):
                results = [np.asarray(r) for r in subject.run(trial.program, *trial.arguments)]
                count += sum(r.size for r in results)
                for what, residual in trial.residuals(*results).items():
                    here = error_of(residual / (max(n, 1) * eps))
                    if here > error:
                        error, worst = here, Worst(f"{what}, n = {n}", f"{here:.3g}", "0")
                for what, (got, expected) in trial.facts(*results).items():
                    if got != expected:
                        wrong += 1
                        first_wrong = first_wrong or Worst(f"{what}, n = {n}", str(got), str(expected))
        return Measured(count, error, worst, wrong, first_wrong)

    return Check("linear-algebra", name, element_type.value, "n eps", measure)
