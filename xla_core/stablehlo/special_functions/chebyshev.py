"""Clenshaw's recurrence."""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.stablehlo.expressions import Expression

__all__ = ["chebyshev"]


def chebyshev(t: Expression, coefficients: Sequence[float]) -> Expression:
    """The sum of c_k T_k(t), t in [-1, 1]; the coefficient of the highest degree comes first."""
    twice = t + t
    now, before = t.like(coefficients[0]), t.like(0.0)
    for c in coefficients[1:-1]:
        now, before = twice * now - before + c, now
    return t * now - before + coefficients[-1]
