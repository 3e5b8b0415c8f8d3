"""Decompositions by opcode: how an op that a target lacks is written in simpler ones.

A decomposition is a `Rule`: (instruction, builder) -> what stands for it, or None where it doesn't apply. What it makes
may need decomposition in turn; the last step are the ops that the op table marks PRIMITIVE.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.opcode import Opcode
from xla_core.passes.rewriter import Rule

__all__ = ["DECOMPOSITIONS", "decomposition", "register_decomposition"]

DECOMPOSITIONS: dict[Opcode, list[Rule]] = {}


def register_decomposition(opcode: Opcode, rule: Rule, *, first: bool = False) -> None:
    """Adds a decomposition, tried after (or before) those that are there."""
    rules = DECOMPOSITIONS.setdefault(opcode, [])
    rules.insert(0 if first else len(rules), rule)


def decomposition(*opcodes: Opcode) -> Callable[[Rule], Rule]:
    """`register_decomposition` as a decorator."""

    def register(rule: Rule) -> Rule:
        for opcode in opcodes:
            register_decomposition(opcode, rule)
        return rule

    return register
