"""What adds up many terms: dot, convolution, reductions, scans, batch norm.

The error is |got - exact| / (k eps sum|a||b|), where k is the number of terms and eps the spacing above 1 of the
operands' type (or of what an algorithm makes of them): a sum in any order, of which every product and addition is
rounded, stays below 0.5. Exact results are float64's, and longdouble's of float64.
"""

from __future__ import annotations

from xla_conformance.accuracy.frame import Check
from xla_conformance.accuracy.sums import contractions, reductions
from xla_conformance.accuracy.sums.trials import check_of

__all__ = ["checks"]


def checks() -> list[Check]:
    """A check a case and type."""
    cases = (*contractions.CASES, *reductions.CASES)
    return [check_of("sums", case, t) for case in cases for t in case.types]
