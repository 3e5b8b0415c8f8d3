"""Finds the file and line of an error in an op that has only a name as its location.

JAX gives the ops of a function that it calls more than once only names; only the calls have a file and line.
"""

from __future__ import annotations

import dataclasses

from xla_core.errors import SourceLocation, XlaError
from xla_core.stablehlo import ir


def locate(error: XlaError, module: ir.Module) -> None:
    """Replaces an error's location that is only a name with the place of the function's call, and keeps the name."""
    location = error.location
    if location is None or location.file or location.line:
        return
    for name, function in module.functions.items():
        if any(op.location == location for op in function.walk()):
            place = _call_site(module, name)
            error.location = location if place is None else dataclasses.replace(place, name=location.name)
            return


def _call_site(module: ir.Module, name: str) -> SourceLocation | None:
    """Returns the place of a call of the function. If the call has none, returns the place of its function's call."""
    callers: dict[str, tuple[str, ir.Op]] = {}
    for caller, function in module.functions.items():
        for op in function.walk():
            callee = op.attributes.get("callee", op.attributes.get("decomposition"))
            if callee is not None:
                callers.setdefault(str(callee), (caller, op))
    seen: set[str] = set()
    while name in callers and name not in seen:
        seen.add(name)
        name, op = callers[name]
        if op.location is not None and op.location.file:
            return op.location
    return None
