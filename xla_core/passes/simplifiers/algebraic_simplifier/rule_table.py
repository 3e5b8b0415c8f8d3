"""The tables of rules, keyed by opcode. The files of rules, one for each family of ops, fill them."""

from __future__ import annotations

import functools
from collections.abc import Callable

from xla_core.hlo.ir.builder import Builder
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.table.opcode import Opcode
from xla_core.passes.rewriter import Rule

PairRule = Callable[[HloInstruction, HloInstruction, Builder], HloInstruction | None]
"""(instruction, its first operand, builder) -> its replacement, or None."""

RULES: dict[Opcode, list[Rule]] = {}
"""Rules that are exact for every value of the types that they match, including infinities, NaN and signed zeros."""

FAST_RULES: dict[Opcode, list[Rule]] = {}
"""Rules that hold for real numbers only: they may change rounding, NaN, infinities, overflow or the sign of zero."""


def rule(*opcodes: Opcode, fast: bool = False) -> Callable[[Rule], Rule]:
    """Registers a rule for opcodes. `fast` rules apply only if `fast_math` is set."""

    def put(function: Rule) -> Rule:
        for opcode in opcodes:
            (FAST_RULES if fast else RULES).setdefault(opcode, []).append(function)
        return function

    return put


def pair_rule(opcode: Opcode, operand: Opcode) -> Callable[[PairRule], PairRule]:
    """Registers a rule for an op whose first operand is of the opcode `operand`."""

    def put(function: PairRule) -> PairRule:
        @functools.wraps(function)
        def apply(i: HloInstruction, b: Builder) -> HloInstruction | None:
            x = i.operands[0]
            return function(i, x, b) if x.opcode == operand else None

        RULES.setdefault(opcode, []).append(apply)
        return function

    return put
