"""How exact a backend's results are: `xla accuracy`.

A check is one function in one element type. It runs the function on seeded points through a `Subject` (the reference
evaluator, or a backend), and finds the largest error against an oracle that shares no code with either. What each may
be is in one table, `bounds.toml`, which the tests and the documentation read too.

A group of checks is a module here that offers `checks()`; `suite.GROUPS` lists them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_conformance.accuracy.bounds import COLUMNS as COLUMNS
    from xla_conformance.accuracy.bounds import bound as bound
    from xla_conformance.accuracy.frame import Check as Check
    from xla_conformance.accuracy.frame import Measured as Measured
    from xla_conformance.accuracy.frame import Row as Row
    from xla_conformance.accuracy.frame import Worst as Worst
    from xla_conformance.accuracy.suite import all_checks as all_checks
    from xla_conformance.accuracy.suite import measure as measure
    from xla_conformance.subjects import BackendSubject as BackendSubject
    from xla_conformance.subjects import EvaluatorSubject as EvaluatorSubject
    from xla_conformance.subjects import Subject as Subject

_MODULES = {
    f"{__name__}.bounds": ("COLUMNS", "bound"),
    f"{__name__}.frame": ("Check", "Measured", "Row", "Worst"),
    f"{__name__}.suite": ("all_checks", "measure"),
    "xla_conformance.subjects": ("BackendSubject", "EvaluatorSubject", "Subject"),
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names}
"""`xla --help` loads this package for its command: what measures loads when it is first used."""

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


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value
