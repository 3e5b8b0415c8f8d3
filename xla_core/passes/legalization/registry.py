"""Decompositions by opcode: how an op that a target lacks is written in simpler ones.

A decomposition is a `Rule`: (instruction, builder) -> what stands for it, or None where it doesn't apply. What it makes
may need decomposition in turn; the last step are the ops that the op table marks PRIMITIVE.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from xla_core.hlo.opcode import Opcode
from xla_core.passes.rewriter import Rule

__all__ = ["decomposition", "decompositions_of", "register_decomposition"]

_rules: dict[Opcode, list[Rule]] = {}
_lock = threading.RLock()
_loading = False


def decompositions_of(opcode: Opcode) -> tuple[Rule, ...]:
    """The decompositions of an op, in the order in which they are tried."""
    _load_core()
    return tuple(_rules.get(opcode, ()))


def _load_core() -> None:
    """Imports the modules that register the core's decompositions: most programs need none of them."""
    global _loading
    with _lock:
        if not _loading:
            _loading = True  # these modules register what they define, and so come here again
            from xla_core.passes.legalization import (  # noqa: F401
                complex_numbers,
                convolution,
                elementary,
                elementwise,
                fourier,
                integer_power,
                remainder,
                rounding,
                sorting,
                structured,
            )


def register_decomposition(opcode: Opcode, rule: Rule, *, first: bool = False) -> None:
    """Adds a decomposition, tried after (or before) those that are there."""
    _load_core()
    rules = _rules.setdefault(opcode, [])
    rules.insert(0 if first else len(rules), rule)


def decomposition(*opcodes: Opcode) -> Callable[[Rule], Rule]:
    """`register_decomposition` as a decorator."""

    def register(rule: Rule) -> Rule:
        for opcode in opcodes:
            register_decomposition(opcode, rule)
        return rule

    return register
