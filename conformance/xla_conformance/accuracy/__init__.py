"""How exact a backend's results are: `xla accuracy`.

A check is one function in one element type. It runs the function on seeded points through a `Subject` (the reference
evaluator, or a backend), and finds the largest error against an oracle that shares no code with either. What each may
be is in one table, `bounds.toml`, which the tests and the documentation read too.

A group of checks is a module here that offers `checks()`; `suite.GROUPS` lists them.
"""

from __future__ import annotations

from xla_conformance.accuracy.bounds import COLUMNS, bound
from xla_conformance.accuracy.frame import Check, Measured, Row, Worst
from xla_conformance.accuracy.subjects import BackendSubject, EvaluatorSubject, Subject
from xla_conformance.accuracy.suite import all_checks, measure

__all__ = [
    "COLUMNS",
    "BackendSubject",
    "Check",
    "EvaluatorSubject",
    "Measured",
    "Row",
    "Subject",
    "Worst",
    "all_checks",
    "bound",
    "measure",
]
