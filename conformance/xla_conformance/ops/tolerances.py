"""Tolerances: how much a result may differ from the expected one.

exact        equal to the reference evaluator's, NaN for NaN
ulp N        at most N units in the last place from the same program in float64 (1 for types of 16 bits and fewer)
sum N        at most N * eps * (the same program of magnitudes) from the same program in float64: rounding of N terms
scaled N     at most N * eps * (the largest element) from the same program in float64
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType

__all__ = ["EXACT", "Rule", "epsilon", "wide"]

Kind = Literal["exact", "ulp", "sum", "scaled"]


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    kind: Kind
    factor: float = 0.0

    @staticmethod
    def parse(text: str) -> Rule:
        """Reads "exact" or "sum 9"."""
        kind, _, factor = text.strip().partition(" ")
        if kind not in ("exact", "ulp", "sum", "scaled"):
            raise InvalidArgumentError(f"unknown tolerance {text!r}")
        return Rule(kind, float(factor or 0))  # type: ignore[arg-type]  # checked on the line above

    def __str__(self) -> str:
        return self.kind if self.kind == "exact" else f"{self.kind} {self.factor:g}"


EXACT = Rule("exact")


def wide(element_type: ElementType) -> ElementType:
    """Returns the type in which the expected result is computed."""
    if element_type.is_complex:
        return ElementType.C128
    return ElementType.F64 if element_type.is_floating else element_type


def epsilon(element_type: ElementType) -> float:
    """Returns the spacing above 1 of a floating-point type (or of a complex type's parts), and 0 for other types."""
    part = element_type.component
    return 2.0**-part.mantissa_bits if part.is_floating else 0.0
