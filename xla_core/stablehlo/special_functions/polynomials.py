"""Polynomials whose constant term is a sum of two numbers, for more digits than the type has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xla_core.hlo.element_type import ElementType
from xla_core.stablehlo.special_functions.expressions import Expression, polynomial

__all__ = ["fitted"]


def fitted(t: Expression, table: Mapping[ElementType, Sequence[float]]) -> Expression:
    """T P(t) + low + high: the table's coefficients are P's, the highest power first, then low and high.

    With t around 0, high is most of the sum, so that little more than its last rounding is lost.
    """
    *rest, low, high = table[t.element_type]
    return (polynomial(t, rest) * t + low) + high
