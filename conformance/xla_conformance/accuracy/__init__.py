"""Measures the errors of results: `xla accuracy`.

A check is one function in one element type. It runs the function on seeded points on a `Subject` (the reference
evaluator or a backend), and finds the largest error against an oracle that shares no code with either. `bounds.toml`
has the largest error that each check allows; the tests and the documentation read it too.

Groups of checks are modules with a function `checks()`, in the packages `real_functions`, `complex_functions`, `sums`
and `linear_algebra` and in `fourier`; `suite.GROUPS` lists them.
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
"""Loaded when first used, because `xla --help` imports this package."""

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
