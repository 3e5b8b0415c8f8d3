"""Lists, selects and runs checks."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Iterator
from functools import partial

from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.frame import Check, Row
from xla_conformance.expressions import compile_expression
from xla_conformance.subjects import Subject
from xla_core.errors import InvalidArgumentError, NotFoundError, UnimplementedError, XlaError

GROUPS = (
    "real_functions.cases",
    "real_functions.conversions",
    "complex_functions.cases",
    "sums.cases",
    "fourier",
    "linear_algebra.cases",
)
"""Modules of this package with a function `checks()`, in the order of the report."""


def require_oracles() -> None:
    """Raises NotFoundError if a library that the oracles need is not installed."""
    for name, distribution in (("flint", "python-flint"), ("scipy", "scipy")):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise NotFoundError(
                f"xla accuracy needs {distribution}, which is not installed",
                hint='pip install python-flint scipy; in a clone: pip install "./conformance[accuracy]"',
            ) from error


def all_checks() -> list[Check]:
    """Every check of every group."""
    return [
        check for group in GROUPS for check in importlib.import_module(f"xla_conformance.accuracy.{group}").checks()
    ]


def select(checks: Iterable[Check], expression: str) -> list[Check]:
    """The checks whose names ("real tanh f32") match the expression: `tanh and f32`, `sine or cosine`, `not f64`.

    Raises:
        InvalidArgumentError: the expression is not valid.
    """
    if not expression.strip():
        return list(checks)
    compiled = compile_expression(expression)
    return [c for c in checks if compiled.evaluate(partial(_has, c))]


def _has(check: Check, word: str, /, **values: object) -> bool:
    if values:
        raise InvalidArgumentError(f"-k: {word!r} takes no values in parentheses")
    return word in (check.group, check.function, check.element_type) or word in check.function


def measure(subject: Subject, checks: Iterable[Check], points: int, column: str | None = None) -> Iterator[Row]:
    """Runs checks one after the other. A row has the error that its check raised.

    Args:
        points: how many points a check of f32 takes. Other types take a share of it, or all their values.
        column: the bounds to use; by default the subject's.
    """
    for check in checks:
        start = time.monotonic()
        limit = bound(check.group, check.function, check.element_type, column or subject.column)
        about = (subject.name, check.group, check.function, check.element_type, check.unit, limit)
        try:
            found = check.measure(subject, points)
            yield Row(*about, found, time.monotonic() - start)
        except UnimplementedError as error:
            yield Row(*about, None, time.monotonic() - start, error.message, supported=False)
        except XlaError as error:
            yield Row(*about, None, time.monotonic() - start, error.message)
