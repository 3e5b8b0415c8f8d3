"""Check, and what one finds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_conformance.subjects import Subject

__all__ = ["Check", "Measured", "Row", "Worst", "error_of"]


def error_of(residual: float) -> float:
    """What counts as the error: where a result is NaN there is no smaller one than infinity."""
    return math.inf if math.isnan(residual) else residual


@dataclasses.dataclass(frozen=True)
class Worst:
    """One result that is off: the arguments, what came, and what should have come, as text."""

    arguments: str
    got: str
    expected: str

    def __str__(self) -> str:
        return f"{self.arguments}: {self.got}, should be {self.expected}"


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a check found.

    Attributes:
        points: how many results were compared.
        error: the largest error, in the check's unit.
        worst: where it is; None where every result is exact.
        wrong: how many results are of another kind than they must be: a number for a NaN, an infinity for a number,
            a zero of the other sign. The error doesn't count them.
        first_wrong: one of those.
        rounded: the share of results that are the correctly rounded ones; NaN where that isn't asked.
    """

    points: int
    error: float
    worst: Worst | None = None
    wrong: int = 0
    first_wrong: Worst | None = None
    rounded: float = math.nan


@dataclasses.dataclass(frozen=True)
class Check:
    """One function in one element type.

    Attributes:
        group: the section of the report, and of `bounds.toml`.
        function: the row's name: an op's mnemonic, or the name of a case.
        element_type: the column's name, as HLO writes it: "f32".
        unit: of the error: "ULP", "eps sum|a||b|", "n eps".
        measure: (subject, points wanted) -> what it found. A check may take fewer points, or all there are.
    """

    group: str
    function: str
    element_type: str
    unit: str
    measure: Callable[[Subject, int], Measured]

    @property
    def name(self) -> str:
        return f"{self.group} {self.function} {self.element_type}"


@dataclasses.dataclass(frozen=True)
class Row:
    """A check's result of one subject. `problem` says why there is none, where there is none."""

    subject: str
    group: str
    function: str
    element_type: str
    unit: str
    bound: float | None
    measured: Measured | None
    seconds: float = 0.0
    problem: str = ""
    supported: bool = True

    @property
    def holds(self) -> bool:
        """Within its bound, special values right; so is what the backend doesn't claim. Without a bound none holds."""
        if self.measured is None:
            return not self.supported
        return self.measured.wrong == 0 and self.bound is not None and self.measured.error <= self.bound
