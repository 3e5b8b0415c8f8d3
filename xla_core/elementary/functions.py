"""FUNCTIONS: the formulas of real functions, by HLO opcode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xla_core.elementary.arithmetic import Arithmetic, V

__all__ = ["FUNCTIONS", "function", "in_f64"]

Function = Callable[..., Any]
"""(arithmetic, operands, all f32 or all f64) -> value of that kind."""

FUNCTIONS: dict[str, Function] = {}

_F = TypeVar("_F", bound=Function)


def function(opcode: str) -> Callable[[_F], _F]:
    """Registers the formula of an opcode."""

    def register(formula: _F) -> _F:
        FUNCTIONS[opcode] = formula
        return formula

    return register


def in_f64(m: Arithmetic[V], opcode: str, *operands: V) -> V:
    """Computes a function of f32 operands by the formula for f64, and rounds the result."""
    result: V = FUNCTIONS[opcode](m, *map(m.widen, operands))
    return m.narrow(result)
