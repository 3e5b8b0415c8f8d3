"""The classes of checks and their results."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_conformance.subjects import Subject


def error_of(residual: float) -> float:
    """Returns the residual, or infinity for NaN."""
    return math.inf if math.isnan(residual) else residual


@dataclasses.dataclass(frozen=True)
class Worst:
    """A wrong result as text: its arguments, the result, and the expected result."""

    arguments: str
    got: str
    expected: str

    def __str__(self) -> str:
        return f"{self.arguments}: {self.got}, should be {self.expected}"


@dataclasses.dataclass(frozen=True)
class Measured:
    """The result of a check.

    Attributes:
        points: how many results were compared.
        error: the largest error, in the check's unit.
        worst: where it is, or None if every result is exact.
        wrong: how many results are of the wrong kind, such as a number in place of NaN, an infinity in place of a
            number, or a zero of the wrong sign. The error doesn't include them.
        first_wrong: one of those.
        rounded: the share of correctly rounded results, or NaN if that isn't measured.
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
        function: the row's name: an op's mnemonic or the name of a case.
        element_type: the column's name, as in HLO text: "f32".
        unit: of the error: "ULP", "eps sum|a||b|", "n eps".
        measure: (subject, points) -> result. A check may take fewer points, or all values of the type.
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
    """The result of a check on one subject. If there is none, `problem` says why."""

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
        """Whether the error is within its bound and no special value is wrong, or the backend doesn't claim it."""
        if self.measured is None:
            return not self.supported
        return self.measured.wrong == 0 and self.bound is not None and self.measured.error <= self.bound
