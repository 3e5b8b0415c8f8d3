"""FUNCTIONS: the formulas of real functions, by HLO opcode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xla_core.elementary.arithmetic import Arithmetic, V

Function = Callable[..., Any]
"""(arithmetic, operands, all f32 or all f64) -> value of that kind."""

FUNCTIONS: dict[str, Function] = {}

_F = TypeVar("_F", bound=Function)


def function(opcode: str, *, in_f64: bool = False) -> Callable[[_F], _F]:
    """Registers the formula of an opcode. With `in_f64`, it computes f32 operands in f64 where that may be done."""

    def register(formula: _F) -> _F:
        def widened(m: Arithmetic[V], *operands: V) -> V:
            if not m.prefers_f64(operands[0]):
                result: V = formula(m, *operands)
                return result
            wide: V = formula(m, *map(m.widen, operands))
            return m.narrow(wide)

        FUNCTIONS[opcode] = widened if in_f64 else formula
        return formula

    return register
