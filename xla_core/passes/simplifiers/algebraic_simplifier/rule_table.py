"""The tables of rules, keyed by opcode. The files of rules, one for each family of ops, fill them."""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.opcode import Opcode
from xla_core.passes.rewriter import Rule

RULES: dict[Opcode | None, list[Rule]] = {}
"""Rules that are exact for every value of the types that they match, including infinities, NaN and signed zeros."""

FAST_RULES: dict[Opcode | None, list[Rule]] = {}
"""Rules that hold for real numbers only: they may change rounding, NaN, infinities, overflow or the sign of zero."""


def rule(*opcodes: Opcode | None, fast: bool = False) -> Callable[[Rule], Rule]:
    """Registers a rule for opcodes; None stands for every opcode. `fast` rules apply only if `fast_math` is set."""

    def put(function: Rule) -> Rule:
        for opcode in opcodes:
            (FAST_RULES if fast else RULES).setdefault(opcode, []).append(function)
        return function

    return put
