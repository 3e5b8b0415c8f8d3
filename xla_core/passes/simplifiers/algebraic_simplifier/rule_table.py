"""The table of rules, keyed by opcode; a file of rules an op family fills it."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.opcode import Opcode
from xla_core.passes.rewriter import Rule

__all__ = ["FAST_RULES", "RULES", "rule"]

RULES: dict[Opcode | None, list[Rule]] = {}
"""Hold for every value of every type that they match: infinities, NaN and the sign of zero too."""

FAST_RULES: dict[Opcode | None, list[Rule]] = {}
"""Hold for real numbers: they change rounding, or what happens to NaN, infinities, overflow or the sign of zero."""


def rule(*opcodes: Opcode | None, fast: bool = False) -> Callable[[Rule], Rule]:
    """Puts a function into the table; None is every opcode. `fast` ones are used only where the options allow it."""

    def put(function: Rule) -> Rule:
        for opcode in opcodes:
            (FAST_RULES if fast else RULES).setdefault(opcode, []).append(function)
        return function

    return put
