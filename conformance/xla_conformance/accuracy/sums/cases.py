"""Checks of ops that add many terms: dot, convolution, reductions, scans, batch norm.

The error is |got - exact| / (k eps sum|a||b|), where k is the number of terms and eps is the spacing above 1 of the
operands' type, or of the type that an algorithm rounds them to. A sum in any order that rounds every product and
addition has an error below 0.5. Exact results are computed in float64, and for float64 in longdouble.
"""

from __future__ import annotations

from xla_conformance.accuracy.frame import Check
from xla_conformance.accuracy.sums import contractions, reductions
from xla_conformance.accuracy.sums.trials import check_of


def checks() -> list[Check]:
    """A check for each case and type."""
    cases = (*contractions.CASES, *reductions.CASES)
    return [check_of("sums", case, t) for case in cases for t in case.types]
