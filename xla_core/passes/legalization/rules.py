"""The table of decompositions, which the modules of this package fill.

A decomposition is a `Rule`: (instruction, builder) -> replacement, or None if it doesn't apply. The instructions that
it adds may be decomposed in turn, down to the ops that the op table marks PRIMITIVE.
"""

from __future__ import annotations

from collections.abc import Callable

from xla_core.hlo.opcode import Opcode
from xla_core.passes.rewriter import Rule

DECOMPOSITIONS: dict[Opcode, list[Rule]] = {}
"""The decompositions of an op, in the order in which legalization tries them."""


def decomposition(*opcodes: Opcode) -> Callable[[Rule], Rule]:
    """Adds a rule to the table, to be tried after those that are there already."""

    def register(rule: Rule) -> Rule:
        for opcode in opcodes:
            DECOMPOSITIONS.setdefault(opcode, []).append(rule)
        return rule

    return register
