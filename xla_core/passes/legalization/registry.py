"""The registry of decompositions, which rewrite an op in terms of simpler ops.

A decomposition is a `Rule`: (instruction, builder) -> replacement, or None if it doesn't apply. The instructions that
it adds may be decomposed in turn, down to the ops that the op table marks PRIMITIVE.
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
    """The decompositions of an op, in the order in which legalization tries them."""
    _load_core()
    return tuple(_rules.get(opcode, ()))


def _load_core() -> None:
    """Imports the modules that register the core's decompositions, which most programs don't need."""
    global _loading
    with _lock:
        if not _loading:
            _loading = True  # the modules call `register_decomposition`, which calls this function again
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
    """Registers a decomposition, to be tried after the existing ones, or before them if `first`."""
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
