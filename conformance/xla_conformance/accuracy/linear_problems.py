"""The problems of linear algebra, family by family."""

from __future__ import annotations

from xla_conformance.accuracy import linear_factorizations, linear_solutions, linear_spectra
from xla_conformance.accuracy.linear_frame import Problem

__all__ = ["PROBLEMS"]

PROBLEMS: dict[str, Problem] = {
    **linear_factorizations.PROBLEMS,
    **linear_solutions.PROBLEMS,
    **linear_spectra.PROBLEMS,
}
"""By routine, or op."""
