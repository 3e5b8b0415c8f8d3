"""All checks, and running them."""

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

__all__ = ["GROUPS", "all_checks", "measure", "require_oracles", "select"]

GROUPS = (
    "real_functions.cases",
    "real_functions.conversions",
    "complex_functions.cases",
    "sums.cases",
    "fourier",
    "linear_algebra.cases",
)
"""Modules of this package, each with `checks()`, in the report's order."""


def require_oracles() -> None:
    """Raises NotFoundError where the libraries that the oracles need are missing."""
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
    """Those whose name ("real tanh f32") has the expression's words: `tanh and f32`, `sine or cosine`, `not f64`.

    Raises:
        InvalidArgumentError: for anything else than words joined by and, or, not and parentheses.
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
    """Runs checks one by one. An error of a check is in its row.

    Args:
        points: how many points a check of f32 takes; others scale with it, or take all values there are.
        column: whose bounds they are held to; default: the subject's.
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
